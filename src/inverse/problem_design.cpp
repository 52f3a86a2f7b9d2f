// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>
#include <cmath>
#include <string>
#include <utility>

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

}  // namespace

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
  set_penalty(k, unknown.distribution->penalty);
}

void InverseProblem::set_penalty(std::size_t k, double penalty) {
  Unknown& unknown = unknowns_.at(k);
  if (!unknown.distribution) throw Error("'" + unknown.name() + "' has no distribution", ErrorKind::input);
  check_penalty(unknown, penalty);
  unknown.distribution->penalty = penalty;
  const MaterialDistribution& of = *unknown.distribution;
  Block& block = blocks_[k];
  block.entries = make_power_law(of.filter ? make_filter_map(of.filter) : make_entries(block.count), block.property,
                                 of.minimum, penalty);
  for (InverseProblem* experiment : experiments_) experiment->set_penalty(k, penalty);
}

}  // namespace diffsim
