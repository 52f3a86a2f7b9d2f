// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
//
// Bytes and messages that a rank sends to find the pairs that may touch. MPI calls are counted on 2, 4, 8, … ranks, up
// to the available number, with a surface of the same size on each rank. To run on 16 ranks:
//
//   mpirun --oversubscribe -n 16 build/tests/bin/contact_search_cost_test

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <limits>
#include <numbers>

#include "contact/candidates.hpp"
#include "contact/counted_mpi.hpp"
#include "contact/rendezvous.hpp"
#include "diffsim/contact/impl/surface_areas.hpp"
#include "diffsim/core/runtime.hpp"
#include "diffsim/mesh/construction.hpp"

namespace diffsim::contact::search_cost_test {
namespace {

constexpr int columns = 16, layers = 5, rows = 5;  // bricks of an arc

/// Returns a ring of equal arcs, one per rank. Each arc is near two other arcs, or near the single other arc at both
/// ends. The partitioner assigns one arc to each rank.
MeshData ring(int arcs, bool is_first) {
  MeshData data;
  const double radius = 0.5 * columns * arcs / std::numbers::pi;
  for (int arc = 0; arc < arcs; ++arc) {
    const MeshData bricks = box_mesh({columns - 0.05, 1.0 * layers, 1.0 * rows}, {columns, layers, rows}, 0, 1);
    for (const std::int64_t v : bricks.cells) data.cells.push_back(data.num_vertices + v);
    for (std::size_t i = 0; i < bricks.coordinates.size(); i += 3) {
      const double* const x = &bricks.coordinates[i];
      const double angle = (columns * arc + x[0]) / radius, r = radius + 0.2 * (x[1] - 0.5 * layers);
      data.coordinates.insert(data.coordinates.end(), {r * std::sin(angle), r * std::cos(angle), x[2]});
    }
    data.num_vertices += bricks.num_vertices;
    data.num_cells += bricks.num_cells;
  }
  if (is_first) return data;
  MeshData none;
  none.num_vertices = none.first_vertex = data.num_vertices;
  none.num_cells = none.first_cell = data.num_cells;
  return none;
}

/// Cost of one search.
struct Cost {
  long neighbours;                     // number of ranks near a rank
  long most_messages, most_bytes;      // maximum over ranks
  double messages, bytes;              // mean over ranks
  std::array<long, 4> of_collectives;  // per rank: Allreduces, their bytes, barriers, other collectives
};

/// Counts the messages and bytes that `search` sends. Collective.
template <class Search>
Cost cost_of(MPI_Comm comm, const Search& search) {
  testing_mpi::sent = {};
  testing_mpi::counting = true;
  search();
  testing_mpi::counting = false;
  testing_mpi::Sent& sent = testing_mpi::sent;
  Cost cost{};
  cost.of_collectives = {sent.collectives["Allreduce"][0], sent.collectives["Allreduce"][1],
                         sent.collectives["Ibarrier"][0], 0};
  for (const auto& [name, calls] : sent.collectives)
    if (name != "Allreduce" && name != "Ibarrier") cost.of_collectives[3] += calls[0];
  long most[2] = {sent.messages, sent.bytes}, sums[2] = {sent.messages, sent.bytes};
  MPI_Allreduce(MPI_IN_PLACE, most, 2, MPI_LONG, MPI_MAX, comm);
  MPI_Allreduce(MPI_IN_PLACE, sums, 2, MPI_LONG, MPI_SUM, comm);
  cost.most_messages = most[0];
  cost.most_bytes = most[1];
  cost.messages = static_cast<double>(sums[0]) / num_ranks(comm);
  cost.bytes = static_cast<double>(sums[1]) / num_ranks(comm);
  return cost;
}

Cost cost_on_ring(MPI_Comm comm) {
  const int ranks = num_ranks(comm);
  const TetrahedralMesh mesh(comm, ring(ranks, is_first_rank(comm)));
  EXPECT_EQ(mesh.num_cells(), 6 * columns * layers * rows) << "a rank has more than an arc, or less";
  EXPECT_EQ(mesh.num_vertices(), mesh.num_owned_vertices()) << "a rank has parts of arcs";
  Candidates candidates(mesh, true, {}, {}, {}, 1 << 28);
  Field rest("rest", mesh.vertex_entities(), 3);
  rest.from_host(mesh.rest_positions());
  candidates.set_rest(RestAreas(mesh).areas(rest), rest, Vectors());
  Cost cost = cost_of(comm, [&] { candidates.cover(rest, Vectors(), rest, Vectors(), 0.1); });
  std::set<int> near;
  for (const VertexLocation& copy : candidates.copies()) near.insert(static_cast<int>(copy.rank));
  EXPECT_EQ(near.size(), ranks == 2 ? 1u : 2u);
  cost.neighbours = static_cast<long>(near.size());
  return cost;
}

TEST(search_cost, does_not_grow_with_ranks) {
  const int rank = rank_of(MPI_COMM_WORLD), ranks = num_ranks(MPI_COMM_WORLD);
  Cost first{};
  long least = std::numeric_limits<long>::max(), most = 0;  // greatest number of messages of any rank, from 4 ranks on
  double least_on_average = HUGE_VAL, most_on_average = 0.0;
  for (int some = 2; some <= ranks; some *= 2) {
    MPI_Comm comm;
    MPI_Comm_split(MPI_COMM_WORLD, rank < some ? 0 : MPI_UNDEFINED, rank, &comm);
    if (comm != MPI_COMM_NULL) {
      const Cost cost = cost_on_ring(comm);
      if (rank == 0)
        std::printf(
            "%2d ranks, of %ld neighbours each. A rank sends %.1f messages, %.0f bytes; the one that sends most %ld, "
            "%ld. "
            "Allreduces: %ld of %ld bytes together, barriers: %ld\n",
            some, cost.neighbours, cost.messages, cost.bytes, cost.most_messages, cost.most_bytes,
            cost.of_collectives[0], cost.of_collectives[1], cost.of_collectives[2]);
      if (some == 2) first = cost;
      MPI_Bcast(&first, sizeof(first), MPI_BYTE, 0, comm);
      // On two ranks, each rank is the home of half of its own cells. Messages are therefore compared per neighbour.
      const auto a_neighbour = [](const Cost& c) { return c.messages / static_cast<double>(c.neighbours); };
      EXPECT_NEAR(a_neighbour(cost) / a_neighbour(first), 1.0, 0.1);
      EXPECT_LT(static_cast<double>(cost.most_messages), 1.15 * cost.messages);
      if (some > 2) {
        least = std::min(least, cost.most_messages);
        most = std::max(most, cost.most_messages);
        least_on_average = std::min(least_on_average, cost.messages);
        most_on_average = std::max(most_on_average, cost.messages);
        EXPECT_LE(static_cast<double>(most), 1.1 * static_cast<double>(least));
        EXPECT_LE(most_on_average, 1.05 * least_on_average);
      }
      // Each arc touches other arcs at both ends, so the bytes are the same for one neighbour and for two.
      EXPECT_NEAR(cost.bytes / first.bytes, 1.0, 0.1);
      EXPECT_NEAR(static_cast<double>(cost.most_bytes) / first.bytes, 1.0, 0.05);
      EXPECT_EQ(cost.of_collectives, first.of_collectives);
      EXPECT_EQ(cost.of_collectives[3], 0);
      MPI_Comm_free(&comm);
    }
    MPI_Barrier(MPI_COMM_WORLD);
  }
}

TEST(search_cost, is_bounded_for_boxes_of_any_size) {
  const Exchange holds_petsc_communicator(MPI_COMM_WORLD, 0, {}, {});
  const int rank = rank_of(MPI_COMM_WORLD);
  std::vector<Box> boxes;
  for (int i = 0; i < 64; ++i) {
    const double x = rank + i / 64.0;
    boxes.push_back({{x, 0.0, 0.0}, {x + 0.02, 0.02, 0.02}});
  }
  constexpr double infinity = std::numeric_limits<double>::infinity();
  if (rank == 0)
    for (const double size : {3.0, 100.0, 1e9, 1e300, infinity}) boxes.push_back({{0, 0, 0}, {size, size, size}});
  const Cost cost = cost_of(MPI_COMM_WORLD, [&] { rendezvous(MPI_COMM_WORLD, boxes); });
  // Bound per rank: 69 boxes that overlap a large box, and at most 8 cells in each of six grids (the finest and five
  // coarser ones).
  EXPECT_LT(static_cast<double>(cost.most_bytes), (69.0 + 48.0) * 100.0 * num_ranks(MPI_COMM_WORLD));
  EXPECT_EQ(cost.of_collectives[3], 0);
}

}  // namespace
}  // namespace diffsim::contact::search_cost_test
