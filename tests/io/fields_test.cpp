// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
#include "io/fields.hpp"

#include <cmath>
#include <limits>

#include "core/file_order.hpp"
#include "mesh_testing.hpp"

namespace diffsim::fields_test {
namespace {

using namespace testing_io;

double cell_value(std::int64_t cell) { return 1e5 + std::sqrt(static_cast<double>(cell)); }

std::vector<double> cell_values(const TetrahedralMesh& mesh) {
  std::vector<double> values;
  for (const std::int64_t cell : mesh.cell_order().file_index()) values.push_back(cell_value(cell));
  return values;
}

/// Returns values [steps, the first `count` local vertices, components].
std::vector<double> vertex_values(const TetrahedralMesh& mesh, int steps, int count, int components) {
  std::vector<double> values;
  for (int k = 0; k < steps; ++k)
    for (int v = 0; v < count; ++v)
      for (int c = 0; c < components; ++c)
        values.push_back(field_value(k, mesh.vertex_order().file_index()[static_cast<std::size_t>(v)], c));
  return values;
}

class FieldsOfOrder : public ::testing::TestWithParam<int> {};  // order of the mesh
INSTANTIATE_TEST_SUITE_P(Orders, FieldsOfOrder, ::testing::Values(1, 2));

TEST_P(FieldsOfOrder, ComeBackAsTheyWere) {
  const auto mesh = small_mesh(MPI_COMM_WORLD, GetParam());
  const std::int64_t vertices = mesh->num_global_vertices();
  const int owned = mesh->num_owned_vertices(), local = mesh->num_vertices();
  Hdf5File file = Hdf5File::create(MPI_COMM_WORLD, "gradient.h5", "diffsim gradient", 1);
  write_cell_field(file, *mesh, "/gradient/youngs_modulus", cell_values(*mesh), "1/Pa");
  write_vertex_field(file, *mesh, "/gradient/positions", vertex_values(*mesh, 1, owned, 3), 3, "1/m");
  write_vertex_field(file, *mesh, "/gradient/with_ghosts", vertex_values(*mesh, 1, local, 3), 3, "1/m");
  write_vertex_field(file, *mesh, "/gradient/load", vertex_values(*mesh, 4, owned, 3), 3, "1/N", 4);
  write_vertex_field(file, *mesh, "/gradient/mass", vertex_values(*mesh, 1, owned, 1), 1, "1/kg");
  write_vertex_field(file, *mesh, "/gradient/heat", vertex_values(*mesh, 2, owned, 1), 1, "1/W", 2);
  file.write_array("/gradient/density", std::vector<double>{1.5, 2.5}, {2});
  file.write_strings("/gradient/density.regions", {"bone", "skin"});
  file.publish();

  const std::string path = "gradient.h5";
  EXPECT_TRUE(same_bits(read_cell_field(*mesh, path, "/gradient/youngs_modulus"), cell_values(*mesh)));
  for (const char* name : {"/gradient/positions", "/gradient/with_ghosts"}) {
    const StepValues positions = read_vertex_field(*mesh, path, name, 3);
    EXPECT_EQ(positions.steps, 1);
    EXPECT_TRUE(same_bits(positions.values, vertex_values(*mesh, 1, local, 3)));
  }
  const StepValues load = read_vertex_field(*mesh, path, "/gradient/load", 3);
  EXPECT_EQ(load.steps, 4);
  EXPECT_TRUE(same_bits(load.values, vertex_values(*mesh, 4, local, 3)));
  EXPECT_TRUE(same_bits(read_vertex_field(*mesh, path, "/gradient/mass", 1).values, vertex_values(*mesh, 1, local, 1)));
  EXPECT_TRUE(same_bits(read_vertex_field(*mesh, path, "/gradient/heat", 1).values, vertex_values(*mesh, 2, local, 1)));
  const Array density = read_array(MPI_COMM_WORLD, path, "/gradient/density");
  EXPECT_EQ(density.shape, Shape{2});
  EXPECT_EQ(density.values, (std::vector<double>{1.5, 2.5}));

  const Hdf5File back = Hdf5File::open(MPI_COMM_WORLD, path);
  EXPECT_EQ(back.read_strings("/gradient/density.regions"), (std::vector<std::string>{"bone", "skin"}));
  EXPECT_EQ(back.info("/gradient/load").shape, (Shape{4, vertices, 3}));
  EXPECT_EQ(back.info("/gradient/mass").shape, Shape{vertices});
  EXPECT_EQ(back.attribute("/gradient/load", "units"), AttributeValue("1/N"));
  const std::vector<double> in_file = back.read_array<double>("/gradient/youngs_modulus");
  ASSERT_EQ(static_cast<std::int64_t>(in_file.size()), mesh->num_global_cells());
  for (std::size_t c = 0; c < in_file.size(); ++c) EXPECT_EQ(in_file[c], cell_value(static_cast<std::int64_t>(c)));
  const std::vector<double> positions = back.read_array<double>("/gradient/positions");
  const std::size_t unused = 4 * 3 * 3;  // the vertex after the corners of the box
  for (std::size_t c = 0; c < 3; ++c) EXPECT_EQ(positions[3 * unused + c], 0.0);
}

TEST(Fields, RefusesWhatDoesNotFit) {
  const auto mesh = small_mesh();
  const std::int64_t cells = mesh->num_global_cells(), vertices = mesh->num_global_vertices();
  const auto size = [](std::int64_t n) { return static_cast<std::size_t>(n); };
  std::vector<double> stiffness(size(cells), 1.0), positions(size(6 * vertices), 0.0);
  stiffness[size(cells - 2)] = std::numeric_limits<double>::quiet_NaN();
  positions[size(3 * vertices + 7)] = -std::numeric_limits<double>::infinity();
  Hdf5File file = Hdf5File::create(MPI_COMM_WORLD, "bad.h5", "fields", 1);
  file.write_array("/nan", stiffness, {cells});
  file.write_array("/short", std::vector<double>(size(cells - 1)), {cells - 1});
  file.write_array("/infinite", positions, {2, vertices, 3});
  file.write_array("/flat", std::vector<double>(size(2 * vertices)), {vertices, 2});
  file.write_strings("/names", {"a"});
  file.publish();
  const auto cell_refusal = [&](const std::string& name) {
    return error_of(ErrorKind::input, [&] { read_cell_field(*mesh, "bad.h5", name); });
  };
  const auto vertex_refusal = [&](const std::string& name) {
    return error_of(ErrorKind::input, [&] { read_vertex_field(*mesh, "bad.h5", name, 3); });
  };
  EXPECT_CONTAINS(cell_refusal("/density"), "bad.h5: /density: no such dataset; the file has /flat, /infinite");
  EXPECT_CONTAINS(cell_refusal("/short"), "has shape [71]; expected [72] (one value for each cell of the mesh)");
  EXPECT_CONTAINS(cell_refusal("/nan"), "/nan: the value of cell 70 is nan");
  EXPECT_CONTAINS(cell_refusal("/names"), "holds text; expected real numbers");
  EXPECT_CONTAINS(vertex_refusal("/flat"),
                  "has shape [37, 2]; expected [37, 3] ([37, 3] or [steps, 37, 3] for this mesh)");
  EXPECT_CONTAINS(vertex_refusal("/infinite"), "the value of step 1, vertex 2 is -inf");
  EXPECT_CONTAINS(error_of(ErrorKind::input, [&] { read_array(MPI_COMM_WORLD, "bad.h5", "/nan"); }), "entry 70 is nan");
  EXPECT_CONTAINS(error_of(ErrorKind::input, [&] { read_cell_field(*mesh, "absent.h5", "/x"); }), "no such file");

  Hdf5File other = Hdf5File::create(MPI_COMM_WORLD, "other.h5", "fields", 1);
  std::vector<double> local(size(mesh->num_cells()));
  if (rank() == num_ranks() - 1) local.push_back(0.0);
  EXPECT_CONTAINS(error_of(ErrorKind::run, [&] { write_cell_field(other, *mesh, "/x", local, "Pa"); }), "values for");
  EXPECT_CONTAINS(error_of(ErrorKind::run, [&] { write_vertex_field(other, *mesh, "/x", {1.0}, 3, "m"); }),
                  "vertices x 3");
}

}  // namespace
}  // namespace diffsim::fields_test
