// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
//
// Scenes of woven cloth.
#include <algorithm>
#include <cmath>

#include "flag_fixture.hpp"

namespace diffsim::app::fabric_test {
namespace {

const std::string twill =
    "{warp_stiffness: 20, weft_stiffness: 12, shear_stiffness: 2, poisson_ratio: 0.1, bending: 1.0e-3, "
    "warp_bending: 2.0e-3, weft_bending: 5.0e-4, twist_bending: 8.0e-4, direction_x: 0.9, direction_y: 0.3, "
    "direction_z: 0.2, density: 0.2}";

class Fabric : public FlagTest {
 protected:
  Fabric() : FlagTest("fabric") {}

  /// Returns the positions in all frames of a rectangle of cloth with the vertices `held` fixed.
  std::vector<double> motion(const std::string& size, const std::string& material, const std::string& held,
                             const std::string& solver) {
    write("cloth.yaml", "bodies:\n  cloth: {kind: fabric, mesh: {sheet: {" + size + "}}, material: {" + material +
                            "}}\nregions: {held: {body: cloth, vertices: [" + held +
                            "]}}\nboundary: [{region: held, fix: [x, y, z]}]\nsolver: {" + solver +
                            "}\noutput: {every: 1}\n");
    good({"simulate", "cloth.yaml"}, "cloth");
    return dataset("cloth/trajectory.h5", "/bodies/cloth/positions");
  }
};

TEST_F(Fabric, passes_the_check_of_its_gradient_by_every_parameter) {
  const std::string parameters =
      "parameters:\n  - {name: fabric_warp_stiffness, per: triangle}\n  - {name: weft_stiffness, per: global}\n"
      "  - {name: fabric_shear_stiffness, per: triangle}\n  - {name: fabric_poisson_ratio, per: region}\n"
      "  - {name: fabric_bending, per: region}\n  - {name: warp_bending, per: triangle}\n"
      "  - {name: fabric_weft_bending, per: region}\n  - {name: twist_bending, per: global}\n"
      "  - {name: fabric_direction_x, per: triangle}\n"
      "  - {name: fabric_direction_y, per: global}\n  - {name: fabric_direction_z, per: global}\n"
      "  - {name: fabric_density, per: triangle}\n  - {name: rest_positions, per: vertex}\n";
  expect_checked(twill, parameters);
}

TEST_F(Fabric, has_gradients_in_files_whose_parts_add_up) {
  expect_sums_of_triangles(
      twill, {"fabric_warp_stiffness", "fabric_weft_stiffness", "fabric_shear_stiffness", "fabric_direction_y"});
}

TEST_F(Fabric, has_threads_that_stop_short_of_their_limit) {
  constexpr int nx = 2, ny = 4;
  constexpr double spacing = 0.05;
  // Returns the greatest strain of the threads along y in any frame, for a heavy curtain with a fixed upper hem.
  const auto greatest_strain = [&](const std::string& limit) {
    const std::vector<double> x = motion(
        "size: [0.1, 0.2], cells: [2, 4]",
        "warp_stiffness: 20, weft_stiffness: 20, shear_stiffness: 3, density: 0.2, direction_x: 0, direction_y: 1" +
            limit,
        "12, 13, 14", "integrator: implicit_euler, dt: 0.01, steps: 20, gravity: [0, -150, 0]");
    constexpr std::size_t row = 3 * (nx + 1), frame = row * (ny + 1);
    double greatest = 0.0;
    for (std::size_t first = 0; first + frame <= x.size(); first += frame)
      for (std::size_t k = first; k + row < first + frame; k += 3) {
        const double d[] = {x[k + row] - x[k], x[k + row + 1] - x[k + 1], x[k + row + 2] - x[k + 2]};
        greatest = std::max(greatest, std::sqrt(d[0] * d[0] + d[1] * d[1] + d[2] * d[2]) / spacing - 1.0);
      }
    return greatest;
  };
  EXPECT_GT(greatest_strain(""), 0.15);
  const double limited = greatest_strain(", strain_limit: 0.1");
  EXPECT_LT(limited, 0.1);
  EXPECT_GT(limited, 0.07);
}

/// The sag of a strip that is fixed at one end depends on the bending stiffness of its threads. Exchanging the
/// stiffnesses of warp and weft and rotating the warp by a right angle gives the same sag.
TEST_F(Fabric, bends_by_the_direction_of_its_threads) {
  const auto sag = [&](const std::string& material) {
    const std::vector<double> x =
        motion("size: [0.2, 0.05], cells: [8, 2]",
               "warp_stiffness: 800, weft_stiffness: 800, shear_stiffness: 300, density: 0.2, " + material,
               "0, 1, 9, 10, 18, 19", "integrator: quasi_static, steps: 4, gravity: [0, 0, -9.81]");
    return -x.back();  // at a corner of the free end
  };
  const double along_warp = sag("warp_bending: 8.0e-3, weft_bending: 1.0e-3, twist_bending: 1.0e-3");
  const double along_weft = sag("warp_bending: 1.0e-3, weft_bending: 8.0e-3, twist_bending: 1.0e-3");
  EXPECT_NEAR(sag("warp_bending: 1.0e-3, weft_bending: 8.0e-3, twist_bending: 1.0e-3, direction_x: 0, direction_y: 1"),
              along_warp, 1e-7 * along_warp);
  EXPECT_GT(along_warp, 0.002);
  EXPECT_GT(along_weft, 2.0 * along_warp);
  // The stiffness `bending` adds to those of the threads.
  const double alike = sag("warp_bending: 6.0e-3, weft_bending: 6.0e-3, twist_bending: 6.0e-3");
  EXPECT_NEAR(sag("bending: 6.0e-3"), alike, 1e-7 * alike);
  EXPECT_NEAR(sag("bending: 2.0e-3, warp_bending: 4.0e-3, weft_bending: 4.0e-3, twist_bending: 4.0e-3"), alike,
              1e-7 * alike);
}

TEST_F(Fabric, refuses_what_it_cannot_be_made_of) {
  const std::string sought = "parameters: [{name: fabric_warp_stiffness, per: global}]\n";
  const std::string plain = "{warp_stiffness: 20, weft_stiffness: 12, shear_stiffness: 2";
  refused(scene("{weft_stiffness: 12, shear_stiffness: 2, density: 1}", sought),
          "bodies.flag.material.warp_stiffness: is missing");
  refused(scene(plain + "}", sought), "bodies.flag.material.density: is missing");
  refused(scene(plain + ", density: 1, poisson_ratio: 1}", sought), "poisson_ratio: 1");
  refused(scene(plain + ", density: 1, strain_limit: 0}", sought), "strain_limit: 0 is not positive");
  refused(scene(plain + ", density: 1, weft_bending: -1}", sought), "weft_bending: -1 is negative");
  refused(scene(plain + ", density: 1, direction_x: 0}", sought), " has no warp direction");
  write("sheet.obj", "v 0 0 0\nv 0.1 0 0\nv 0 0.1 0\nv 0 0 0.1\nv 0.1 0 0.1\nv 0 0.1 0.1\nf 1 2 3\nf 1 3 4\n");
  refused(scene(plain + ", density: 1}", sought), "triangle 1 has no warp direction");
}

}  // namespace
}  // namespace diffsim::app::fabric_test
