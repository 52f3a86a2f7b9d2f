// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>
#include <cmath>
#include <limits>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "diffsim/core/error.hpp"
#include "diffsim/core/runtime.hpp"
#include "diffsim/inverse/problem.hpp"
#include "inverse/parametrisation.hpp"

namespace diffsim {
namespace {

void check_penalty(const Unknown& unknown, double penalty) {
  if (!(penalty >= 1.0 && std::isfinite(penalty)))
    throw Error(
        "the penalty of '" + unknown.name() + "' is " + std::to_string(penalty) + "; give a number of at least 1",
        ErrorKind::input);
}

void check(const Unknown& unknown, const Field& field, std::size_t values) {
  const MaterialDistribution& of = *unknown.distribution;
  const std::string name = "the distribution of '" + unknown.name() + "'";
  if (unknown.shared() || unknown.logarithmic || !unknown.carries.empty())
    throw Error(name + " needs one unknown per cell, without groups, map and logarithm", ErrorKind::input);
  if (field.on().name() != "cells" || field.components() != 1 || field.steps() > 1)
    throw Error(name + " needs a parameter with one number per tetrahedron", ErrorKind::input);
  check_penalty(unknown, of.penalty);
  if (!(of.minimum > 0.0 && of.minimum < 1.0))
    throw Error(name + " has the minimum " + std::to_string(of.minimum) + "; give a number between 0 and 1",
                ErrorKind::input);
  if (of.filter && of.filter->size() != values) throw Error(name + " has a filter of another mesh", ErrorKind::input);
  if (!of.prescribed.empty() && of.prescribed.size() != values)
    throw Error(name + " needs " + std::to_string(values) + " prescribed densities on this rank, not " +
                    std::to_string(of.prescribed.size()),
                ErrorKind::input);
  for (const double density : of.prescribed)
    if (density < 0.0 || density > 1.0)
      throw Error(
          name + " has the prescribed density " + std::to_string(density) + "; give numbers from 0 to 1, or NaN",
          ErrorKind::input);
}

void check_filter(const Unknown& unknown, const Field& field, std::size_t values) {
  const std::string name = "the filter of '" + unknown.name() + "'";
  if (unknown.shared() || unknown.logarithmic || unknown.distribution)
    throw Error(name + " needs one unknown per vertex, without groups, map, distribution and logarithm",
                ErrorKind::input);
  if (field.on().name() != "vertices" || field.components() != 3 || field.steps() > 1)
    throw Error(name + " needs a parameter with one vector per vertex", ErrorKind::input);
  if (unknown.shape_filter->size() != values) throw Error(name + " is that of another mesh", ErrorKind::input);
}

/// Checks a further parameter of a distribution. `field`: field of the parameter.
void check_further(const Unknown& unknown, const DistributedParameter& further, const Field& field,
                   std::size_t values) {
  const std::string name = "the parameter '" + further.parameter + "' in the distribution of '" + unknown.name() + "'";
  const std::vector<std::string> names = unknown.parameters();
  if (std::count(names.begin(), names.end(), further.parameter) > 1)
    throw Error(name + " is given twice; remove one", ErrorKind::input);
  if (field.on().name() != "cells" || field.components() != 1 || field.steps() > 1 || field.size() != values)
    throw Error(name + " does not have one number per tetrahedron; give another parameter", ErrorKind::input);
  check_penalty(unknown, further.penalty);
  if (!(further.minimum > 0.0 && further.minimum < 1.0))
    throw Error(name + " has the minimum " + std::to_string(further.minimum) + "; give a number between 0 and 1",
                ErrorKind::input);
}

/// Throws Error (input) if an unknown other than `unknowns[k]` depends on the parameter, which the distribution of
/// `unknowns[k]` contains.
void require_no_other_unknown(const std::vector<Unknown>& unknowns, std::size_t k, const std::string& parameter) {
  for (std::size_t other = 0; other < unknowns.size(); ++other) {
    const std::vector<std::string> names = unknowns[other].parameters();
    if (other != k && std::find(names.begin(), names.end(), parameter) != names.end())
      throw Error("the parameter '" + parameter + "' in the distribution of '" + unknowns[k].name() +
                      "' is also a parameter of the unknown '" + unknowns[other].name() + "'; remove one",
                  ErrorKind::input);
  }
}

}  // namespace

std::vector<std::string> Unknown::parameters() const {
  std::vector<std::string> names{parameter};
  if (distribution)
    for (const DistributedParameter& further : distribution->also) names.push_back(further.parameter);
  return names;
}

void InverseProblem::set_shape_filter(std::size_t k) {
  const Unknown& unknown = unknowns_[k];
  Block& block = blocks_[k];
  collectively(comm(), [&] { check_filter(unknown, field(k), block.count); });
  block.entries = make_shape_map(unknown.shape_filter, field(k).to_host());
}

void InverseProblem::set_distribution(std::size_t k) {
  Unknown& unknown = unknowns_[k];
  Block& block = blocks_[k];
  collectively(comm(), [&] { check(unknown, field(k), block.count); });
  unknown.lower = std::max(unknown.lower, 0.0);
  unknown.upper = std::min(unknown.upper, 1.0);
  block.property = field(k).to_host();
  block.property.resize(block.count);
  for (const DistributedParameter& further : unknown.distribution->also) {
    const Field& of = model_.parameters().at(further.parameter).field;
    collectively(comm(), [&] {
      check_further(unknown, further, of, block.count);
      require_no_other_unknown(unknowns_, k, further.parameter);
    });
    const std::vector<double> values = of.to_host();
    block.property.insert(block.property.end(), values.begin(), values.end());
  }
  set_penalty(k, unknown.distribution->penalty);
}

void InverseProblem::set_penalty(std::size_t k, double penalty) {
  Unknown& unknown = unknowns_.at(k);
  if (!unknown.distribution) throw Error("'" + unknown.name() + "' has no distribution", ErrorKind::input);
  check_penalty(unknown, penalty);
  unknown.distribution->penalty = penalty;
  const MaterialDistribution& of = *unknown.distribution;
  Block& block = blocks_[k];
  std::vector<std::unique_ptr<EntryMap>> maps;
  const auto add_map = [&](double least, double exponent) {
    std::unique_ptr<EntryMap> densities = of.filter ? make_filter_map(of.filter) : make_entries(block.count);
    if (!of.prescribed.empty()) densities = make_prescribed_map(std::move(densities), of.prescribed);
    const auto begin = block.property.begin() + static_cast<std::ptrdiff_t>(maps.size() * block.count);
    maps.push_back(make_power_law(std::move(densities), {begin, begin + static_cast<std::ptrdiff_t>(block.count)},
                                  least, exponent));
  };
  add_map(of.minimum, penalty);
  for (const DistributedParameter& further : of.also) add_map(further.minimum, further.penalty);
  block.entries = of.also.empty() ? std::move(maps.front()) : make_stacked_maps(std::move(maps), block.count);
  for (InverseProblem* experiment : experiments_) experiment->set_penalty(k, penalty);
}

void InverseProblem::set_prescribed(std::vector<double>& u) const {
  for (std::size_t k = 0; k < unknowns_.size(); ++k) {
    if (!unknowns_[k].distribution) continue;
    const std::vector<double>& prescribed = unknowns_[k].distribution->prescribed;
    for (std::size_t i = 0; i < prescribed.size(); ++i)
      if (!std::isnan(prescribed[i])) u[blocks_[k].offset + i] = prescribed[i];
  }
}

std::vector<double> prescribed_densities(const TetrahedralMesh& mesh, const std::vector<std::string>& solid,
                                         const std::vector<std::string>& voids) {
  std::vector<double> densities(static_cast<std::size_t>(mesh.num_cells()), std::numeric_limits<double>::quiet_NaN());
  for (const auto& [regions, density] : {std::pair(&solid, 1.0), std::pair(&voids, 0.0)})
    for (const std::string& name : *regions) {
      const Region& region = mesh.region(name);
      if (region.num_cells == 0)
        throw Error("region '" + name + "' has no tetrahedra; name a region that contains whole tetrahedra",
                    ErrorKind::input);
      collectively(mesh.comm(), [&, value = density] {
        for (const int cell : region.cells) {
          double& of_cell = densities[static_cast<std::size_t>(cell)];
          if (!std::isnan(of_cell) && of_cell != value)
            throw Error("region '" + name + "' of void has a common tetrahedron with a region of solid material; " +
                            "name disjoint regions",
                        ErrorKind::input);
          of_cell = value;
        }
      });
    }
  return densities;
}

}  // namespace diffsim
