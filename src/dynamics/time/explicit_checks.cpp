// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
//
// Checks of explicit steps: stability, inverted cells, motion through obstacles.

#include <algorithm>
#include <cmath>
#include <limits>

#include "core/exchange.hpp"
#include "core/file_order.hpp"
#include "diffsim/core/error.hpp"
#include "diffsim/core/impl/device.hpp"
#include "diffsim/core/runtime.hpp"
#include "dynamics/time/explicit_parts.hpp"
#include "mesh/bodies.hpp"

namespace diffsim {

using namespace dynamics;

void ExplicitModel::require_free(const Configuration& from, const Configuration& to, int s) {
  double step = 1.0;
  std::string what;
  for (const auto& term : system_->terms()) {
    const double limit = term->limits_steps() ? term->max_step(from, to, parameters()) : 1.0;
    if (limit >= step) continue;
    step = limit;
    what = term->limiting();
  }
  double least = step;
  DIFFSIM_MPI(MPI_Allreduce(MPI_IN_PLACE, &least, 1, MPI_DOUBLE, MPI_MIN, comm()));
  if (least >= 1.0) return;
  require_valid(from.step);  // instability is reported in preference to contact
  const double stable = stable_substep();
  const bool is_unstable = h() > stable;
  collectively(comm(), [&] {
    if (step > least) return;
    if (from.step == 0 && s == 0 && step == 0.0)
      throw Error("the body touches or intersects at the start: " + what + "; move them apart", ErrorKind::input);
    char text[100];
    std::snprintf(text, sizeof(text), "step %d, substep %d: ", from.step, s);
    std::string message = text;
    if (is_unstable) message += exceeds(stable) + "; ";
    std::snprintf(text, sizeof(text), "a contact would be passed through at fraction %.3g of the substep of %.3g s (",
                  step, h());
    message += text + what + "); use ";
    throw Error(message + (is_unstable ? stable_choice(stable)
                                       : "a smaller dt or more substeps, or a larger barrier_stiffness or "
                                         "barrier_distance"));
  });
}

void ExplicitModel::require_on_grid(int n) {
  const auto host = host_view(work_->far_vertex);
  constexpr std::int64_t none = std::numeric_limits<std::int64_t>::max();
  std::int64_t first = host(0) == nothing_invalid
                           ? none
                           : system_->mesh().vertex_order().file_index()[static_cast<std::size_t>(host(0))];
  DIFFSIM_MPI(MPI_Allreduce(MPI_IN_PLACE, &first, 1, MPI_INT64_T, MPI_MIN, comm()));
  if (first == none) return;
  Kokkos::deep_copy(work_->far_vertex, nothing_invalid);
  const double most = ReversibleGrid::most;
  char text[300];
  std::snprintf(text, sizeof(text),
                "step %d: vertex %s is outside the range of reversible steps, %.3g m and %.3g m/s; use another "
                "checkpoint schedule",
                n, vertex_name(system_->mesh().bodies(), first).c_str(), most * work_->grid.position,
                most * work_->grid.velocity);
  throw Error(text, ErrorKind::run);
}

void ExplicitModel::require_valid(int n) {
  // Finds the first substep with an error. In this substep, reports the invalid cell with the lowest index in the file
  // or, if no cell is invalid, the invalid vertex with the lowest index in the file.
  constexpr std::int64_t none = std::numeric_limits<std::int64_t>::max();
  constexpr std::int64_t stride = std::int64_t{1} << 40, vertex_location = stride / 2;
  const TetrahedralMesh& mesh = system_->mesh();
  const auto cells = host_view(work_->invalid_cell);
  const auto vertices = host_view(work_->invalid_vertex);
  std::int64_t fault = none;
  for (int s = 0; s <= substeps_ && fault == none; ++s) {
    std::int32_t cell = cells(s);
    if (cell == nothing_invalid && vertices(s) != nothing_invalid) {
      // An invalid vertex is reported as a tetrahedron with this vertex. If there is no such tetrahedron, the vertex
      // itself is reported.
      const auto found = std::find(mesh.cells().begin(), mesh.cells().end(), vertices(s));
      if (found == mesh.cells().end()) {
        fault = stride * s + vertex_location + mesh.vertex_order().file_index()[static_cast<std::size_t>(vertices(s))];
        continue;
      }
      cell = static_cast<std::int32_t>((found - mesh.cells().begin()) / mesh.nodes_per_cell());
    }
    if (cell != nothing_invalid)
      fault =
          stride * s + mesh.cell_order().file_index()[static_cast<std::size_t>(std::min(cell, mesh.num_cells() - 1))];
  }
  std::int64_t first = fault;
  DIFFSIM_MPI(MPI_Allreduce(MPI_IN_PLACE, &first, 1, MPI_INT64_T, MPI_MIN, mesh.comm()));
  if (first == none) return;
  Kokkos::deep_copy(work_->invalid_cell, nothing_invalid);
  Kokkos::deep_copy(work_->invalid_vertex, nothing_invalid);
  const int rank = rank_of(mesh.comm());
  int where = fault == first ? rank : std::numeric_limits<int>::max();
  DIFFSIM_MPI(MPI_Allreduce(MPI_IN_PLACE, &where, 1, MPI_INT, MPI_MIN, mesh.comm()));
  const std::int64_t number = first % stride;
  const std::string what = number < vertex_location ? "cell " + cell_name(mesh.bodies(), number) + " (rank " +
                                                          std::to_string(where) + ") is inverted or not finite"
                                                    : "vertex " + vertex_name(mesh.bodies(), number - vertex_location) +
                                                          " (rank " + std::to_string(where) + ") is not finite";
  const double stable = stable_substep();
  char text[300];
  std::snprintf(text, sizeof(text), "step %d, substep %lld: %s; ", n, static_cast<long long>(first / stride),
                what.c_str());
  if (h() > stable) throw Error(text + exceeds(stable) + "; use " + stable_choice(stable), ErrorKind::run);
  const std::string message = text;
  if (std::isinf(stable))
    throw Error(message + "check loads, initial values and limits of joints, or use a smaller dt", ErrorKind::run);
  std::snprintf(text, sizeof(text),
                "the substep, dt/substeps = %.3g s, is below %.3g s, up to which small motions about rest are certain "
                "to be stable; "
                "check loads, initial values, contact and limits of joints, or use a smaller dt or more substeps",
                h(), stable);
  throw Error(message + text, ErrorKind::run);
}

std::string ExplicitModel::exceeds(double stable) const {
  if (stable == 0.0)
    return name_of(rule_.integrator) + std::string(" is unstable for undamped oscillations at every substep");
  char text[200];
  std::snprintf(text, sizeof(text),
                "the substep, dt/substeps = %.3g s, exceeds %.3g s, up to which small motions about rest are certain "
                "to be stable",
                h(), stable);
  return text;
}

std::string ExplicitModel::stable_choice(double stable) const {
  if (stable == 0.0) return "symplectic_euler, velocity_verlet or runge_kutta_4";
  // Rounds down, so that the recommended dt is stable.
  const double digit = std::pow(10.0, std::floor(std::log10(stable * substeps_)) - 2.0);
  char text[100];
  std::snprintf(text, sizeof(text), "dt: %.3g, or substeps: %.0f", std::floor(stable * substeps_ / digit) * digit,
                std::ceil(dt() / stable));
  return text;
}

double ExplicitModel::largest_rate(void (ForceTerm::*add_bound)(const ParameterSet&, Field&)) {
  Field bound = work_->force.like("bound");
  for (const auto& term : system_->terms()) (term.get()->*add_bound)(parameters(), bound);
  system_->mesh().vertex_exchange().add_to_owners(bound);
  const std::vector<double> b = bound.to_host();
  const std::vector<double> m = system_->mass().to_host();
  double largest = 0.0;
  for (std::size_t v = 0; v < m.size(); ++v)
    for (std::size_t c = 0; c < 3; ++c) largest = std::max(largest, b[3 * v + c] / m[v]);
  DIFFSIM_MPI(MPI_Allreduce(MPI_IN_PLACE, &largest, 1, MPI_DOUBLE, MPI_MAX, system_->mesh().comm()));
  return largest;
}

double ExplicitModel::stable_substep(double safety) {
  const double stiffness = largest_rate(&ForceTerm::add_stiffness_bound);
  const double damping = largest_rate(&ForceTerm::add_damping_bound);
  return safety * largest_stable_substep(rule_, stiffness, damping);
}

}  // namespace diffsim
