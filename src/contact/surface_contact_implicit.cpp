// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause

// Operations of surface contact for implicit steps: sparsity pattern and Jacobian.

#include <algorithm>

#include "contact/slot_sum.hpp"
#include "contact/surface_contact_data.hpp"
#include "diffsim/core/error.hpp"
#include "diffsim/core/impl/block_matrix.hpp"
#include "diffsim/core/impl/profiling.hpp"

namespace diffsim {
namespace {

/// Sets the marks of `pairs` to 1.
void mark(const DeviceArray<int>& pairs, const DeviceArray<int>& marks) {
  Kokkos::parallel_for(
      "diffsim::contact::mark_coupled", Range(0, static_cast<int>(pairs.size())),
      KOKKOS_LAMBDA(int i) { marks(pairs(i)) = 1; });
  Kokkos::fence();
}

/// Returns true if the marks of all `pairs` are non-zero.
bool all_marked(const DeviceArray<int>& pairs, const DeviceArray<int>& marks) {
  int missing = 0;
  Kokkos::parallel_reduce(
      "diffsim::contact::count_not_coupled", Range(0, static_cast<int>(pairs.size())),
      KOKKOS_LAMBDA(int i, int& sum) { sum += marks(pairs(i)) == 0 ? 1 : 0; }, missing);
  return missing == 0;
}

}  // namespace

void SurfaceContact::add_couplings(const Configuration& at, Couplings& couplings) {
  const ProfilingRegion region("diffsim::contact::couplings");
  data_->assembled = true;
  contact::Candidates& candidates = data_->candidates;
  const Data::Here here = data_->look(at, *data_->parameters, false);
  const DeviceArray<int> near =
      contact::pairs_within(candidates.pairs(), here.x, data_->pair_laws(*data_->parameters, at.step),
                            data_->couples_within(), candidates.pool())
          .pairs;
  data_->coupled = {};
  data_->coupled = candidates.pool().take_zeroed<int>("diffsim::contact::coupled",
                                                      static_cast<std::size_t>(candidates.pairs().size()));
  mark(near, data_->coupled);
  data_->coupled_lists = candidates.rebuilds();
  // Groups of two or more mesh vertices that a pair couples, sorted by the number of vertices. Groups of one vertex are
  // omitted, because every vertex is coupled with itself in any case.
  const auto vertices = host_view(contact::targets_of(candidates.pairs(), near, candidates.pool()));
  for (std::vector<int>& of_count : data_->stencils) of_count.clear();
  for (std::size_t i = 0; i < vertices.size(); i += 4) {
    int ours[4];
    std::size_t count = 0;
    for (std::size_t k = 0; k < 4; ++k) {
      const int vertex = vertices(i + k);
      // Segments and points are stored with repeated corners; each distinct corner is added once.
      if (vertex < candidates.num_mesh_vertices() && std::find(ours, ours + count, vertex) == ours + count)
        ours[count++] = vertex;
    }
    if (count > 1) data_->stencils[count - 2].insert(data_->stencils[count - 2].end(), ours, ours + count);
  }
  for (std::size_t k = 0; k < data_->stencils.size(); ++k)
    if (!data_->stencils[k].empty()) couplings.add(data_->stencils[k], static_cast<int>(k) + 2);
  couplings.set_copies(candidates.copies());
}

bool SurfaceContact::pattern_covers(const Configuration& at) {
  const ProfilingRegion region("diffsim::contact::couplings");
  const Data::Here here = data_->look(at, *data_->parameters, false);
  int serve = data_->coupled_lists == data_->candidates.rebuilds() && all_marked(here.active.pairs, data_->coupled);
  DIFFSIM_MPI(MPI_Allreduce(MPI_IN_PLACE, &serve, 1, MPI_INT, MPI_MIN, data_->mesh->comm()));
  return serve != 0;
}

void SurfaceContact::add_jacobian(const Configuration& at, const ParameterSet& parameters,
                                  const JacobianWeights& weights, BlockMatrix& matrix) {
  const ProfilingRegion region("diffsim::contact::jacobian");
  const contact::Candidates& candidates = data_->candidates;
  const Data::Here here = data_->look(at, parameters, uses_velocities());
  const auto blocks = candidates.pool().take<double>("diffsim::contact::blocks", 144 * here.active.size());
  contact::pair_jacobians(candidates.pairs(), here.active, here.x, here.v, weights, candidates.num_mesh_vertices(),
                          blocks);
  const contact::SlotSum sum(
      contact::block_targets(here.targets, candidates.num_mesh_vertices(), matrix, candidates.pool()),
      matrix.num_blocks(), candidates.pool());
  sum.add(blocks, matrix.values(), 9);
  Kokkos::fence();
}

bool SurfaceContact::moves(int n, const ParameterSet& parameters) const {
  return std::any_of(data_->motions.begin(), data_->motions.end(),
                     [&](const auto& motion) { return motion.moves(parameters, n); });
}

}  // namespace diffsim
