// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
#include "diffsim/checkpoint/tiered_store.hpp"

#include "diffsim/checkpoint/hdf5_store.hpp"
#include "io/mesh_testing.hpp"

namespace diffsim {
namespace {

using namespace testing;
namespace fs = std::filesystem;

TEST(TieredStore, KeepsEachLevelInItsPlace) {
  const auto mesh = small_mesh();
  std::vector<std::unique_ptr<Store>> levels;
  levels.push_back(std::make_unique<MemoryStore>());
  levels.push_back(std::make_unique<Hdf5Store>(MPI_COMM_WORLD, "tiers"));
  TieredStore store(std::move(levels));
  EXPECT_EQ(store.name(), "tiered");
  EXPECT_EQ(&store.at_level(0).at_level(0), &store.at_level(0));

  // The same step on both levels, with other values, to tell them apart.
  store.at_level(0).put(3, state_of(*mesh, 1));
  EXPECT_EQ(store.statistics().bytes_written, 0);
  store.at_level(1).put(3, state_of(*mesh, 2));
  EXPECT_GE(store.statistics().bytes_written, mesh->num_global_vertices() * 40);
  State state = state_of(*mesh, 9);
  for (const int level : {0, 1}) {
    store.at_level(level).get(3, state);
    EXPECT_TRUE(same_bits(state["velocities"].to_host(), state_of(*mesh, level + 1)["velocities"].to_host()));
  }
  store.at_level(0).erase(3);
  store.at_level(1).get(3, state);
  EXPECT_THROW(store.at_level(0).get(3, state), Error);
  EXPECT_THROW(store.at_level(2), Error);
  EXPECT_THROW(store.at_level(-1), Error);
  EXPECT_THROW(TieredStore({}), Error);
}

}  // namespace
}  // namespace diffsim
