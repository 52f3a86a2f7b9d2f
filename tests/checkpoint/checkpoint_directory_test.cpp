// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
//
// Ownership of checkpoint directories, and the treatment of files that other runs left there.

#include "checkpoint/checkpoint_directory.hpp"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <memory>
#include <string>
#include <vector>

#include "checkpoint/hdf5_store.hpp"
#include "checkpoint/store.hpp"
#include "checkpoint/tiered_store.hpp"

namespace diffsim::checkpoint_directory_test {
namespace {

namespace fs = std::filesystem;

template <class Body>
void on_rank_0(const Body& body) {
  int rank = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  if (rank == 0) body();
  MPI_Barrier(MPI_COMM_WORLD);
}

void touch(const std::string& path) {
  fs::create_directories(fs::path(path).parent_path());
  std::ofstream(path) << "x";
}

CheckpointDirectory::Options kept(const std::string& problem, bool resume = false) {
  CheckpointDirectory::Options how;
  how.keep = true;
  how.resume = resume;
  how.patience = 0.0;
  how.problem = {{"name", problem}};
  return how;
}

std::string error_of_opening(const std::string& path, const CheckpointDirectory::Options& how) {
  try {
    const CheckpointDirectory directory(MPI_COMM_WORLD, path, how);
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::input);
    return error.what();
  }
  return "";
}

State state() {
  State made;
  made.add(Field("positions", 4, 3));
  return made;
}

TEST(CheckpointDirectory, IsOneRunsAtATime) {
  {
    const CheckpointDirectory mine(MPI_COMM_WORLD, "locked", kept("a"));
    for (const bool resume : {false, true})
      EXPECT_NE(error_of_opening("locked", kept("a", resume)).find("'locked' is in use by another run"),
                std::string::npos);
    MPI_Barrier(MPI_COMM_WORLD);
  }
  EXPECT_EQ(error_of_opening("locked", kept("a")), "");
}

TEST(CheckpointDirectory, LosesWhatAKilledRunLeft) {
  const std::vector<std::string> left_files{"rounded_000001.h5", "joined_1000000.h5", "adjoint_000002.12.h5",
                                            "evaluation_000003.h5.partial", "manifest.0.partial"};
  const std::vector<std::string> others_files{
      "step_00007.h5",    "step_000007.h5x",    "step_000007..h5",          "step_.h5",
      "asstep_000007.h5", "manifest.2.partial", "step_000007.h5.partial.h5"};
  on_rank_0([&] {
    for (const char* name : {"left/step_000007.h5", "left/step_000008.h5.partial", "left/notes.txt"}) touch(name);
    for (const std::string& name : left_files) touch("left/" + name);
    for (const std::string& name : others_files) touch("left/" + name);
  });
  {
    Hdf5Store first(MPI_COMM_WORLD, "left");
    MPI_Barrier(MPI_COMM_WORLD);
    EXPECT_FALSE(fs::exists("left/step_000007.h5"));
    EXPECT_FALSE(fs::exists("left/step_000008.h5.partial"));
    EXPECT_TRUE(fs::exists("left/notes.txt"));
    for (const std::string& name : left_files) EXPECT_FALSE(fs::exists("left/" + name)) << name;
    for (const std::string& name : others_files) EXPECT_TRUE(fs::exists("left/" + name)) << name;
    // Other stores may use the directory at the same time.
    first.put(1, state());
    State found = state();
    first.get(1, found);
    const Hdf5Store second(MPI_COMM_WORLD, "left");
    first.get(1, found);
  }
  // Files listed in a manifest belong to a run and are kept.
  on_rank_0([] {
    fs::remove("left/notes.txt");
    for (const char* name : {"left/step_000007.h5", "left/manifest.1"}) touch(name);
  });
  { const Hdf5Store store(MPI_COMM_WORLD, "left"); }
  MPI_Barrier(MPI_COMM_WORLD);
  EXPECT_TRUE(fs::exists("left/step_000007.h5"));
  MPI_Barrier(MPI_COMM_WORLD);
  on_rank_0([] { fs::remove_all("left"); });
}

TEST(CheckpointDirectory, OfAFailedRunGivesWay) {
  std::vector<std::string> warnings;
  const auto leave = [](bool failed, const std::string& problem, bool resume) {
    CheckpointDirectory directory(MPI_COMM_WORLD, "failed", kept(problem, resume));
    if (!directory.has("step", 3)) directory.write("step", 3, RowOrder(MPI_COMM_WORLD).to_file("/state", state()));
    directory.publish(true);
    if (failed) directory.mark_failed();
  };
  const std::string another = "contains the checkpoint of another problem (name differs)";
  leave(true, "a", false);
  // Only a run of the same problem can resume from the checkpoint.
  EXPECT_NE(error_of_opening("failed", kept("b", true)).find(another), std::string::npos);
  {
    CheckpointDirectory directory(MPI_COMM_WORLD, "failed", kept("a", true));
    EXPECT_TRUE(directory.has("step", 3));
  }
  CheckpointDirectory::Options other = kept("b");
  other.warn = [&](const std::string& what) { warnings.push_back(what); };
  {
    const CheckpointDirectory directory(MPI_COMM_WORLD, "failed", other);
    EXPECT_TRUE(directory.is_empty());
    ASSERT_EQ(warnings.size(), 1u);
    EXPECT_NE(warnings[0].find("failed run of another problem (name differs) in 'failed'"), std::string::npos)
        << warnings[0];
  }
  // The checkpoint of a run that was stopped or killed is kept, even if that run had resumed from a failed run.
  leave(true, "b", false);
  {
    CheckpointDirectory directory(MPI_COMM_WORLD, "failed", kept("b", true));
    directory.write("step", 4, RowOrder(MPI_COMM_WORLD).to_file("/state", state()));
    directory.publish(true);
  }
  EXPECT_NE(error_of_opening("failed", kept("a")).find(another), std::string::npos);
  CheckpointDirectory(MPI_COMM_WORLD, "failed", kept("b", true)).remove_all();
}

TEST(TieredStore, LeavesNoDirectory) {
  {
    std::vector<std::unique_ptr<Store>> levels;
    for (const char* name : {"nested", "nested/level_2"})
      levels.push_back(std::make_unique<Hdf5Store>(MPI_COMM_WORLD, name));
    TieredStore store(std::move(levels));
    store.at_level(1).put(1, state());
  }
  MPI_Barrier(MPI_COMM_WORLD);
  EXPECT_FALSE(fs::exists("nested"));
  MPI_Barrier(MPI_COMM_WORLD);
  // Directories left by a killed run are removed, too.
  on_rank_0([] { touch("nested/level_2/step_000001.h5"); });
  { const Hdf5Store store(MPI_COMM_WORLD, "nested/level_2"); }
  MPI_Barrier(MPI_COMM_WORLD);
  EXPECT_FALSE(fs::exists("nested/level_2"));
  MPI_Barrier(MPI_COMM_WORLD);
  on_rank_0([] { fs::remove_all("nested"); });
}

}  // namespace
}  // namespace diffsim::checkpoint_directory_test
