// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
#include "checkpoint/hdf5_store.hpp"

#include "io/mesh_testing.hpp"

namespace diffsim::hdf5_store_test {
namespace {

using namespace testing_io;
namespace fs = std::filesystem;

TEST(Hdf5Store, KeepsEveryBit) {
  const auto mesh = small_mesh();
  Hdf5Store store(MPI_COMM_WORLD, "bits");
  EXPECT_EQ(store.name(), "hdf5");
  for (const int k : {0, 12, 7}) store.put(k, state_of(*mesh, k));
  EXPECT_EQ(store.path(12), "bits/step_000012.h5");
  State state = state_of(*mesh, 99);
  store.get(7, state);  // the last snapshot, so all files have been written
  EXPECT_TRUE(fs::exists("bits/step_000012.h5"));
  EXPECT_FALSE(fs::exists("bits/step_000012.h5.partial"));
  for (const int k : {7, 0, 12, 0}) {
    store.get(k, state);
    const State expected = state_of(*mesh, k);
    for (const Field& field : expected.fields())
      EXPECT_TRUE(same_bits(state[field.name()].to_host(), field.to_host())) << "step " << k << ", " << field.name();
  }
  store.put(7, state_of(*mesh, 8));  // replaces the snapshot
  store.get(7, state);
  EXPECT_TRUE(same_bits(state["positions"].to_host(), state_of(*mesh, 8)["positions"].to_host()));
}

TEST(Hdf5Store, ForgetsWhatIsErased) {
  const auto mesh = small_mesh();
  State state = state_of(*mesh, 0);
  Hdf5Store store(MPI_COMM_WORLD, "erased");
  store.put(3, state);
  store.erase(3);
  store.erase(4);  // no such snapshot exists
  MPI_Barrier(MPI_COMM_WORLD);
  EXPECT_FALSE(fs::exists("erased/step_000003.h5"));
  EXPECT_CONTAINS(error_of(ErrorKind::run, [&] { store.get(3, state); }), "no snapshot of step 3 in erased");
}

TEST(Hdf5Store, RemovesWhatItMade) {
  const auto mesh = small_mesh();
  on_rank_0([] {
    fs::create_directories("kept/other");
    write_bytes("kept/notes.txt", "mine");
  });
  {
    Hdf5Store made(MPI_COMM_WORLD, "made/by/it");
    Hdf5Store in_kept(MPI_COMM_WORLD, "kept/other");
    made.put(1, state_of(*mesh, 1));
    in_kept.put(1, state_of(*mesh, 1));
  }
  MPI_Barrier(MPI_COMM_WORLD);
  EXPECT_FALSE(fs::exists("made"));
  EXPECT_TRUE(fs::is_directory("kept/other"));
  EXPECT_TRUE(fs::is_empty("kept/other"));
  EXPECT_EQ(read_bytes("kept/notes.txt"), "mine");
}

TEST(Hdf5Store, RefusesADirectoryItCannotUse) {
  on_rank_0([] { write_bytes("file", "x"); });
  EXPECT_CONTAINS(error_of(ErrorKind::input, [] { Hdf5Store(MPI_COMM_WORLD, "file"); }),
                  "checkpoint directory 'file' cannot be written to");
  EXPECT_CONTAINS(error_of(ErrorKind::input, [] { Hdf5Store(MPI_COMM_WORLD, "file/below"); }),
                  "checkpoint directory 'file/below' cannot be written to");
  EXPECT_CONTAINS(error_of(ErrorKind::input, [] { Hdf5Store(MPI_COMM_WORLD, ""); }), "has no name");
}

TEST(Hdf5Store, NoticesDamage) {
  const auto mesh = small_mesh();
  State state = state_of(*mesh, 5);
  Hdf5Store store(MPI_COMM_WORLD, "damage");
  const auto failure = [&] { return error_of(ErrorKind::system, [&] { store.get(5, state); }); };
  store.put(5, state);
  store.get(5, state);  // ensures that the file exists
  double marker = 0.0;
  if (rank() == 0) marker = state["positions"].to_host()[4];
  damage_value(store.path(5), store.path(5), marker);
  EXPECT_CONTAINS(failure(), "damage/step_000005.h5: is damaged: its bytes do not match its checksum");

  store.put(5, state);
  store.get(5, state);
  on_rank_0([&] { fs::resize_file(store.path(5), fs::file_size(store.path(5)) / 2); });
  EXPECT_CONTAINS(failure(), "the file is cut short, or is another file");
  on_rank_0([&] { fs::remove(store.path(5)); });
  EXPECT_CONTAINS(failure(), "cannot be read (No such file");
}

TEST(Hdf5Store, DoesNotMixRuns) {
  const auto mesh = small_mesh();
  State state = state_of(*mesh, 1);
  Hdf5Store mine(MPI_COMM_WORLD, "shared");
  Hdf5Store theirs(MPI_COMM_WORLD, "shared");
  mine.put(1, state);
  theirs.put(1, state_of(*mesh, 2));
  mine.get(1, state);
  EXPECT_TRUE(same_bits(state["positions"].to_host(), state_of(*mesh, 1)["positions"].to_host()));
  theirs.get(1, state);
  EXPECT_TRUE(same_bits(state["positions"].to_host(), state_of(*mesh, 2)["positions"].to_host()));
}

TEST(Hdf5Store, CompressesWithoutLoss) {
  const auto mesh = TetrahedralMesh::box(MPI_COMM_WORLD, {1.0, 1.0, 1.0}, {9, 8, 7});
  State state;
  state.add(Field("positions", mesh->vertex_entities(), 3));
  state.add(Field("velocities", mesh->owned_vertex_entities(), 3));
  state["positions"].from_host(mesh->rest_positions());
  const auto directory = std::make_shared<CheckpointDirectory>(MPI_COMM_WORLD, "compressed");
  Hdf5Store whole(directory, RowOrder(mesh->comm()));
  whole.put(0, state);
  const std::int64_t bytes = whole.statistics().bytes_written;
  for (const bool single : {false, true}) {
    Hdf5Store store(directory, RowOrder(mesh->comm()), {.single = single, .compressed = true});
    const std::int64_t before = store.statistics().bytes_written;
    store.put(1, state);
    EXPECT_LT(store.statistics().bytes_written - before, bytes / 2);  // rows of equal values and zeros compress well
    State found = state.zero_like();
    store.get(1, found);
    std::vector<double> values = state["positions"].to_host(), there = found["positions"].to_host();
    values.resize(state["positions"].owned_size());
    there.resize(values.size());
    if (single)
      for (double& value : values) value = static_cast<float>(value);
    EXPECT_TRUE(same_bits(there, values));
    // Flips one bit of the compressed data.
    const std::string name = store.path(1);
    on_rank_0([&] {
      std::fstream file(name, std::ios::in | std::ios::out | std::ios::binary);
      const auto middle = static_cast<std::streamoff>(fs::file_size(name) / 2);
      file.seekg(middle);
      const char byte = static_cast<char>(file.get() ^ 4);
      file.seekp(middle);
      file.put(byte);
    });
    EXPECT_CONTAINS(error_of(ErrorKind::system, [&] { store.get(1, found); }), "is damaged");
    store.erase(1);
  }
}

TEST(Hdf5Store, RoundsToFloatsWhereAsked) {
  const auto mesh = small_mesh();
  const auto directory = std::make_shared<CheckpointDirectory>(MPI_COMM_WORLD, "single");
  Hdf5Store store(directory, RowOrder(mesh->comm()), {.single = true});
  State state = state_of(*mesh, 3);
  store.put(3, state);
  store.get(3, state);
  const State expected = state_of(*mesh, 3);
  for (const Field& field : expected.fields()) {
    std::vector<double> values = field.to_host();
    for (double& value : values) value = static_cast<float>(value);
    values.resize(field.owned_size());
    std::vector<double> found = state[field.name()].to_host();
    found.resize(field.owned_size());
    EXPECT_TRUE(same_bits(found, values)) << field.name();
  }
}

}  // namespace
}  // namespace diffsim::hdf5_store_test
