// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
#include "spring/spring_model.hpp"

#include <cmath>

#include "diffsim/core/stencil_term_impl.hpp"
#include "diffsim/mesh/tetrahedral_mesh.hpp"
#include "spring/parameters.hpp"
#include "spring/point_mass.hpp"
#include "spring/spring_force.hpp"

namespace diffsim {
namespace {

using Springs = SpringParameters;

std::vector<double> segment_lengths(const TetrahedralMesh& mesh) {
  const std::vector<int>& ends = mesh.lower_cells(CellKind::segment).vertices;
  const std::vector<double>& x = mesh.rest_positions();
  std::vector<double> lengths;
  for (std::size_t s = 0; s < ends.size(); s += 2) {
    const double* const a = &x[3 * static_cast<std::size_t>(ends[s])];
    const double* const b = &x[3 * static_cast<std::size_t>(ends[s + 1])];
    lengths.push_back(std::hypot(b[0] - a[0], b[1] - a[1], b[2] - a[2]));
  }
  return lengths;
}

template <class F>
std::unique_ptr<ForceTerm> make_term(const std::string& name, const TetrahedralMesh& mesh,
                                     const std::vector<int>& segments, const std::vector<ParameterSpec>& specs) {
  const LowerCellSet& all = mesh.lower_cells(CellKind::segment);
  std::vector<PointParameter> parameters;
  for (const ParameterSpec& spec : specs) parameters.push_back(PointParameter::of(spec));
  std::vector<int> vertices;
  for (const int segment : segments)
    for (std::size_t end = 0; end < 2; ++end)
      vertices.push_back(all.vertices[2 * static_cast<std::size_t>(segment) + end]);
  return std::make_unique<StencilTerm<F>>(name, F(), std::move(parameters), std::move(vertices), segments,
                                          static_cast<int>(all.entities->local()));
}

std::vector<std::unique_ptr<ForceTerm>> make_terms(const TetrahedralMesh& mesh, const ModelCells& cells) {
  std::vector<std::unique_ptr<ForceTerm>> terms;
  terms.push_back(make_term<SpringForce>(
      "springs", mesh, cells.all,
      {Springs::stiffness, Springs::quadratic, Springs::cubic, Springs::rest_length, Springs::softening}));
  if (cells.given(Springs::damping.name))
    terms.push_back(make_term<DamperForce>("dampers", mesh, cells.all, {Springs::damping, Springs::softening}));
  return terms;
}

}  // namespace

const CellModel& spring_model() {
  static const CellModel model{"springs",
                               CellKind::segment,
                               3.0,
                               {Springs::stiffness, Springs::quadratic, Springs::cubic, Springs::damping,
                                Springs::rest_length, Springs::softening, Springs::point_mass},
                               {{std::string(Springs::rest_length.name), segment_lengths}},
                               make_terms,
                               [](const TetrahedralMesh&) { return std::make_unique<PointMass>(); }};
  return model;
}

}  // namespace diffsim
