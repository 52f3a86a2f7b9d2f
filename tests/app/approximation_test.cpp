// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
//
// Approximate gradients: every result states that it is an approximation, and how large the error is.

#include "app/runner_fixture.hpp"
#include "io/hdf5_file.hpp"

namespace diffsim::app::approximation_test {
namespace {

class Approximation : public RunnerTest {
 protected:
  std::string scene(const std::string& checkpoint, const std::string& more = "",
                    const std::string& solver = "dt: 0.004, steps: 60, substeps: 2") const {
    return "mesh: {box: {size: [1, 0.3, 0.2], cells: [4, 2, 1]}}\n"
           "material: {model: neo_hookean, density: 900, youngs_modulus: 2.0e4, poisson_ratio: 0.35}\n"
           "solver: {" +
           solver +
           "}\n"
           "boundary: [{region: x_min, fix: [x, y, z]}]\n"
           "objective: {type: target_position, region: x_max, target: [0.98, 0.1, 0.1], step: last}\n"
           "parameters: [{name: youngs_modulus, per: cell, bounds: [1.0e4, 1.0e5]}, {name: gravity}" +
           more +
           "]\n"
           "optimiser: {max_iterations: 2}\n"
           "checkpoint: {" +
           checkpoint + ", directory: " + path("checkpoints") + "}\n";
  }
  /// Checks the attributes of a result. Collective.
  void expect_label(const std::string& file, const std::string& part) {
    const Hdf5File result = Hdf5File::open(MPI_COMM_WORLD, path(file));
    EXPECT_EQ(result.attribute("/", "approximate"), AttributeValue(std::int64_t{!part.empty()})) << file;
    const auto text = result.attribute("/", "approximation");
    EXPECT_EQ(text.has_value(), !part.empty());
    if (text) {
      EXPECT_NE(std::get<std::string>(*text).find(part), std::string::npos) << file;
    }
  }
};

TEST_F(Approximation, EveryResultSaysSo) {
  write("s.yaml", scene("last: 20, every: 5, measure_error: true"));
  const std::string what = "that of the last 20 of 60 steps only";
  const Ran gradient = run({"gradient", "s.yaml"}, "gradient");
  EXPECT_EQ(gradient.code, 0) << gradient.err;
  expect_label("gradient/gradient.h5", what);
  const Ran invert = run({"invert", "s.yaml"}, "invert");
  EXPECT_EQ(invert.code, 1) << invert.err;  // the iterations did not suffice
  expect_label("invert/parameters.h5", what);
  const Ran check = run({"check", "s.yaml"}, "check");
  EXPECT_EQ(check.code, 0) << check.err << check.out;  // the check uses the exact gradient
  if (rank_ != 0) return;
  EXPECT_NE(gradient.out.find("APPROXIMATE: the gradient is " + what), std::string::npos) << gradient.out;
  EXPECT_NE(gradient.out.find("; relative error of the gradient: "), std::string::npos) << gradient.out;
  EXPECT_NE(invert.out.find("APPROXIMATE: the gradient is " + what), std::string::npos) << invert.out;
  EXPECT_NE(check.out.find(what), std::string::npos) << check.out;
  for (const char* output : {"gradient", "invert", "check"}) {
    EXPECT_TRUE(report(output)["approximate"].get<bool>()) << output;
    EXPECT_NE(report(output)["approximation"].get<std::string>().find(what), std::string::npos) << output;
  }
  EXPECT_EQ(report("gradient")["checkpoint"]["steps_reversed"].get<int>(), 20);
  const double error = report("gradient")["checkpoint"]["gradient_error"].get<double>();
  EXPECT_GT(error, 1e-3);
  EXPECT_LT(error, 2.0);
  EXPECT_NEAR(report("check")["checkpoint"]["gradient_error"].get<double>(), error, 1e-9 * error);
}

TEST_F(Approximation, WhatIsExactSaysSo) {
  write("s.yaml", scene("last: 60, store: hdf5, compression: deflate, every: 20"));
  EXPECT_EQ(run({"gradient", "s.yaml"}, "compressed").code, 0);
  write("t.yaml", scene("every: 20"));
  EXPECT_EQ(run({"gradient", "t.yaml"}, "plain").code, 0);
  expect_label("plain/gradient.h5", "");
  if (rank_ != 0) return;
  EXPECT_EQ(read("compressed/gradient.h5"), read("plain/gradient.h5"));
  EXPECT_FALSE(report("compressed")["approximate"].get<bool>());
  EXPECT_FALSE(report("compressed").contains("approximation"));
}

TEST_F(Approximation, FloatSnapshotsTellTheirError) {
  write("s.yaml", scene("every: 20, store: hdf5, precision: single, compression: deflate, measure_error: true"));
  EXPECT_EQ(run({"check", "s.yaml"}, "check").code, 0);
  EXPECT_EQ(run({"gradient", "s.yaml"}, "gradient").code, 0);
  expect_label("gradient/gradient.h5", "rounded to float32");
  write("m.yaml", scene("every: 20, store: memory, precision: single, measure_error: true"));
  EXPECT_EQ(run({"gradient", "m.yaml"}, "memory").code, 0);
  expect_label("memory/gradient.h5", "rounded to float32");
  if (rank_ != 0) return;
  EXPECT_EQ(read("memory/gradient.h5"), read("gradient/gradient.h5"));
  for (const char* output : {"check", "gradient", "memory"}) {
    const double error = report(output)["checkpoint"]["gradient_error"].get<double>();
    EXPECT_GT(error, 1e-12) << output;
    EXPECT_LT(error, 1e-4) << output;
    EXPECT_TRUE(report(output)["approximate"].get<bool>());
  }
}

TEST_F(Approximation, AnInterruptedOneIsNotMixedWithAnother) {
  write("s.yaml", scene("last: 40, every: 10, store: hdf5"));
  EXPECT_EQ(run({"gradient", "s.yaml", "--time-limit", "1e-9"}, "out").code, 3);
  if (rank_ == 0) {
    EXPECT_TRUE(report("out")["approximate"].get<bool>());
  }
  for (const char* other : {"last: 30, every: 10, store: hdf5", "every: 10, store: hdf5"}) {
    write("t.yaml", scene(other));
    const Ran refused = run({"gradient", "t.yaml", "--resume"}, "other");
    EXPECT_EQ(refused.code, 2);
    if (rank_ == 0) {
      EXPECT_NE(refused.err.find("(checkpoint differs)"), std::string::npos) << refused.err;
    }
  }
  EXPECT_EQ(run({"gradient", "s.yaml", "--resume"}, "out").code, 0);
}

TEST_F(Approximation, WhatCannotBeIsRefusedByName) {
  const auto refused = [&](const std::string& text, const std::string& why) {
    write("s.yaml", text);
    const Ran ran = run({"gradient", "s.yaml"}, "out");
    EXPECT_EQ(ran.code, 2) << why;
    if (rank_ == 0) {
      EXPECT_NE(ran.err.find(why), std::string::npos) << ran.err;
    }
  };
  refused(scene("last: 20", ", {name: initial_velocities, per: vertex}"),
          "checkpoint: 'initial_velocities' acts through the initial state");
  refused(scene("last: 20, schedule: online, snapshots: 3"), "checkpoint.last: needs a schedule that knows");
  refused(scene("last: 0"), "checkpoint.last");
  std::string newton = scene("last: 20");
  newton.replace(newton.find("{max_iterations: 2}"), 19, "{method: newton_cg}");
  write("n.yaml", newton);
  EXPECT_EQ(run({"invert", "n.yaml"}, "out").code, 2);
  refused(scene("every: 5, compression: deflate"), "checkpoint.compression: applies only to snapshots in HDF5");
  refused(scene("every: 5, store: hdf5, compression: gzip"), "deflate");
  refused(scene("every: 5, lats: 3"), "last");
  refused(scene("schedule: reversible"), "steps with damping (0.99; 1 means no damping) cannot be reversed exactly");
  refused(scene("schedule: reversible", "", "dt: 0.004, steps: 60, integrator: bdf2"), "integrator: bdf2");
}

TEST_F(Approximation, AReversibleSweepStoresNothing) {
  write("s.yaml", scene("schedule: reversible", "", "dt: 0.004, steps: 60, substeps: 2, damping: 1"));
  EXPECT_EQ(run({"gradient", "s.yaml"}, "out").code, 0);
  write("t.yaml", scene("schedule: all", "", "dt: 0.004, steps: 60, substeps: 2, damping: 1"));
  EXPECT_EQ(run({"gradient", "t.yaml"}, "all").code, 0);
  const Ran check = run({"check", "s.yaml"}, "check");
  EXPECT_EQ(check.code, 0) << check.err << check.out;
  // The gradient after a stop and a resumption.
  EXPECT_EQ(run({"gradient", "s.yaml", "--time-limit", "1e-9"}, "stopped").code, 3);
  EXPECT_EQ(run({"gradient", "s.yaml", "--resume"}, "stopped").code, 0);
  if (rank_ != 0) return;
  EXPECT_EQ(read("stopped/gradient.h5"), read("out/gradient.h5"));
  const nlohmann::json found = report("out")["checkpoint"];
  EXPECT_EQ(found["stores"].get<int>(), 0);
  EXPECT_EQ(found["advances"].get<int>(), 60);
  EXPECT_EQ(found["recordings"].get<int>(), 60);
  EXPECT_FALSE(report("out")["approximate"].get<bool>());
  const double norm = report("out")["gradient_norm"].get<double>(), all = report("all")["gradient_norm"].get<double>();
  EXPECT_NEAR(norm, all, 1e-10 * all);
}

}  // namespace
}  // namespace diffsim::app::approximation_test
