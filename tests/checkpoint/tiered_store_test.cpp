// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
#include "checkpoint/tiered_store.hpp"

#include "checkpoint/hdf5_store.hpp"
#include "checkpoint/rounded_store.hpp"
#include "checkpoint/store.hpp"
#include "core/ring.hpp"
#include "io/mesh_testing.hpp"

namespace diffsim::tiered_store_test {
namespace {

using namespace testing_io;
namespace fs = std::filesystem;

TEST(TieredStore, KeepsEachLevelInItsPlace) {
  const auto mesh = small_mesh();
  std::vector<std::unique_ptr<Store>> levels;
  levels.push_back(std::make_unique<MemoryStore>());
  levels.push_back(std::make_unique<Hdf5Store>(MPI_COMM_WORLD, "tiers"));
  TieredStore store(std::move(levels));
  EXPECT_EQ(store.name(), "tiered");
  EXPECT_EQ(&store.at_level(0).at_level(0), &store.at_level(0));

  // The same step is stored on both levels with different values, to distinguish the levels.
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

State beads(int generation) {
  const testing_core::Ring ring(3 + 2 * generation, generation);
  State state;
  state.add(Field("positions", ring.all, 3));
  std::vector<double> values(state["positions"].size());
  for (std::size_t i = 0; i < values.size(); ++i)
    values[i] = static_cast<double>(100 * generation + 3 * ring.place(i / 3)) + static_cast<double>(i % 3);
  state["positions"].from_host(values);
  return state;
}

TEST(TieredStore, EveryPlaceKeepsStatesWhoseNumberOfEntitiesChanges) {
  std::vector<std::unique_ptr<Store>> levels;
  levels.push_back(std::make_unique<MemoryStore>());
  levels.push_back(std::make_unique<RoundedStore>());
  levels.push_back(std::make_unique<Hdf5Store>(MPI_COMM_WORLD, "generations"));
  TieredStore store(std::move(levels));
  for (const int level : {0, 1, 2}) {
    for (const int n : {0, 1, 2, 3}) store.at_level(level).put(n, beads(n / 2));
    State state = beads(2);
    for (const int n : {3, 0, 2, 1}) {
      store.at_level(level).get(n, state);
      EXPECT_EQ(state["positions"].on().generation(), n / 2);
      EXPECT_EQ(state["positions"].to_host(), beads(n / 2)["positions"].to_host()) << "level " << level << ", " << n;
    }
  }
}

}  // namespace
}  // namespace diffsim::tiered_store_test
