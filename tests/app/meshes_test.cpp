// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
//
// Runs `simulate`, `gradient` and `check` on each mesh produced by other programs.

#include <algorithm>
#include <array>
#include <cmath>
#include <vector>

#include "app/runner_fixture.hpp"
#include "data_folder.hpp"
#include "diffsim/io/read_mesh.hpp"
#include "io/hdf5_file.hpp"

namespace diffsim::app::meshes_test {
namespace {

class Meshes : public RunnerTest {
 protected:
  /// Returns a scene with a body that is fixed in its lower third and stretched above, so that its stiffness matters
  /// from the first step on, for cells of any size. Gravity moves the body by a fraction of a cell during the run.
  std::string scene(const std::string& mesh, double youngs_modulus, double stable, double gravity) {
    const MeshData data = read_mesh_data(MPI_COMM_SELF, mesh);
    std::array<double, 3> low, high;
    low.fill(1e300), high.fill(-1e300);
    for (const std::int64_t v : data.cells)
      for (std::size_t c = 0; c < 3; ++c) {
        const double x = data.coordinates[3 * static_cast<std::size_t>(v) + c];
        low[c] = std::min(low[c], x);
        high[c] = std::max(high[c], x);
      }
    const double size = high[1] - low[1];
    std::vector<double> displacement(data.coordinates.size(), 0.0);
    for (std::size_t i = 1; i < displacement.size(); i += 3) {
      const double above = std::max(0.0, (data.coordinates[i] - low[1]) / size - 1.0 / 3.0);
      displacement[i] = 0.05 * size * above * above;
    }
    write_dataset("stretched.h5", "/displacement", displacement);
    std::ostringstream text;
    text.precision(17);
    text << "mesh: {file: " << mesh << "}\nregions: {foot: {box: {min: [-1e9, " << low[1] - 0.01 * size
         << ", -1e9], max: [1e9, " << low[1] + size / 3.0 << ", 1e9]}}}\n"
         << "material: {model: neo_hookean, density: 1000, youngs_modulus: " << youngs_modulus
         << ", poisson_ratio: 0.3}\n"
         << "solver: {dt: " << stable << ", steps: 12, substeps: 2, damping: 1, gravity: [0, " << -gravity << ", 0]}\n"
         << "initial: {displacement: {file: stretched.h5, dataset: /displacement}}\n"
         << "boundary: {region: foot, fix: [x, y, z]}\n"
         << "parameters: [{name: youngs_modulus, per: global}, {name: gravity}]\n";
    return text.str();
  }
  void write_dataset(const std::string& file, const std::string& dataset, const std::vector<double>& vectors) const {
    const auto count = static_cast<std::int64_t>(vectors.size() / 3);
    if (rank_ == 0) {
      Hdf5File written = Hdf5File::create(MPI_COMM_SELF, path(file), "test", 1);
      written.write_array(dataset, vectors, {count, 3});
      written.publish();
    }
    MPI_Barrier(MPI_COMM_WORLD);
  }
  void expect_done(const std::vector<std::string>& words, const std::string& output) {
    const Ran ran = run(words, output);
    EXPECT_EQ(ran.code, 0) << words[0] << ": " << ran.err << ran.out;
    if (rank_ == 0) std::printf("  %s %.2f s\n", words[0].c_str(), ran.seconds);
  }
};

TEST_F(Meshes, GoThroughSimulateGradientAndCheck) {
  DIFFSIM_SKIP_WITHOUT_MESHES();
  std::vector<std::filesystem::path> files;
  for (const auto& entry : std::filesystem::directory_iterator(testing_data::meshes_folder()))
    if (entry.path().extension() == ".msh") files.push_back(entry.path());
  std::sort(files.begin(), files.end());
  EXPECT_FALSE(files.empty());
  for (const std::filesystem::path& file : files) {
    SCOPED_TRACE(file.string());
    const std::string name = file.stem().string();
    if (rank_ == 0) std::printf("%s\n", name.c_str());
    write("mesh.yaml", scene(file.string(), 1e5, 1.0, 0.0));
    expect_done({"mesh", "mesh.yaml"}, name + ".mesh");
    double stable = rank_ == 0 ? report(name + ".mesh").value("stable_time_step", 0.0) : 0.0;
    MPI_Bcast(&stable, 1, MPI_DOUBLE, 0, MPI_COMM_WORLD);
    if (!(stable > 0.0)) {
      ADD_FAILURE() << "no stable step";
      continue;
    }
    // Elastic waves take about one stable step to cross the smallest cell.
    const double speed = std::sqrt(1e5 / 1000.0);
    const double gravity = 0.02 * speed / stable;
    write("stiffer.yaml", scene(file.string(), 1.1e5, stable, gravity));
    expect_done({"simulate", "stiffer.yaml"}, name + ".observed");
    write("s.yaml", scene(file.string(), 1e5, stable, gravity) + "objective: {type: track, observations: " + name +
                        ".observed/trajectory.h5}\n");
    expect_done({"gradient", "s.yaml"}, name);
    expect_done({"check", "s.yaml"}, name + ".check");
    const Hdf5File file_of_gradient = Hdf5File::open(MPI_COMM_WORLD, path(name + "/gradient.h5"));
    EXPECT_LT(file_of_gradient.read_array<double>("/gradient/youngs_modulus").at(0), 0.0);
  }
}

}  // namespace
}  // namespace diffsim::app::meshes_test
