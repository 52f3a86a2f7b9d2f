// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
//
// A sweep that is interrupted anywhere can be resumed with the same gradient, regardless of damage to its files in
// between. The gradient is bitwise identical on the same ranks, and equal up to rounding errors on others.

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <random>

#include "checkpoint/schedule.hpp"
#include "checkpoint/store.hpp"
#include "diffsim/core/error.hpp"
#include "diffsim/inverse/problem.hpp"
#include "diffsim/mesh/construction.hpp"
#include "simulation/resume_testing.hpp"

namespace diffsim::resume_test {
namespace {

using namespace testing_simulation;

namespace fs = std::filesystem;

constexpr int steps = 75;  // two whole intervals of 32 steps and a part
const std::vector<std::string> by = {"youngs_modulus", "density", "gravity", "damping"};

/// Prescribes the motion of an edge of the far end: a rotation about an axis whose origin is part of the state, and a
/// velocity that changes in each step.
void move_edge(DifferentiableScene& body, int of_steps) {
  body.mesh()->define_region("edge", BoxShape{{0.99, 0.29, -1.0}, {2.0, 1.0, 1.0}});
  std::vector<double> velocity;
  for (int n = 0; n < of_steps; ++n) velocity.insert(velocity.end(), {0.1, 0.2 * std::sin(0.3 * n), -0.05});
  body.move("edge", {1.0, 0.3, 0.0}, {0.9, 0.1, 0.1}, {0.7}, velocity);
}

struct Case : InterruptedSweep {
  explicit Case(MPI_Comm on, double damping = 0.99, int of_steps = steps, bool moved = false)
      : InterruptedSweep(
            on, TetrahedralMesh::box(on, {1.0, 0.3, 0.2}, {4, 2, 1}), of_steps,
            moved ? std::vector<std::string>{"youngs_modulus", "density", "angular_velocity:edge", "velocity:edge"}
                  : by,
            [&](std::shared_ptr<TetrahedralMesh> of) {
              DifferentiableMaterial material{
                  "neo_hookean", {{"youngs_modulus", 2e4}, {"poisson_ratio", 0.35}, {"density", 900.0}}, "all"};
              DifferentiableScene body(std::move(of), {material}, {.dt = 0.004, .substeps = 2, .damping = damping});
              body.fix("x_min");
              if (moved) move_edge(body, of_steps);
              return body;
            }) {}
};

CheckpointOptions options_of(const std::string& schedule, const std::string& store) {
  return resumed_by(schedule, store, 20, "resume");
}

TEST(Resume, AnyScheduleAndStoreGoesOnToTheSameBits) {
  Case problem(MPI_COMM_WORLD);
  const std::vector<double> reference = problem.run(options_of("all", "memory"), false, 0, false);
  const auto check = [&](const std::string& schedule, const std::string& store, double interval,
                         const std::vector<double>& stops) {
    CheckpointOptions options = options_of(schedule, store);
    options.interval = interval;
    EXPECT_EQ(problem.run(options, false), reference) << schedule << ' ' << store;
    const int whole = problem.polls;
    for (const double part : stops) {
      const int stop_at = std::max(1, static_cast<int>(part * whole));
      EXPECT_TRUE(problem.stops(options, false, stop_at));
      EXPECT_EQ(problem.run(options, true), reference) << schedule << ' ' << store << " stopped at " << stop_at;
      EXPECT_TRUE(problem.warnings.empty()) << problem.warnings.front();
      if (rank_in(MPI_COMM_WORLD) == 0) {
        EXPECT_FALSE(fs::exists("resume"));
      }
      MPI_Barrier(MPI_COMM_WORLD);
    }
  };
  constexpr double never = 1e9;
  for (const char* schedule : {"all", "uniform", "revolve", "online"})
    check(schedule, "memory", never, {0.3, 0.6, 0.97});
  check("revolve", "hdf5", never, {0.2, 0.8});
  check("multi_level", "tiered", never, {0.2, 0.7});
  check("two_level", "tiered", never, {0.0, 0.5, 0.9});
  check("two_level", "tiered", 0.0, {0.1, 0.6, 0.97});
}

TEST(Resume, PrescribedMotionsGoOnToTheSameBits) {
  Case problem(MPI_COMM_WORLD, 0.99, steps, true);
  const std::vector<double> reference = problem.run(options_of("all", "memory"), false, 0, false);
  for (const auto& [schedule, store] : {std::pair{"revolve", "hdf5"}, std::pair{"two_level", "tiered"}}) {
    const CheckpointOptions options = options_of(schedule, store);
    EXPECT_EQ(problem.run(options, false), reference) << schedule << ' ' << store;
    const int stop_at = problem.polls / 2;
    EXPECT_TRUE(problem.stops(options, false, stop_at));
    EXPECT_EQ(problem.run(options, true), reference) << schedule << ' ' << store;
    EXPECT_TRUE(problem.warnings.empty()) << problem.warnings.front();
  }
}

/// The reverse sweep begins with the derivatives of the loss at the last state. Derivatives of a sensor with respect to
/// parameters are sums in the Model at first; a sweep that stops before the first block ends must store these sums,
/// too.
TEST(Resume, DerivativesOfASensorAtTheLastStateAreStored) {
  Case problem(MPI_COMM_WORLD);
  const std::shared_ptr<Sensor> reaction =
      problem.solver->sensor({.quantity = SensorQuantity::reaction, .place = {"x_min"}});
  problem.loss.add(
      std::make_unique<SensorLoss>(reaction, std::map<int, std::vector<double>>{{steps, {1.0, 2.0, 3.0}}}));
  const CheckpointOptions options = options_of("all", "memory");
  const std::vector<double> reference = problem.run(options, false, 0, false);
  EXPECT_EQ(problem.run(options, false), reference);
  EXPECT_TRUE(problem.stops(options, false, problem.polls / 2 + 4));
  EXPECT_EQ(problem.run(options, true), reference);
}

TEST(Resume, SweepsOfOtherKindsGoOn) {
  Case problem(MPI_COMM_WORLD, 1.0);
  const auto check = [&](const CheckpointOptions& options) {
    const std::vector<double> reference = problem.run(options, false);
    const int whole = problem.polls;
    for (const double part : {0.3, 0.65, 0.95}) {
      EXPECT_TRUE(problem.stops(options, false, static_cast<int>(part * whole)));
      EXPECT_EQ(problem.run(options, true), reference) << to_string(options.schedule) << " at " << part;
      EXPECT_TRUE(problem.warnings.empty()) << problem.warnings.front();
    }
  };
  CheckpointOptions truncated = options_of("two_level", "tiered");
  truncated.last = 50;
  check(truncated);
  CheckpointOptions compressed = options_of("two_level", "tiered");
  compressed.compressed = true;
  compressed.interval = 0.0;
  check(compressed);
  check(options_of("reversible", "memory"));
}

TEST(Resume, RoundedSnapshotsAreNoStateToGoOnFrom) {
  Case problem(MPI_COMM_WORLD);
  CheckpointOptions options = options_of("two_level", "tiered");
  const std::vector<double> whole = problem.run(options, false);
  options.single = true;
  const std::vector<double> reference = problem.run(options, false);
  EXPECT_EQ(reference[0], whole[0]);
  const double error = relative_difference(reference, whole);
  EXPECT_GT(error, 0.0);
  EXPECT_LT(error, 1e-5);
  for (const int stop_at : {45, 120}) {
    EXPECT_TRUE(problem.stops(options, false, stop_at));
    const std::vector<double> found = problem.run(options, true);
    EXPECT_EQ(found[0], whole[0]) << stop_at;  // bitwise identical: the forward run was resumed from an unrounded state
    EXPECT_LT(relative_difference(found, whole), 3.0 * error);
  }
}

TEST(Resume, WhatIsDoneIsNotDoneAgain) {
  Case problem(MPI_COMM_WORLD);
  const CheckpointOptions options = options_of("two_level", "tiered");
  (void)problem.run(options, false);
  const long all = problem.statistics.advances + problem.statistics.recordings;
  EXPECT_TRUE(problem.stops(options, false, 70));  // in the forward run
  (void)problem.run(options, true);
  EXPECT_LE(problem.statistics.advances + problem.statistics.recordings, all - 60 + options.every);
  EXPECT_TRUE(problem.stops(options, false, static_cast<int>(all)));  // about 32 steps are left
  (void)problem.run(options, true);
  EXPECT_LE(problem.statistics.recordings, 64);
}

TEST(Resume, OtherNumbersOfRanksAgree) {
  int ranks = 1;
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  if (ranks < 3) GTEST_SKIP() << "needs 3 ranks";
  const CheckpointOptions options = options_of("two_level", "tiered");
  for (const bool moved : {false, true}) {
    const auto make = [moved](MPI_Comm comm) { return Case(comm, 0.99, steps, moved); };
    std::vector<double> reference;
    if (rank_in(MPI_COMM_WORLD) == 0) reference = make(MPI_COMM_SELF).run(options, false, 0, false);
    // Parts: the loss, two gradients by cell, and gravity and damping or the rates of the motion.
    const std::size_t globals = moved ? 1 + 3 * static_cast<std::size_t>(steps) : 3 + 1;
    const std::size_t cells = (reference.size() - std::min<std::size_t>(reference.size(), 1 + globals)) / 2;
    // Legs that stop in the forward run and in the reversal, on different numbers of ranks.
    for (const std::vector<Leg>& legs : {std::vector<Leg>{{1, 30}, {2, 30}, {3, 90}, {1, 0}},
                                         {{1, 120}, {2, 40}, {3, 40}, {1, 0}},
                                         {{1, 30}, {2, 30}, {3, 90}, {2, 70}, {1, 0}}}) {
      const std::vector<double> found = relayed(legs, options, make);
      const std::vector<std::size_t> parts = moved ? std::vector<std::size_t>{1, cells, cells, 1, globals - 1}
                                                   : std::vector<std::size_t>{1, cells, cells, 3, 1};
      if (rank_in(MPI_COMM_WORLD) == 0) expect_near(found, reference, parts, 1e-11);
    }
  }
}

/// Files of the directory, in the same order on all ranks.
std::vector<std::string> files_in(const std::string& directory) {
  std::vector<std::string> names;
  for (const auto& entry : fs::directory_iterator(directory)) names.push_back(entry.path().string());
  std::sort(names.begin(), names.end());
  return names;
}

/// File from which a sweep resumes: the adjoint at the earliest step, or the last state if no step has been reversed
/// yet.
std::string begun_with(const std::vector<std::string>& names) {
  std::string adjoint, state;
  for (const std::string& name : names) {
    const std::string kind = fs::path(name).filename().string();
    if (kind.starts_with("adjoint_") && adjoint.empty()) adjoint = name;
    if (kind.starts_with("step_")) state = name;
  }
  return adjoint.empty() ? state : adjoint;
}

void flip_bit(const std::string& name, std::uint64_t bit) {
  std::fstream file(name, std::ios::in | std::ios::out | std::ios::binary);
  file.seekg(static_cast<std::streamoff>(bit / 8));
  const char byte = static_cast<char>(file.get() ^ (1 << bit % 8));
  file.seekp(static_cast<std::streamoff>(bit / 8));
  file.put(byte);
}

int number_from_environment(const char* name, int otherwise) {
  const char* text = std::getenv(name);
  return text ? std::atoi(text) : otherwise;
}

TEST(Resume, BitFlipsAreDetectedBeforeUse) {
  Case problem(MPI_COMM_WORLD);
  CheckpointOptions options = options_of("two_level", "tiered");
  options.interval = 0.0;
  const std::vector<double> reference = problem.run(options, false);
  const int rank = rank_in(MPI_COMM_WORLD);
  std::mt19937_64 random(7);
  const int flips = number_from_environment("DIFFSIM_BIT_FLIPS", 4);
  for (int flip = 0; flip < flips; ++flip) {
    // Stops alternate between the forward run and the reversal. The damaged file is one that must be used, or any.
    const int stop_at = (flip % 2 == 0 ? 20 : 100) + static_cast<int>(random() % 50);
    const bool is_used = flip % 4 < 2;
    EXPECT_TRUE(problem.stops(options, false, stop_at));
    MPI_Barrier(MPI_COMM_WORLD);
    const std::vector<std::string> names = files_in("resume");
    const std::string name = is_used ? begun_with(names) : names[random() % names.size()];
    const std::uint64_t bit = random() % (8 * fs::file_size(name));
    MPI_Barrier(MPI_COMM_WORLD);
    if (rank == 0) flip_bit(name, bit);
    MPI_Barrier(MPI_COMM_WORLD);
    // Every file that is used is verified, and damage is reported.
    EXPECT_EQ(problem.run(options, true), reference) << name << " bit " << bit;
    for (const std::string& warning : problem.warnings) EXPECT_NE(warning.find(name), std::string::npos) << warning;
    if (is_used || name.find("manifest") != std::string::npos) {
      EXPECT_EQ(problem.warnings.size(), 1u) << name << " bit " << bit;
    }
  }
}

/// Flips random bits of random published files, and expects an error when the damaged file is opened.
TEST(Resume, EveryFileIsVerified) {
  Case problem(MPI_COMM_WORLD);
  CheckpointOptions options = options_of("two_level", "tiered");
  options.interval = 0.0;
  EXPECT_TRUE(problem.stops(options, false, 120));
  CheckpointDirectory::Options how;
  how.keep = how.resume = true;
  how.problem = {{"name", "resume_test"}};
  std::mt19937_64 random(11);
  const int flips = number_from_environment("DIFFSIM_BIT_FLIPS", 60);
  for (int flip = 0; flip < flips; ++flip) {
    CheckpointDirectory directory(MPI_COMM_WORLD, "resume", how);
    const bool is_state = random() % 2 == 0;
    const std::string kind = is_state ? "step" : "adjoint";
    const std::vector<int> numbers = directory.numbers(kind);
    const int number = numbers.at(random() % numbers.size());
    const std::string name = directory.file_of(kind, number);
    (void)directory.open(kind, number);
    const std::uint64_t bit = random() % (8 * fs::file_size(name));
    const auto turn = [&] {
      MPI_Barrier(MPI_COMM_WORLD);
      if (rank_in(MPI_COMM_WORLD) == 0) flip_bit(name, bit);
      MPI_Barrier(MPI_COMM_WORLD);
    };
    turn();
    EXPECT_THROW((void)directory.open(kind, number), Error) << name << " bit " << bit;
    turn();
  }
  CheckpointDirectory(MPI_COMM_WORLD, "resume", how).remove_all();
}

/// Lets each write of each rank fail in turn, until the sweep has no further write that could fail.
TEST(Resume, EachWriteInTurnMayFail) {
  int ranks = 1;
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  for (int culprit = 0; culprit < ranks; ++culprit) {
    Case problem(MPI_COMM_WORLD, 0.99, 34);
    CheckpointOptions options = options_of("two_level", "tiered");
    options.every = 12;
    const std::vector<double> reference = problem.run(options, false);
    int writes = 0;
    for (bool failed = true; failed; ++writes) {
      if (rank_in(MPI_COMM_WORLD) == culprit) problem.files.fail_after(writes);
      failed = false;
      std::vector<double> found;
      try {
        found = problem.run(options, true);  // with the files of the previous attempt
      } catch (const Error& error) {
        failed = true;
        EXPECT_EQ(error.kind(), ErrorKind::system) << error.what();
        EXPECT_NE(std::string(error.what()).find("No space left"), std::string::npos) << error.what();
      }
      problem.files.fail_after(-1);
      int all = failed ? 1 : 0;
      MPI_Allreduce(MPI_IN_PLACE, &all, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
      ASSERT_TRUE(all == 0 || all == ranks) << "rank " << culprit << ", write " << writes;
      EXPECT_TRUE(problem.warnings.empty()) << "write " << writes << ": " << problem.warnings.front();
      if (failed && writes % 3 == 0) {
        EXPECT_EQ(problem.run(options, true), reference) << "rank " << culprit << ", write " << writes;
        EXPECT_TRUE(problem.warnings.empty()) << "write " << writes << ": " << problem.warnings.front();
      }
      if (!failed) {
        EXPECT_EQ(found, reference);
      }
      MPI_Barrier(MPI_COMM_WORLD);
    }
    EXPECT_GT(writes, culprit == 0 ? 10 : 4);
  }
}

TEST(Resume, AFullDiskIsToldByAllRanksAndHarmsNothing) {
  Case problem(MPI_COMM_WORLD);
  CheckpointOptions options = options_of("two_level", "tiered");
  options.interval = 0.0;
  const std::vector<double> reference = problem.run(options, false);
  int ranks = 1;
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  const int rank = rank_in(MPI_COMM_WORLD);
  const int stride = number_from_environment("DIFFSIM_WRITE_STRIDE", 101);
  bool failed = true;
  for (int write = 0; failed; write += stride) {
    // From the second round on, there is a checkpoint to keep.
    const bool resume = write > 0;
    if (resume) {
      EXPECT_TRUE(problem.stops(options, false, 25));
    }
    if (rank == write % ranks) problem.files.fail_after(write);
    failed = false;
    std::vector<double> found;
    try {
      found = problem.run(options, resume);
    } catch (const Error& error) {
      failed = true;
      EXPECT_EQ(error.kind(), ErrorKind::system) << error.what();
      EXPECT_NE(std::string(error.what()).find("resume/"), std::string::npos) << error.what();
      EXPECT_NE(std::string(error.what()).find("No space left"), std::string::npos) << error.what();
    }
    problem.files.fail_after(-1);
    int all = failed ? 1 : 0;
    MPI_Allreduce(MPI_IN_PLACE, &all, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    EXPECT_TRUE(all == 0 || all == ranks) << "write " << write;
    if (failed) found = problem.run(options, true);
    EXPECT_EQ(found, reference) << "write " << write;
    EXPECT_TRUE(problem.warnings.empty()) << "write " << write << ": " << problem.warnings.front();
    if (rank != write % ranks && !failed) break;
  }
}

/// A Hessian product takes as long as two gradients, and Newton's method needs many in succession. A sweep must
/// therefore be able to stop within a product.
TEST(Resume, AProductWithTheHessianIsStopped) {
  Case problem(MPI_COMM_WORLD);
  CheckpointDirectory::Options how;
  how.keep = true;
  const auto directory = std::make_shared<CheckpointDirectory>(MPI_COMM_WORLD, "resume", how);
  for (const int stop_at : {3, steps + 10}) {
    int polls = 0;
    SweepJournal journal(directory, RowOrder(problem.mesh->comm()), 1e9, [&] { return ++polls >= stop_at; });
    MemoryStore store;
    std::vector<Unknown> unknowns(1);
    unknowns[0].parameter = "youngs_modulus";
    InverseProblem inverse(
        problem.solver->model(), problem.solver->initial_state(), steps, problem.loss, unknowns,
        [](int n) { return std::make_unique<AllSchedule>(n); }, store);
    inverse.set_journal(&journal);
    const std::vector<double> direction(inverse.size(), 1.0);
    EXPECT_THROW((void)inverse.hessian_product(inverse.start(), direction), SweepStopped);
    EXPECT_EQ(polls, stop_at);
  }
  directory->remove_all();
}

TEST(Resume, ForeignAndNewerCheckpointsAreRefused) {
  const CheckpointOptions options = options_of("two_level", "tiered");
  Case problem(MPI_COMM_WORLD);
  EXPECT_TRUE(problem.stops(options, false, 50));
  const auto open_as = [&](const ProblemParts& parts) {
    CheckpointDirectory::Options how;
    how.keep = how.resume = true;
    how.problem = parts;
    const CheckpointDirectory directory(MPI_COMM_WORLD, "resume", how);
  };
  const auto message = [&](const ProblemParts& parts) -> std::string {
    try {
      open_as(parts);
    } catch (const Error& error) {
      EXPECT_EQ(error.kind(), ErrorKind::input);
      return error.what();
    }
    return "";
  };
  EXPECT_EQ(message({{"name", "resume_test"}}), "");
  EXPECT_NE(message({{"name", "other"}}).find("the checkpoint of another problem (name differs)"), std::string::npos);
  EXPECT_NE(message({{"name", "resume_test"}, {"mesh", "1"}}).find("mesh differs"), std::string::npos);
  // With other values of the parameters, the files of the old values are removed.
  problem.solver->parameters().at("density").field.fill(901.0);
  const std::vector<double> other = problem.run(options_of("all", "memory"), false, 0, false);
  EXPECT_EQ(problem.run(options, true), other);
}

}  // namespace
}  // namespace diffsim::resume_test
