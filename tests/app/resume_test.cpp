// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
//
// Tests of `gradient` and `invert` when they are stopped and resumed, and of their messages.

#include "adjoint/recording_loss.hpp"
#include "app/progress.hpp"
#include "app/runner_fixture.hpp"
#include "checkpoint/schedule.hpp"
#include "checkpoint/two_level_schedule.hpp"
#include "io/hdf5_file.hpp"

namespace diffsim::app::resume_test {
namespace {

class Resume : public RunnerTest {
 protected:
  std::string scene(const std::string& checkpoint, const std::string& stiffness = "2.0e4") const {
    return "mesh: {box: {size: [1, 0.3, 0.2], cells: [4, 2, 1]}}\n"
           "material: {model: neo_hookean, density: 900, youngs_modulus: " +
           stiffness +
           ", poisson_ratio: 0.35}\n"
           "solver: {dt: 0.004, steps: 60, substeps: 2}\n"
           "boundary: [{region: x_min, fix: [x, y, z]}]\n"
           "objective: {type: target_position, region: x_max, target: [0.98, 0.1, 0.1], step: last}\n"
           "parameters: [{name: youngs_modulus, per: cell, bounds: [1.0e4, 1.0e5]}, {name: gravity}]\n"
           "optimiser: {max_iterations: 6}\n"
           "checkpoint: {" +
           checkpoint + ", directory: " + path("checkpoints") + "}\n";
  }
  /// Returns history.csv without its column of seconds. Not collective.
  std::string history(const std::string& output) const {
    std::istringstream lines(read(output + "/history.csv"));
    std::string all;
    for (std::string line; std::getline(lines, line);) {
      std::istringstream words(line);
      std::string word;
      for (int column = 0; std::getline(words, word, ','); ++column)
        if (column != 4) all += word + ',';
      all += '\n';
    }
    return all;
  }
  bool kept() const { return std::filesystem::exists(path("checkpoints")); }  // not collective
};

TEST_F(Resume, GradientGoesOnWhereItWasStopped) {
  write("s.yaml", scene("schedule: two_level, every: 20, snapshots: 3, store: tiered"));
  EXPECT_EQ(run({"gradient", "s.yaml"}, "whole").code, 0);
  const Ran stopped = run({"gradient", "s.yaml", "--time-limit", "1e-9"}, "out");
  EXPECT_EQ(stopped.code, 3) << stopped.err;
  if (rank_ == 0) {
    EXPECT_NE(stopped.out.find("stopped at step 1"), std::string::npos) << stopped.out;
    EXPECT_EQ(stopped.err, "");
    EXPECT_TRUE(report("out").contains("stopped"));
    EXPECT_TRUE(kept());
  }
  MPI_Barrier(MPI_COMM_WORLD);
  const Ran resumed = run({"gradient", "s.yaml", "--resume"}, "out");
  EXPECT_EQ(resumed.code, 0) << resumed.err;
  if (rank_ == 0) {
    EXPECT_EQ(read("out/gradient.h5"), read("whole/gradient.h5"));
    EXPECT_EQ(resumed.err, "");
    EXPECT_FALSE(kept());
  }
  MPI_Barrier(MPI_COMM_WORLD);
}

TEST_F(Resume, AnotherProblemsCheckpointIsRefused) {
  write("s.yaml", scene("every: 20, store: hdf5"));
  EXPECT_EQ(run({"gradient", "s.yaml", "--time-limit", "1e-9"}, "out").code, 3);
  write("s.yaml", scene("every: 20, store: hdf5", "3.0e4"));
  for (const bool resume : {true, false}) {
    const Ran refused = run(resume ? std::vector<std::string>{"gradient", "s.yaml", "--resume"}
                                   : std::vector<std::string>{"gradient", "s.yaml"},
                            "out");
    EXPECT_EQ(refused.code, 2);
    if (rank_ == 0) {
      EXPECT_NE(refused.err.find("contains the checkpoint of another problem (material differs); give another "),
                std::string::npos)
          << refused.err;
    }
  }
}

TEST_F(Resume, SaysWhetherThereIsSomethingToGoOnFrom) {
  write("s.yaml", scene("every: 20, store: hdf5"));
  const Ran first = run({"gradient", "s.yaml", "--resume", "--time-limit", "1e-9"}, "out"),
            second = run({"gradient", "s.yaml", "--resume"}, "out");
  if (rank_ != 0) return;  // only rank 0 writes messages
  const std::string anew = "no checkpoint in '" + path("checkpoints") + "': the run starts from the beginning\n",
                    resuming = "resuming from the checkpoint in '" + path("checkpoints") + "'\n";
  EXPECT_NE(first.out.find(anew), std::string::npos) << first.out;
  EXPECT_EQ(first.out.find(resuming), std::string::npos) << first.out;
  EXPECT_NE(second.out.find(resuming), std::string::npos) << second.out;
  EXPECT_EQ(second.out.find(anew), std::string::npos) << second.out;
}

TEST_F(Resume, ATimeLimitIsATime) {
  for (const char* limit : {"0", "-1", "soon", "1e400", "10s"}) {
    const Ran ran = run({"gradient", "s.yaml", "--time-limit", limit}, "out");
    EXPECT_EQ(ran.code, 2);
    if (rank_ == 0) {
      EXPECT_EQ(ran.err, "diffsim: error: command line: --time-limit: '" + std::string(limit) +
                             "' is not a time; give a number of seconds above 0; see diffsim --help\n");
    }
  }
}

TEST_F(Resume, AFailedRunIsNotInTheWay) {
  // At 2.5 times the stable step the bar becomes unstable after some steps.
  std::string fails = scene("every: 2, store: hdf5, interval: 0");
  fails.replace(fails.find("dt: 0.004"), 9, "dt: 0.06");
  write("fails.yaml", fails);
  write("s.yaml", scene("every: 20, store: hdf5"));
  for (const bool resume : {false, true}) {
    const Ran ran = run(resume ? std::vector<std::string>{"gradient", "fails.yaml", "--resume"}
                               : std::vector<std::string>{"gradient", "fails.yaml"},
                        "out");
    EXPECT_EQ(ran.code, 1);
    if (rank_ == 0) {
      EXPECT_NE(ran.err.find("inverted or not finite"), std::string::npos) << ran.err;
      EXPECT_TRUE(kept());
    }
    MPI_Barrier(MPI_COMM_WORLD);
  }
  const Ran ran = run({"gradient", "s.yaml"}, "out");
  EXPECT_EQ(ran.code, 0) << ran.err;
  if (rank_ == 0) {
    EXPECT_NE(ran.err.find("a failed run of another problem (solver differs) in "), std::string::npos) << ran.err;
    EXPECT_FALSE(kept());
  }
  MPI_Barrier(MPI_COMM_WORLD);
}

TEST_F(Resume, ProductsWithTheHessianHaveAPlanOfTheirOwn) {
  // The memory suffices for every record of a gradient's sweep, but not for those of a product with the Hessian.
  measures_ = PlanMeasures{};
  std::string text = scene("memory: 1");
  text.replace(text.find("{max_iterations: 6}"), 19, "{method: newton_cg, max_iterations: 1}");
  const auto planned = [&](const std::string& budget) {
    std::string with = text;
    with.replace(with.find("memory: 1"), 9, "memory: " + budget);
    write("s.yaml", with);
    EXPECT_EQ(run({"invert", "s.yaml"}, "out").code, 1);  // the iterations did not suffice
    std::string found = rank_ == 0 ? read("out/report.json") : "";
    MPI_Barrier(MPI_COMM_WORLD);
    return nlohmann::json::parse(found, nullptr, false);
  };
  nlohmann::json plenty = planned("1GB");
  const auto all_of = [](const nlohmann::json& plan) {
    return plan["bytes"].get<std::int64_t>() + plan["beside_bytes"].get<std::int64_t>();
  };
  std::int64_t bytes = rank_ == 0 ? all_of(plenty["checkpoint"]["plan"]) : 0;
  MPI_Bcast(&bytes, 1, MPI_INT64_T, 0, MPI_COMM_WORLD);
  const nlohmann::json tight = planned(std::to_string(bytes));
  if (rank_ != 0) return;
  EXPECT_EQ(plenty["checkpoint"]["advances"].get<long>(), 0);
  const nlohmann::json& of_products = tight["checkpoint"]["plan_of_products"];
  EXPECT_EQ(tight["checkpoint"]["plan"]["recomputations"].get<long>(), 0);
  EXPECT_GT(of_products["recomputations"].get<long>(), 0);
  EXPECT_LE(all_of(of_products), bytes);
  EXPECT_GE(all_of(of_products), bytes * 8 / 10);
  EXPECT_EQ(tight["checkpoint"]["advances"].get<long>(),
            tight["hessian_products"].get<long>() * of_products["recomputations"].get<long>());
}

TEST_F(Resume, APlannedSweepOnADiskGoesOnByAnotherPlan) {
  const auto planned = [&](std::int64_t budget) {
    // The disk has space for about 13 states.
    std::string text = scene("memory: " + std::to_string(budget) + ", store: tiered, disk: 250 kB, interval: 0");
    text.replace(text.find("cells: [4, 2, 1]"), 16, "cells: [12, 6, 3]");
    write("s.yaml", text);
  };
  measures_ = PlanMeasures{0, 0.01, 0.01};
  planned(std::int64_t{1} << 40);
  ASSERT_EQ(run({"gradient", "s.yaml"}, "plenty").code, 0);
  std::int64_t beside = rank_ == 0 ? report("plenty")["checkpoint"]["plan"]["beside_bytes"].get<std::int64_t>() : 0;
  MPI_Bcast(&beside, 1, MPI_INT64_T, 0, MPI_COMM_WORLD);
  planned(beside + 100'000 + 30'000 * (ranks_ - 1));  // a few states, and the schedule's tables on each rank
  const Ran whole = run({"gradient", "s.yaml"}, "whole");
  ASSERT_EQ(whole.code, 0) << whole.err;
  if (rank_ == 0) {
    const nlohmann::json found = report("whole")["checkpoint"], plan = found["plan"];
    EXPECT_EQ(found["schedule"], "planned");
    EXPECT_GT(plan["disk_snapshots"].get<int>(), 0) << whole.out;
    EXPECT_EQ(found["advances"].get<long>(), plan["recomputations"].get<long>());
    EXPECT_GT(plan["writes"].get<long>(), 0);
    EXPECT_GT(found["bytes_written"].get<long>(), 0);
    EXPECT_NEAR(plan["ratio"].get<double>(),
                1.0 + (found["advances"].get<double>() + 0.01 * plan["writes"].get<double>() +
                       0.01 * plan["reads"].get<double>()) /
                          60,
                1e-12);
  }
  // Measurements after a resumption may differ, and therefore the schedule.
  std::string limit = "1e-9";
  int stops = 0;
  Ran ran;
  do {
    measures_ = stops % 2 == 0 ? PlanMeasures{0, 0.01, 0.01} : PlanMeasures{0, 1e4, 1e4};
    ran = run({"gradient", "s.yaml", "--resume", "--time-limit", limit}, "out");
    limit = std::to_string(0.02 * ++stops);
  } while (ran.code == 3 && stops < 100);
  EXPECT_EQ(ran.code, 0) << ran.err;
  EXPECT_GT(stops, 1);
  if (rank_ == 0) {
    EXPECT_EQ(read("out/gradient.h5"), read("whole/gradient.h5"));
    EXPECT_FALSE(kept());
  }
  MPI_Barrier(MPI_COMM_WORLD);
}

TEST_F(Resume, LevelsLeaveNothing) {
  write("s.yaml",
        scene("levels: [{snapshots: 2}, {snapshots: 3, write: 1, read: 1}, {snapshots: 9, write: 2, read: 1}]"));
  for (const char* command : {"gradient", "check"}) {
    (void)run({command, "s.yaml"}, "out");
    MPI_Barrier(MPI_COMM_WORLD);
    EXPECT_FALSE(kept()) << command;
    MPI_Barrier(MPI_COMM_WORLD);
  }
}

TEST_F(Resume, AnInversionIsReplayedToWhereItWas) {
  write("s.yaml", scene("snapshots: 5, interval: 0"));
  ASSERT_EQ(run({"invert", "s.yaml"}, "whole").code, 1);  // the iterations did not suffice
  int stops = 0;
  double limit = 0.0;
  Ran ran;
  do {
    // The first run stops almost immediately. Later runs have increasing time limits.
    ran = run({"invert", "s.yaml", "--resume", "--time-limit", std::to_string(limit += 0.05)}, "out");
    ++stops;
  } while (ran.code == 3 && stops < 200);
  EXPECT_EQ(ran.code, 1) << ran.err;
  EXPECT_GT(stops, 1);
  if (rank_ != 0) return;
  EXPECT_EQ(read("out/parameters.h5"), read("whole/parameters.h5"));
  EXPECT_EQ(report("out")["loss"], report("whole")["loss"]);
  EXPECT_EQ(report("out")["evaluations"], report("whole")["evaluations"]);
  EXPECT_EQ(history("out"), history("whole"));
  EXPECT_GT(report("out")["checkpoint"]["evaluations_replayed"].get<int>(), 0);
  EXPECT_FALSE(kept());
}

class OptimiserResume : public Resume, public testing::WithParamInterface<const char*> {};

TEST_P(OptimiserResume, GoesOnToTheSameBits) {
  // Products with the Hessian have separate sweeps in the same directory.
  std::string text = scene("schedule: two_level, every: 20, snapshots: 3, store: tiered, interval: 0");
  text.replace(text.find("{max_iterations: 6}"), 19, std::string("{method: ") + GetParam() + ", max_iterations: 1}");
  write("s.yaml", text);
  ASSERT_EQ(run({"invert", "s.yaml"}, "whole").code, 1);  // the iterations did not suffice
  Ran ran;
  int stops = 0;
  double limit = 0.02;
  do {
    // Each run completes a small part of the whole, on a machine of any speed, so that the last run has evaluations to
    // replay.
    ran = run({"invert", "s.yaml", "--resume", "--time-limit", std::to_string(limit *= 1.25)}, "out");
    ++stops;
  } while (ran.code == 3 && stops < 60);
  EXPECT_EQ(ran.code, 1) << ran.err;
  EXPECT_GT(stops, 1);
  if (rank_ != 0) return;
  EXPECT_EQ(ran.err, "");
  EXPECT_EQ(read("out/parameters.h5"), read("whole/parameters.h5"));
  EXPECT_EQ(history("out"), history("whole"));
  EXPECT_GT(report("out")["checkpoint"]["evaluations_replayed"].get<int>(), 0);
}

INSTANTIATE_TEST_SUITE_P(Methods, OptimiserResume, testing::Values("adam", "newton_cg"));

TEST_F(Resume, AMapsFactorsGoOnToTheSameBits) {
  // Factors of modes are unknowns that all ranks share and that belong to no group of entries.
  std::string text = scene("snapshots: 5, interval: 0");
  const std::string parameters = "[{name: youngs_modulus, per: cell, bounds: [1.0e4, 1.0e5]}, {name: gravity}]";
  text.replace(text.find(parameters), parameters.size(),
               "{name: youngs_modulus, map: {file: modes.h5, dataset: /modes}}");
  write("s.yaml", text);
  {
    Hdf5File file = Hdf5File::create(MPI_COMM_WORLD, path("modes.h5"), "modes", 1);
    std::vector<double> modes(2 * 48, 0.1);
    for (std::size_t i = 0; i < 48; ++i) modes[48 + i] = 0.01 * static_cast<double>(i % 7);
    file.write_array<double>("/modes", modes, {2, 48});
    file.publish();
  }
  const Ran whole = run({"invert", "s.yaml"}, "whole");
  ASSERT_EQ(whole.code, 1) << whole.err;  // the iterations did not suffice
  EXPECT_EQ(run({"invert", "s.yaml", "--resume", "--time-limit", "0.15"}, "out").code, 3);
  const Ran ran = run({"invert", "s.yaml", "--resume"}, "out");
  EXPECT_EQ(ran.code, whole.code) << ran.err;
  if (rank_ == 0) {
    EXPECT_EQ(read("out/parameters.h5"), read("whole/parameters.h5"));
  }
}

TEST_F(Resume, ReportsCountWhatASweepDid) {
  // Three segments of 20 steps: two are advanced and stored, then each is advanced and recorded with 3 snapshots.
  write("s.yaml", scene("schedule: two_level, every: 20, snapshots: 3, store: tiered"));
  ASSERT_EQ(run({"gradient", "s.yaml"}, "out").code, 0);
  if (rank_ != 0) return;
  const nlohmann::json found = report("out")["checkpoint"];
  const long inside = revolve_advances(20, 3);
  EXPECT_EQ(found["advances"].get<long>(), 40 + 3 * inside);
  EXPECT_EQ(found["recordings"].get<long>(), 60);
  TwoLevelSchedule schedule(60, 20, 3);
  long stores = 0, restores = 0;
  for (Action action = schedule.next(); action.kind != Action::Kind::done; action = schedule.next()) {
    stores += action.kind == Action::Kind::store;
    restores += action.kind == Action::Kind::restore;
  }
  EXPECT_EQ(found["stores"].get<long>(), stores);
  EXPECT_EQ(found["restores"].get<long>(), restores);
  EXPECT_EQ(found["steps_reversed"].get<long>(), 60);
  // At least two states of 30 vertices with six doubles each. Each state is stored with the loss so far, and a journal
  // may add to this.
  EXPECT_GE(found["bytes_written"].get<long>(), 2 * 30 * 6 * 8);
  EXPECT_GT(found["seconds_waiting"].get<double>(), 0.0);
  EXPECT_FALSE(report("out")["approximate"].get<bool>());
}

TEST(SweepProgress, KnowsTheScheduleOnTheWayBack) {
  // 10 steps of 1 s each, with reversals of 3 s each. The uniform schedule with `every` 4 takes 18 steps in total.
  UniformSchedule schedule(10, 4);
  Progress progress(Progress::Style::none, "gradient", "steps");
  SweepProgress sweep(progress, forecast(schedule, 10));
  for (int taken = 1; taken <= 10; ++taken) sweep.count(taken, -1, 1.0);
  EXPECT_DOUBLE_EQ(sweep.seconds_left(10, -1), 8.0 + 10.0);  // the duration of a reversal is not known yet
  sweep.count(10, 9, 3.0);
  sweep.count(10, 8, 3.0);
  EXPECT_DOUBLE_EQ(sweep.seconds_left(10, 8), 8.0 + 8 * 3.0);
  for (int taken = 11; taken <= 14; ++taken) sweep.count(taken, 8, 1.0);
  for (int n = 7; n >= 4; --n) sweep.count(14, n, 3.0);
  EXPECT_DOUBLE_EQ(sweep.seconds_left(14, 4), 4.0 + 4 * 3.0);
}

TEST(WatchedLoss, ForwardsEachFunction) {
  testing_adjoint::RecordingLoss target;
  Progress progress(Progress::Style::none, "check", "steps");
  WatchedLoss loss(target, progress, 2);
  testing_adjoint::expect_forwards(loss, target, 0);
}

}  // namespace
}  // namespace diffsim::app::resume_test
