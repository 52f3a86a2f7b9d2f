// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
//
// Tests of `simulate`: its messages, its log of steps, and runs that stop early.

#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <csignal>
#include <map>
#include <thread>

#include "app/yaml_value.hpp"
#include "io/hdf5_file.hpp"
#include "runner_fixture.hpp"

namespace diffsim::app::simulate_test {
namespace {

const std::string cube = "mesh: {box: {size: [0.1, 0.1, 0.1], cells: [2, 2, 2]}}\n";
const std::string rubber = "material: {model: neo_hookean, density: 1000, youngs_modulus: 1.0e5, poisson_ratio: 0.3}\n";

class Simulate : public RunnerTest {
 protected:
  template <typename T>
  std::vector<T> dataset(const std::string& file, const std::string& name) const {
    return Hdf5File::open(MPI_COMM_WORLD, path(file)).read_array<T>(name);
  }
  std::vector<std::int64_t> steps_of(const std::string& output) const {
    return dataset<std::int64_t>(output + "/trajectory.h5", "/step");
  }
  /// Returns the columns of a CSV file, by name. Not collective.
  std::map<std::string, std::vector<double>> table(const std::string& name) const {
    std::istringstream lines(read(name));
    std::map<std::string, std::vector<double>> columns;
    std::vector<std::string> names;
    std::string line, word;
    std::getline(lines, line);
    for (std::istringstream words(line); std::getline(words, word, ',');) names.push_back(word);
    while (std::getline(lines, line)) {
      std::istringstream words(line);
      for (const std::string& column : names) {
        std::getline(words, word, ',');
        columns[column].push_back(std::stod(word));
      }
    }
    return columns;
  }
};

TEST_F(Simulate, TellsTheDefaultsThatSlowAndPull) {
  const std::string solver = "solver: {dt: 0.0025, steps: 40, substeps: 2";
  const std::string thrown = cube + rubber + "initial: {velocity: [1, 0, 0]}\n";
  write("both.yaml", thrown + solver + "}\n");
  Ran ran = run({"simulate", "both.yaml"}, "out");
  EXPECT_EQ(ran.code, 0) << ran.err;
  if (rank_ == 0) {
    EXPECT_EQ(ran.err, "");
    EXPECT_EQ(ran.out.find("defaults: solver.damping: 0.99 per substep (over the run of 80 substeps in 0.1 s, 1 m/s "
                           "decays to 0.448 m/s without forces); solver.gravity: [0, -9.8, 0] m/s²\n"),
              0u)
        << ran.out;
  }
  // The message agrees with the motion of a free body.
  const std::vector<double> v = dataset<double>("out/trajectory.h5", "/velocities");
  EXPECT_NEAR(v.at(v.size() - 3), 0.448, 0.0005);

  write("damping.yaml", thrown + solver + ", damping: 1}\n");
  write("neither.yaml", thrown + solver + ", damping: 1, gravity: [0, 0, 0]}\n");
  write("implicit.yaml", thrown + "solver: {integrator: implicit_euler, dt: 0.01, steps: 1}\n");
  for (const char* name : {"damping", "implicit"}) {
    ran = run({"simulate", std::string(name) + ".yaml"}, "out");
    EXPECT_EQ(ran.out.find("defaults: solver.gravity: [0, -9.8, 0] m/s²\n"), rank_ == 0 ? 0u : ran.out.npos) << ran.out;
  }
  ran = run({"simulate", "neither.yaml"}, "out");
  EXPECT_EQ(ran.out.find("defaults:"), ran.out.npos) << ran.out;
}

TEST_F(Simulate, TellsOfDampingThatAnIntegratorHasNot) {
  const std::string scene = cube + rubber + "solver: {dt: 0.001, steps: 2, gravity: [0, 0, 0], integrator: ";
  write("verlet.yaml", scene + "velocity_verlet, damping: 0.9}\n");
  Ran ran = run({"simulate", "verlet.yaml"}, "out");
  EXPECT_EQ(ran.code, 0) << ran.err;
  if (rank_ == 0) {
    EXPECT_NE(ran.err.find("solver.damping has no effect with integrator: velocity_verlet"), ran.err.npos) << ran.err;
    EXPECT_EQ(ran.out.find("defaults:"), ran.out.npos) << ran.out;
  }
  write("midpoint.yaml", scene + "runge_kutta_2}\n");
  ran = run({"simulate", "midpoint.yaml"}, "out");
  EXPECT_EQ(ran.code, 0) << ran.err;
  if (rank_ == 0) {
    EXPECT_NE(ran.err.find("runge_kutta_2 is unstable for undamped oscillations"), ran.err.npos) << ran.err;
  }
}

TEST_F(Simulate, WritesTheLastState) {
  const auto steps = [&](int count, int every) {
    write("s.yaml", cube + rubber + "solver: {dt: 0.002, gravity: [0, -9.8, 0], damping: 1, steps: " +
                        std::to_string(count) + "}\noutput: {every: " + std::to_string(every) + "}\n");
    const Ran ran = run({"simulate", "s.yaml"}, "every" + std::to_string(every));
    EXPECT_EQ(ran.code, 0) << ran.err;
    return steps_of("every" + std::to_string(every));
  };
  using Steps = std::vector<std::int64_t>;
  EXPECT_EQ(steps(3, 10), (Steps{0, 3}));
  EXPECT_EQ(steps(4, 2), (Steps{0, 2, 4}));
  EXPECT_EQ(steps(5, 1), (Steps{0, 1, 2, 3, 4, 5}));
  EXPECT_EQ(steps(5, 2), (Steps{0, 2, 4, 5}));
  const auto last = [&](const std::string& output) {
    const std::vector<double> all = dataset<double>(output + "/trajectory.h5", "/positions");
    return std::vector<double>(all.end() - 3 * 27, all.end());
  };
  EXPECT_EQ(last("every2"), last("every1"));
}

/// Returns a scene with a cube that falls onto the floor, 3 mm below.
std::string fall(const std::string& solver, const std::string& velocity, const std::string& output = "{}") {
  return cube + rubber + "solver: {gravity: [0, -9.8, 0], " + solver + "}\ninitial: {velocity: [0, " + velocity +
         ", 0]}\n"
         "contact: {barrier_distance: 2.0e-3, barrier_stiffness: 3.0e3, obstacles: [{plane: {point: [0, -0.003, 0], "
         "normal: [0, 1, 0]}}]}\n"
         "output: " +
         output + "\n";
}

TEST_F(Simulate, LogsWhatEachStepTook) {
  write("implicit.yaml",
        fall("integrator: implicit_euler, dt: 0.005, steps: 12", "-0.3", "{every: 5, log: steps.csv}"));
  const Ran ran = run({"simulate", "implicit.yaml"}, "out");
  ASSERT_EQ(ran.code, 0) << ran.err;
  write("explicit.yaml", fall("dt: 0.001, steps: 3, damping: 1", "-0.3", "{log: steps.csv}"));
  ASSERT_EQ(run({"simulate", "explicit.yaml"}, "explicit").code, 0);
  if (rank_ != 0) return;
  EXPECT_NE(ran.out.find("out/steps.csv, "), ran.out.npos) << ran.out;
  const auto columns = table("out/steps.csv");
  ASSERT_EQ(columns.size(), 13u);
  for (const auto& [name, values] : columns) ASSERT_EQ(values.size(), 13u) << name;
  for (int n = 0; n <= 12; ++n) {
    const auto row = static_cast<std::size_t>(n);
    EXPECT_EQ(columns.at("step")[row], n);
    EXPECT_NEAR(columns.at("time")[row], 0.005 * n, 1e-15);
    EXPECT_GE(columns.at("newton_iterations")[row], n > 0 ? 1.0 : 0.0) << n;
    EXPECT_LE(columns.at("newton_residual")[row], 1e-10) << n;
  }
  const nlohmann::json report = this->report("out");
  for (const char* name :
       {"newton_iterations", "linear_iterations", "projections", "cuts", "obstructions", "reductions", "held_rounds"}) {
    const std::vector<double>& counts = columns.at(name);
    EXPECT_EQ(counts[0], 0.0) << name;
    double sum = 0.0;
    for (const double count : counts) sum += count;
    EXPECT_EQ(sum, report["implicit"][name].get<double>()) << name;
  }
  const std::vector<double>&distance = columns.at("min_distance"), &pairs = columns.at("active_pairs");
  EXPECT_EQ(*std::min_element(distance.begin(), distance.end()), report["contact"]["min_distance"].get<double>());
  EXPECT_EQ(*std::max_element(pairs.begin(), pairs.end()), report["contact"]["active_pairs"].get<double>());
  EXPECT_NEAR(distance[0], 0.003, 1e-15);
  EXPECT_EQ(read("explicit/steps.csv").find("step,time,min_distance,active_pairs,intersections\n0,0,0.003"), 0u)
      << read("explicit/steps.csv");
  EXPECT_EQ(table("explicit/steps.csv").at("step").size(), 4u);
}

TEST_F(Simulate, ALogIsATableInTheOutputFolder) {
  for (const char* name : {"../steps.csv", "report.json", "logs/"}) {
    write("s.yaml", fall("steps: 1", "0", std::string("{log: ") + name + "}"));
    const Ran ran = run({"simulate", "s.yaml"}, "out");
    EXPECT_EQ(ran.code, 2);
    if (rank_ == 0) {
      EXPECT_NE(ran.err.find("output.log: '" + std::string(name) +
                             "' is not the name of a table in the output folder; give one such as steps.csv"),
                ran.err.npos)
          << ran.err;
    }
  }
}

TEST_F(Simulate, AnUnstableStepIsToldBeforeContactIsBlamed) {
  // Oscillations about the rest shape are stable below 1.7 ms. The cube falls by 3.5 mm in a substep of 10 ms.
  const auto simulate = [&](const std::string& solver, const std::string& velocity) {
    write("s.yaml", fall(solver + ", steps: 1, damping: 1", velocity));
    return run({"simulate", "s.yaml"}, "out");
  };
  const Ran unstable = simulate("dt: 0.02, substeps: 2", "-0.25");
  EXPECT_EQ(unstable.code, 1);
  std::string advice;
  if (rank_ == 0) {
    const std::size_t exceeds = unstable.err.find("the substep, dt/substeps = 0.01 s, exceeds 0.00");
    const std::size_t contact = unstable.err.find("; a contact would be passed through");
    EXPECT_LT(exceeds, contact) << unstable.err;
    EXPECT_NE(contact, unstable.err.npos) << unstable.err;
    EXPECT_EQ(unstable.err.find("barrier_stiffness"), unstable.err.npos) << unstable.err;
    const std::size_t use = unstable.err.find("; use dt: ");
    ASSERT_NE(use, unstable.err.npos) << unstable.err;
    advice = unstable.err.substr(use + 6, unstable.err.find(',', use) - use - 6);
  }
  // The advised step is stable.
  advice.resize(32);
  MPI_Bcast(advice.data(), 32, MPI_CHAR, 0, MPI_COMM_WORLD);
  const Ran stable = simulate(std::string(advice.c_str()) + ", substeps: 2", "-0.25");
  EXPECT_EQ(stable.code, 0) << stable.err;
  EXPECT_EQ(stable.err, "");
  // At a stable step, a motion that is too fast is reported as a problem of contact.
  const Ran fast = simulate("dt: 0.002, substeps: 2", "-90");
  EXPECT_EQ(fast.code, 1);
  if (rank_ == 0) {
    EXPECT_NE(fast.err.find("step 0, substep 0: a contact would be passed through"), fast.err.npos) << fast.err;
    EXPECT_EQ(fast.err.find("exceeds"), fast.err.npos) << fast.err;
  }
}

class StoppedSimulation : public Simulate {
 protected:
  static constexpr int far = 100'000'000;
  void SetUp() override {
    Simulate::SetUp();
    write("s.yaml", fall("dt: 0.001, damping: 1, steps: " + std::to_string(far), "0",
                         "{every: " + std::to_string(far) + ", log: steps.csv}"));
  }
  void expect_ended(const Ran& ran, const std::string& cause) {
    EXPECT_EQ(ran.code, 1) << ran.err;
    const std::vector<std::int64_t> steps = steps_of("out");
    ASSERT_EQ(steps.size(), 2u);
    EXPECT_GT(steps[1], 0);
    EXPECT_LT(steps[1], far);
    EXPECT_EQ(
        std::get<std::int64_t>(*Hdf5File::open(MPI_COMM_WORLD, path("out/trajectory.h5")).attribute("/", "complete")),
        0);
    if (rank_ != 0) return;
    EXPECT_EQ(ran.err, "");
    const std::string stopped = "stopped at step " + std::to_string(steps[1]) + " of 100000000 by " + cause;
    EXPECT_NE(ran.out.find(stopped + ": " + path("out/trajectory.h5") + " contains the completed steps. To continue, "),
              ran.out.npos)
        << ran.out;
    const nlohmann::json report = this->report("out");
    EXPECT_EQ(report["stopped"], stopped);
    EXPECT_EQ(report["steps_done"], steps[1]);
    EXPECT_EQ(report["converged"], false);
    EXPECT_TRUE(report["loss"].is_null());
    EXPECT_EQ(table("out/steps.csv").at("step").back(), static_cast<double>(steps[1]));
    EXPECT_TRUE(std::filesystem::exists(path("out/trajectory.xdmf")));
    for (const auto& entry : std::filesystem::directory_iterator(path("out")))
      EXPECT_NE(entry.path().extension(), ".partial") << entry.path();
  }
};

class StoppedBySignal : public StoppedSimulation, public testing::WithParamInterface<std::pair<int, const char*>> {};

TEST_P(StoppedBySignal, EndsInFilesThatCanBeRead) {
  const int number = GetParam().first;
  // One rank receives the signal once its handler is installed and several steps are done.
  std::thread sender([&] {
    if (rank_ != ranks_ - 1) return;
    const std::filesystem::path log = path("out/steps.csv");
    struct sigaction now = {};
    std::error_code code;
    do {
      std::this_thread::sleep_for(std::chrono::milliseconds(5));
      sigaction(number, nullptr, &now);
    } while (now.sa_handler == SIG_DFL || !std::filesystem::exists(log, code) ||
             std::filesystem::file_size(log, code) < 200);
    kill(getpid(), number);
  });
  const Ran ran = run({"simulate", "s.yaml"}, "out");
  sender.join();
  expect_ended(ran, GetParam().second);
  struct sigaction after = {};
  sigaction(number, nullptr, &after);
  EXPECT_EQ(after.sa_handler, SIG_DFL);
}

INSTANTIATE_TEST_SUITE_P(Signals, StoppedBySignal,
                         testing::Values(std::pair(SIGINT, "SIGINT"), std::pair(SIGTERM, "SIGTERM"),
                                         std::pair(SIGUSR1, "SIGUSR1")));

TEST_F(StoppedSimulation, ByItsTimeLimit) {
  expect_ended(run({"simulate", "s.yaml", "--time-limit", "0.5"}, "out"), "the time limit");
  const std::int64_t first = steps_of("out").back();
  // The table of a resumed run begins with the rows of the stopped run.
  EXPECT_EQ(run({"simulate", "s.yaml", "--time-limit", "0.5", "--resume"}, "out").code, 1);
  const std::int64_t last = steps_of("out").back();
  EXPECT_GT(last, first);
  if (rank_ != 0) return;
  const std::vector<double> steps = table("out/steps.csv").at("step");
  ASSERT_EQ(steps.size(), static_cast<std::size_t>(last + 1));
  for (std::size_t n = 0; n < steps.size(); ++n) ASSERT_EQ(steps[n], static_cast<double>(n));
}

TEST_F(Simulate, GoesOnFromAFrame) {
  const auto scene = [&](int steps, const std::string& initial) {
    return cube + rubber +
           "boundary: [{region: x_min, fix: [x, y, z]}]\nsolver: {dt: 0.002, gravity: [0, -9.8, 0], steps: " +
           std::to_string(steps) + "}\ninitial: " + initial + "\n";
  };
  write("whole.yaml", scene(30, "{velocity: [0, 0, 0.2]}"));
  write("first.yaml", scene(20, "{velocity: [0, 0, 0.2]}"));
  write("rest.yaml", scene(10,
                           "{displacement: {file: last.h5, dataset: /displacement}, velocity: {file: last.h5, dataset: "
                           "/velocity}}"));
  ASSERT_EQ(run({"simulate", "whole.yaml"}, "whole").code, 0);
  ASSERT_EQ(run({"simulate", "first.yaml"}, "first").code, 0);
  // The second run begins with the last frame, as described in docs/scenes.md.
  const auto last = [&](const std::string& output, const std::string& name) {
    const std::vector<double> all = dataset<double>(output + "/trajectory.h5", name);
    return std::vector<double>(all.end() - 3 * 27, all.end());
  };
  std::vector<double> displacement = last("first", "/positions");
  const std::vector<double> rest = dataset<double>("first/trajectory.h5", "/mesh/vertices");
  for (std::size_t i = 0; i < rest.size(); ++i) displacement[i] -= rest[i];
  {
    Hdf5File file = Hdf5File::create(MPI_COMM_WORLD, path("last.h5"), "frame", 1);
    file.write_array("/displacement", displacement, {27, 3});
    file.write_array("/velocity", last("first", "/velocities"), {27, 3});
    file.publish();
  }
  const Ran ran = run({"simulate", "rest.yaml"}, "rest");
  ASSERT_EQ(ran.code, 0) << ran.err;
  for (const char* name : {"/positions", "/velocities"}) {
    const std::vector<double> whole = last("whole", name), parts = last("rest", name);
    for (std::size_t i = 0; i < whole.size(); ++i) EXPECT_NEAR(parts[i], whole[i], 1e-12) << name;
  }
}

TEST_F(Simulate, BeginsAtAFrameOfAnotherRun) {
  const std::string scene = cube + rubber +
                            "boundary:\n- {region: x_min, fix: [x, y, z]}\n"
                            "- {region: x_max, move: {axis: [1, 0, 0], origin: [0, 0.05, 0.05], angular_velocity: 2, "
                            "velocity: [0.1, 0, 0]}}\nsolver: {dt: 0.002, gravity: [0, -9.8, 0], steps: 30}\n";
  write("whole.yaml", scene + "output: {every: 10}\n");
  write("rest.yaml", scene + "initial: {from: whole/trajectory.h5, step: 20}\noutput: {every: 15}\n");
  ASSERT_EQ(run({"simulate", "whole.yaml"}, "whole").code, 0);
  const Ran ran = run({"simulate", "rest.yaml"}, "rest");
  ASSERT_EQ(ran.code, 0) << ran.err;
  EXPECT_EQ(steps_of("rest"), (std::vector<std::int64_t>{20, 30}));
  for (const char* name : {"/positions", "/velocities"}) {
    const std::vector<double> whole = dataset<double>("whole/trajectory.h5", name),
                              rest = dataset<double>("rest/trajectory.h5", name);
    EXPECT_EQ(std::vector<double>(whole.end() - 3 * 27, whole.end()),
              std::vector<double>(rest.end() - 3 * 27, rest.end()))
        << name;
  }
  const auto refused = [&](const std::string& initial, const std::string& what) {
    write("bad.yaml", scene + "initial: " + initial + "\n");
    const Ran bad = run({"simulate", "bad.yaml"}, "bad");
    EXPECT_EQ(bad.code, 2) << initial;
    if (rank_ == 0) {
      EXPECT_NE(bad.err.find(what), bad.err.npos) << bad.err;
    }
  };
  refused("{from: whole/trajectory.h5, step: 14}", "there is no frame of step 14; the nearest are of step 10 and 20");
  refused("{from: whole/trajectory.h5, velocity: [1, 0, 0]}", "initial.velocity: cannot be combined with `from`");
  refused("{step: 3}", "initial.step: needs `from`");
}

TEST_F(Simulate, ResumesAStoppedRun) {
  const auto scene = [&](const std::string& more) {
    return cube + rubber +
           "boundary: [{region: x_min, fix: [x, y, z]}]\nsolver: {dt: 0.0005, integrator: newmark, "
           "gravity: [0, -9.8, 0], steps: 60}\noutput: {every: 4, fields: [positions, velocities, accelerations]}\n" +
           more;
  };
  write("s.yaml", scene(""));
  ASSERT_EQ(run({"simulate", "s.yaml"}, "whole").code, 0);
  // Resumes with increasing time limits until a run reaches the end.
  Ran ran = run({"simulate", "s.yaml", "--time-limit", "0.001"}, "out");
  EXPECT_EQ(ran.code, 1) << ran.err;
  for (int tries = 0; ran.code == 1 && tries < 20; ++tries)
    ran = run({"simulate", "s.yaml", "--resume", "--time-limit", std::to_string(0.03 * (1 << tries))}, "out");
  EXPECT_EQ(ran.code, 0) << ran.err;
  if (rank_ == 0) {
    EXPECT_NE(ran.out.find("continuing from step "), ran.out.npos) << ran.out;
  }
  EXPECT_EQ(steps_of("out"), steps_of("whole"));
  for (const char* name : {"/positions", "/velocities", "/accelerations", "/time"}) {
    const std::vector<double> whole = dataset<double>("whole/trajectory.h5", name),
                              parts = dataset<double>("out/trajectory.h5", name);
    double size = 0.0;
    for (const double x : whole) size = std::max(size, std::abs(x));
    ASSERT_EQ(parts.size(), whole.size()) << name;
    for (std::size_t i = 0; i < whole.size(); ++i) EXPECT_NEAR(parts[i], whole[i], 1e-9 * size) << name;
  }
  ran = run({"simulate", "s.yaml", "--resume"}, "out");
  if (rank_ == 0) {
    EXPECT_NE(ran.out.find("is complete: it is run again"), ran.out.npos) << ran.out;
  }
  // A changed scene is refused; sections without effect on the run may change.
  EXPECT_EQ(run({"simulate", "s.yaml", "--time-limit", "0.001"}, "out").code, 1);
  write("s.yaml", scene("objective: [{type: target_position, region: all, target: [0, 0, 0]}]\n"));
  EXPECT_EQ(run({"simulate", "s.yaml", "--time-limit", "0.001", "--resume"}, "out").code, 1);
  write("s.yaml", scene("initial: {velocity: [0, 1, 0]}\n"));
  ran = run({"simulate", "s.yaml", "--resume"}, "out");
  EXPECT_EQ(ran.code, 2);
  if (rank_ == 0) {
    EXPECT_NE(ran.err.find("/trajectory.h5' is the trajectory of another scene (initial differs)"), ran.err.npos)
        << ran.err;
  }
}

TEST_F(Simulate, ResumesFromTheSameInitialTrajectoryOnly) {
  const auto scene = [&](const std::string& initial) {
    return cube + rubber +
           "boundary: [{region: x_min, fix: [x, y, z]}]\nsolver: {dt: 0.0005, steps: 20}\n"
           "output: {every: 10, fields: [positions, velocities]}\ninitial: " +
           initial + "\n";
  };
  write("before.yaml", scene("{velocity: [0, 0.1, 0]}"));
  ASSERT_EQ(run({"simulate", "before.yaml"}, "before").code, 0);
  write("s.yaml", scene("{from: before/trajectory.h5, step: 0}"));
  ASSERT_EQ(run({"simulate", "s.yaml", "--time-limit", "0.001"}, "out").code, 1);
  write("before.yaml", scene("{velocity: [0, 0.2, 0]}"));
  ASSERT_EQ(run({"simulate", "before.yaml"}, "before").code, 0);
  const Ran ran = run({"simulate", "s.yaml", "--resume"}, "out");
  EXPECT_EQ(ran.code, 2);
  if (rank_ == 0) {
    EXPECT_NE(ran.err.find("is the trajectory of another scene (initial differs)"), ran.err.npos) << ran.err;
  }
}

}  // namespace
}  // namespace diffsim::app::simulate_test
