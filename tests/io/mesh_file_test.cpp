// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
#include "io/mesh_file.hpp"

#include <cmath>
#include <functional>
#include <limits>
#include <set>
#include <tuple>

#include "data_folder.hpp"
#include "diffsim/io/read_mesh.hpp"
#include "diffsim/mesh/construction.hpp"
#include "io/hdf5_file.hpp"
#include "mesh/elevate.hpp"
#include "mesh/readers/gmsh/gmsh_reader.hpp"
#include "mesh/validate.hpp"
#include "mesh_testing.hpp"

namespace diffsim::mesh_file_test {
namespace {

using namespace testing_io;
namespace fs = std::filesystem;

/// Returns the whole mesh on rank 0, and only counts and regions on other ranks.
MeshData only_on_rank_0(MeshData whole) {
  if (rank() == 0) return whole;
  MeshData rest;
  rest.num_vertices = rest.first_vertex = whole.num_vertices;
  rest.num_cells = rest.first_cell = whole.num_cells;
  rest.num_unused_vertices = whole.num_unused_vertices;
  rest.order = whole.order;
  rest.regions = whole.regions;
  return rest;
}

/// Returns the values of all ranks, in the order of the ranks.
template <class T>
std::vector<T> joined(const std::vector<T>& mine) {
  static_assert(std::is_trivially_copyable_v<T>);
  const int ranks = num_ranks();
  std::vector<int> counts(static_cast<std::size_t>(ranks)), begins(counts.size(), 0);
  const int bytes = static_cast<int>(mine.size() * sizeof(T));
  MPI_Allgather(&bytes, 1, MPI_INT, counts.data(), 1, MPI_INT, MPI_COMM_WORLD);
  int total = 0;
  for (std::size_t r = 0; r < counts.size(); ++r) {
    begins[r] = total;
    total += counts[r];
  }
  std::vector<T> all(static_cast<std::size_t>(total) / sizeof(T));
  MPI_Allgatherv(mine.data(), bytes, MPI_BYTE, all.data(), counts.data(), begins.data(), MPI_BYTE, MPI_COMM_WORLD);
  return all;
}

std::size_t sum_over_ranks(std::size_t mine) {
  auto sum = static_cast<std::uint64_t>(mine);
  MPI_Allreduce(MPI_IN_PLACE, &sum, 1, MPI_UINT64_T, MPI_SUM, MPI_COMM_WORLD);
  return sum;
}

using Row = std::array<std::int64_t, 3>;
std::multiset<Row> rows(const MeshData& mesh) {
  std::multiset<Row> result;
  for (const auto& e : joined(mesh.cell_regions)) result.insert({e.cell, -3, e.region});
  for (const auto& e : joined(mesh.face_regions)) result.insert({e.cell, e.face, e.region});
  for (const auto& e : joined(mesh.vertex_regions)) result.insert({e.vertex, -1, e.region});
  return result;
}

void expect_same(const MeshData& a, const MeshData& b) {
  EXPECT_EQ(a.order, b.order);
  EXPECT_EQ(a.num_vertices, b.num_vertices);
  EXPECT_EQ(a.num_cells, b.num_cells);
  EXPECT_EQ(a.num_unused_vertices, b.num_unused_vertices);
  EXPECT_TRUE(same_bits(joined(a.coordinates), joined(b.coordinates)));
  EXPECT_EQ(joined(a.cells), joined(b.cells));
  ASSERT_EQ(a.regions.size(), b.regions.size());
  for (std::size_t r = 0; r < a.regions.size(); ++r)
    EXPECT_EQ(std::tie(a.regions[r].name, a.regions[r].dimension, a.regions[r].tag),
              std::tie(b.regions[r].name, b.regions[r].dimension, b.regions[r].tag));
  EXPECT_EQ(rows(a), rows(b));
}

/// Returns a box with regions of every dimension.
MeshData rich_box() {
  MeshData mesh = box_with_unused_vertex(MPI_COMM_WORLD);
  mesh.regions.push_back({"left half", 3, 7});
  mesh.regions.push_back({"an edge", 1, 8});
  mesh.regions.push_back({"nothing", 0, 9});
  for (std::size_t c = 0; c < mesh.cells.size() / 4; ++c)
    if (const std::int64_t cell = mesh.first_cell + static_cast<std::int64_t>(c); cell % 36 < 18)
      mesh.cell_regions.push_back({cell, 6});
  for (std::size_t v = 0; v < mesh.coordinates.size() / 3; ++v)
    if (mesh.coordinates[3 * v] == 0.0 && mesh.coordinates[3 * v + 1] == 0.0)
      mesh.vertex_regions.push_back({mesh.first_vertex + static_cast<std::int64_t>(v), 7});
  return mesh;
}

TEST(MeshFile, ComesBackAsItWas) {
  const MeshData mesh = rich_box();
  write_mesh_file(MPI_COMM_WORLD, "box.h5", mesh);
  const MeshData back = read_mesh_file(MPI_COMM_WORLD, "box.h5");
  expect_same(back, mesh);
  EXPECT_EQ(back.num_unused_vertices, 1);
  // Blocks are of equal size, and each rank has the region entries of its own block.
  const auto n = static_cast<std::int64_t>(back.cells.size() / 4);
  EXPECT_LE(std::abs(n - back.num_cells / num_ranks()), 1);
  for (const auto& e : back.cell_regions) EXPECT_TRUE(e.cell >= back.first_cell && e.cell < back.first_cell + n);
  for (const auto& e : back.face_regions) EXPECT_TRUE(e.cell >= back.first_cell && e.cell < back.first_cell + n);

  const TetrahedralMesh direct(MPI_COMM_WORLD, mesh);
  const auto read = read_mesh(MPI_COMM_WORLD, "box.h5");
  EXPECT_EQ(read->fingerprint(), direct.fingerprint());
  EXPECT_EQ(read->num_unused_vertices(), 1);
  for (const char* name : {"left half", "x_min", "an edge", "nothing"}) {
    EXPECT_EQ(read->region(name).num_cells, direct.region(name).num_cells) << name;
    EXPECT_EQ(read->region(name).num_vertices, direct.region(name).num_vertices) << name;
  }
}

/// Returns a second-order box with one curved edge.
MeshData curved_box() {
  MeshData mesh = rich_box();
  elevate(MPI_COMM_WORLD, mesh);
  if (const std::int64_t last = mesh.first_vertex + mesh.block_vertices(); last == mesh.num_vertices)
    mesh.coordinates.back() += 0.01;
  return mesh;
}

TEST(MeshFile, OfSecondOrderComesBackAsItWas) {
  const MeshData mesh = curved_box();
  write_mesh_file(MPI_COMM_WORLD, "curved.h5", mesh);
  const MeshData back = read_mesh_file(MPI_COMM_WORLD, "curved.h5", 1.0, false, 2);
  expect_same(back, mesh);
  const auto read = read_mesh(MPI_COMM_WORLD, "curved.h5", 1.0, false, 2);
  EXPECT_EQ(read->order(), 2);
  EXPECT_EQ(read->fingerprint(), TetrahedralMesh(MPI_COMM_WORLD, mesh).fingerprint());
  EXPECT_NE(read->fingerprint(), TetrahedralMesh(MPI_COMM_WORLD,
                                                 [] {
                                                   MeshData straight = rich_box();
                                                   elevate(MPI_COMM_WORLD, straight);
                                                   return straight;
                                                 }())
                                     .fingerprint());
  // With order 1 only the corners are used; the nodes on edges keep their numbers.
  const MeshData corners = read_mesh_data(MPI_COMM_WORLD, "curved.h5");
  EXPECT_EQ(corners.order, 1);
  EXPECT_EQ(corners.num_vertices, mesh.num_vertices);
  EXPECT_EQ(joined(corners.cells), joined(rich_box().cells));
  EXPECT_EQ(corners.num_unused_vertices, mesh.num_vertices - rich_box().num_vertices + 1);
  EXPECT_NEAR(TetrahedralMesh(MPI_COMM_WORLD, corners).quality().volume, 1.5, 1e-14);
}

TEST(MeshFile, OfFirstOrderIsElevated) {
  write_mesh_file(MPI_COMM_WORLD, "linear.h5", rich_box());
  MeshData elevated = rich_box();
  elevate(MPI_COMM_WORLD, elevated);
  expect_same(read_mesh_data(MPI_COMM_WORLD, "linear.h5", 1.0, false, 2), elevated);
  for (const int order : {0, 3})
    EXPECT_CONTAINS(error_of(ErrorKind::input, [&] { read_mesh(MPI_COMM_WORLD, "linear.h5", 1.0, false, order); }),
                    "use 1 or 2");
}

TEST(MeshFile, OfSecondOrderIsCheckedAsOnOneRank) {
  struct Fault {
    const char* name;
    std::function<void(MeshData&)> spoil;  // the whole mesh, with two cells
    std::string says;
  };
  const std::vector<Fault> faults = {
      {"range", [](MeshData& m) { m.cells[19] = 14; }, "cell 1 has vertex 14, but vertices are numbered 0 to 13"},
      {"twice", [](MeshData& m) { m.cells[19] = m.cells[18]; }, "twice; remove the cell or give it ten different"},
      {"swapped", [](MeshData& m) { std::swap(m.cells[18], m.cells[19]); }, "cell 1 is curved so far that it folds"},
      {"torn",
       [](MeshData& m) {
         m.cells[14] = m.num_vertices++;
         m.coordinates.insert(m.coordinates.end(), {0.5, 0.5, 0.01});
       },
       "on the edge of vertices 1 and 2, where cell 0 has vertex "},
      {"folded", [](MeshData& m) { m.coordinates.back() = -5.0; }, "cell 1 is curved so far that it folds over"},
      {"shared",
       [](MeshData& m) {  // two cells whose only common vertex is a node on an edge
         m = {};
         m.num_vertices = 8;
         m.num_cells = 2;
         m.coordinates = {0, 0, 0, 1, 0, 0, 0, 1, 0, 0, 0, 1, 0.5, -1, -1, 0.5, 1, 1, -1, 0, 0, 0.5, 1, -1};
         m.cells = {0, 1, 2, 3, 5, 4, 6, 7};
         elevate(MPI_COMM_SELF, m);
         m.cells[14] = m.cells[4];
       },
       "on the edge of vertices 4 and 5, but cell 0 has it on the edge of vertices 0 and 1"}};
  for (const Fault& fault : faults) {
    SCOPED_TRACE(fault.name);
    MeshData mesh;
    mesh.num_vertices = 5;
    mesh.num_cells = 2;
    mesh.coordinates = {0, 0, 0, 1, 0, 0, 0, 1, 0, 0, 0, 1, 1, 1, 1};
    mesh.cells = {0, 1, 2, 3, 1, 2, 3, 4};
    elevate(MPI_COMM_SELF, mesh);
    fault.spoil(mesh);
    const auto serial = error_of(ErrorKind::input, [&] { validate_cells(mesh, "whole.h5"); });
    EXPECT_CONTAINS(serial, fault.says);
    write_mesh_file(MPI_COMM_WORLD, "spoilt.h5", only_on_rank_0(mesh));
    const std::string parallel =
        error_of(ErrorKind::input, [&] { read_mesh_file(MPI_COMM_WORLD, "spoilt.h5", 1.0, false, 2); });
    EXPECT_CONTAINS(parallel, serial.substr(serial.find("cell ")));
  }
}

TEST(MeshFile, IsScaled) {
  write_mesh_file(MPI_COMM_WORLD, "scaled.h5", rich_box());
  std::vector<double> expected = rich_box().coordinates;
  for (double& x : expected) x *= 1e-3;
  EXPECT_TRUE(same_bits(joined(read_mesh_file(MPI_COMM_WORLD, "scaled.h5", 1e-3).coordinates), joined(expected)));
  for (const double scale : {0.0, -1.0, std::numeric_limits<double>::quiet_NaN()})
    EXPECT_CONTAINS(error_of(ErrorKind::input, [&] { read_mesh(MPI_COMM_WORLD, "scaled.h5", scale); }), "scale");
}

TEST(MeshFile, HoldsWhatGmshFilesHold) {
  DIFFSIM_SKIP_WITHOUT_MESHES();
  const fs::path directory = testing_data::meshes_folder();
  int count = 0;
  for (const auto& entry : fs::recursive_directory_iterator(directory)) {
    if (entry.path().extension() != ".msh" || entry.file_size() >= 2'000'000) continue;
    SCOPED_TRACE(entry.path().string());
    const MeshData gmsh = read_mesh_data(MPI_COMM_WORLD, entry.path().string(), 1.0, true);
    expect_same(gmsh, only_on_rank_0(read_gmsh(entry.path().string(), 1.0, true)));
    write_mesh_file(MPI_COMM_WORLD, "converted.h5", gmsh);
    const MeshData hdf5 = read_mesh_data(MPI_COMM_WORLD, "converted.h5", 1.0, true);
    expect_same(hdf5, gmsh);
    if (entry.file_size() < 50'000) {  // partitioning takes much longer than reading
      EXPECT_EQ(TetrahedralMesh(MPI_COMM_WORLD, hdf5).fingerprint(),
                TetrahedralMesh(MPI_COMM_WORLD, gmsh).fingerprint());
    }
    ++count;
  }
  EXPECT_GT(count, 0);
}

TEST(MeshFile, HoldsARealMeshElevated) {
  DIFFSIM_SKIP_WITHOUT_MESHES();
  const fs::path directory = testing_data::meshes_folder();
  const std::string path = (directory / "link.msh").string();
  const MeshData elevated = read_mesh_data(MPI_COMM_WORLD, path, 1.0, false, 2);
  const TetrahedralMesh mesh(MPI_COMM_WORLD, elevated);
  const auto straight = read_mesh(MPI_COMM_WORLD, path);
  EXPECT_EQ(mesh.order(), 2);
  EXPECT_NEAR(mesh.quality().volume, straight->quality().volume, 1e-12 * straight->quality().volume);
  const auto faces = static_cast<std::int64_t>(sum_over_ranks(straight->boundary().size()));
  EXPECT_EQ(static_cast<std::int64_t>(sum_over_ranks(mesh.boundary().size())), faces);
  write_mesh_file(MPI_COMM_WORLD, "elevated.h5", elevated);
  EXPECT_EQ(read_mesh(MPI_COMM_WORLD, "elevated.h5", 1.0, false, 2)->fingerprint(), mesh.fingerprint());
}

/// Change that spoils a mesh, and a part of the message that names the error.
struct SpoiledMesh {
  const char* name;
  std::function<void(MeshData&)> spoil;
  const char* says;
};

/// Checks that the errors of a distributed mesh are the same as those of a mesh on one rank.
void expect_same_errors(const std::vector<SpoiledMesh>& cases) {
  const MeshData good = box_mesh({1.5, 1.0, 1.0}, {3, 2, 2}, 0, 1);
  for (const SpoiledMesh& one : cases) {
    SCOPED_TRACE(one.name);
    MeshData bad = good;
    one.spoil(bad);
    std::string on_one_rank;
    try {
      validate_cells(bad, "");
    } catch (const Error& error) {
      on_one_rank = error.what();
    }
    EXPECT_NE(on_one_rank, "");
    write_mesh_file(MPI_COMM_WORLD, "bad.h5", only_on_rank_0(bad));
    const std::string in_blocks = error_of(ErrorKind::input, [] { read_mesh_file(MPI_COMM_WORLD, "bad.h5"); });
    EXPECT_CONTAINS(in_blocks, "bad.h5: /");
    if (one.says) {
      EXPECT_CONTAINS(on_one_rank, one.says);
      EXPECT_CONTAINS(in_blocks, one.says);
    }
  }
}

void add_cell(MeshData& m, std::array<std::int64_t, 4> v) {
  m.cells.insert(m.cells.end(), v.begin(), v.end());
  ++m.num_cells;
}

/// Adds a cell on the inner face of cell 0 opposite the cell's third vertex; two cells already have this face.
void add_overlapping_cell(MeshData& m) {
  m.coordinates.insert(m.coordinates.end(), {9.0, -4.0, 2.5});
  add_cell(m, {m.cells[0], m.cells[1], m.cells[3], m.num_vertices++});
  const auto x = [&](std::size_t a, std::size_t i) {
    return m.coordinates[3 * static_cast<std::size_t>(m.cells[m.cells.size() - 4 + a]) + i];
  };
  double e[3][3];
  for (std::size_t k = 0; k < 3; ++k)
    for (std::size_t i = 0; i < 3; ++i) e[k][i] = x(k + 1, i) - x(0, i);
  const double det = e[0][0] * (e[1][1] * e[2][2] - e[1][2] * e[2][1]) -
                     e[0][1] * (e[1][0] * e[2][2] - e[1][2] * e[2][0]) +
                     e[0][2] * (e[1][0] * e[2][1] - e[1][1] * e[2][0]);
  if (det < 0) std::swap(m.cells[m.cells.size() - 4], m.cells[m.cells.size() - 3]);
}

TEST(MeshFile, VerticesAreCheckedAsThoseOfGmshFilesAre) {
  expect_same_errors({
      {"nan", [](MeshData& m) { m.coordinates[3 * 20 + 1] = std::nan(""); }, "vertex 20 has the coordinate nan"},
      {"infinite", [](MeshData& m) { m.coordinates[3 * 35] = HUGE_VAL; }, "vertex 35 has the coordinate inf"},
      {"coincident",
       [](MeshData& m) {
         for (std::size_t i = 0; i < 3; ++i) m.coordinates[3 * 35 + i] = m.coordinates[3 * 7 + i];
       },
       nullptr},
  });
}

TEST(MeshFile, CellsAreCheckedAsThoseOfGmshFilesAre) {
  expect_same_errors({
      {"range", [](MeshData& m) { m.cells[4 * 50 + 2] = 36; },
       "cell 50 has vertex 36, but vertices are numbered 0 to 35"},
      {"negative", [](MeshData& m) { m.cells[4 * 71] = -1; }, "cell 71 has vertex -1"},
      {"repeated", [](MeshData& m) { m.cells[4 * 30] = m.cells[4 * 30 + 3]; }, "twice; remove the cell"},
      {"inverted", [](MeshData& m) { std::swap(m.cells[4 * 60], m.cells[4 * 60 + 1]); }, "cell 60 is inverted"},
      {"mirrored",
       [](MeshData& m) {
         for (std::size_t i = 0; i < m.coordinates.size(); i += 3) m.coordinates[i] *= -1;
       },
       "cell 0 and all others are inverted"},
      {"flat",
       [](MeshData& m) {
         add_cell(m, {0, 1, 2, 3});
       },
       "cell 72 has zero volume"},
      {"duplicate",
       [](MeshData& m) {
         add_cell(m, {m.cells[4], m.cells[6], m.cells[7], m.cells[5]});
       },
       "cell 72 has the same vertices as cell 1"},
      {"overlap", add_overlapping_cell, "which more than two cells have"},
      {"no cells",
       [](MeshData& m) {
         m.cells.clear();
         m.num_cells = 0;
         m.face_regions.clear();
       },
       "no tetrahedra"},
  });
}

TEST(MeshFile, AllowsCoincidentVerticesWhereTold) {
  MeshData mesh = box_mesh({1.0, 1.0, 1.0}, {1, 1, 1}, 0, 1);
  MeshData other = mesh;
  // A second box that touches the first box but has its own vertices.
  for (std::size_t i = 0; i < other.coordinates.size(); i += 3) other.coordinates[i] += 1.0;
  for (const std::int64_t v : other.cells) mesh.cells.push_back(v + mesh.num_vertices);
  mesh.coordinates.insert(mesh.coordinates.end(), other.coordinates.begin(), other.coordinates.end());
  mesh.coordinates[3] = 1.0;
  mesh.coordinates[3 * 8 + 1] = -0.0;  // equal to 0
  mesh.num_vertices *= 2;
  mesh.num_cells *= 2;
  write_mesh_file(MPI_COMM_WORLD, "touching.h5", only_on_rank_0(mesh));
  EXPECT_CONTAINS(error_of(ErrorKind::input, [] { read_mesh_file(MPI_COMM_WORLD, "touching.h5"); }),
                  "is at the same position as vertex");
  EXPECT_EQ(read_mesh_file(MPI_COMM_WORLD, "touching.h5", 1.0, true).num_cells, 12);
}

using Numbers = std::vector<std::int64_t>;

/// Returns the error of reading a mesh file of four vertices and of what `fill` writes.
template <class Fill>
std::string refusal(const Fill& fill) {
  {
    Hdf5File file = Hdf5File::create(MPI_COMM_WORLD, "bad.h5", "diffsim mesh", 1);
    file.write_array("/vertices", std::vector<double>{0, 0, 0, 1, 0, 0, 0, 1, 0, 0, 0, 1}, {4, 3});
    fill(file);
    file.publish();
  }
  return error_of(ErrorKind::input, [] { read_mesh(MPI_COMM_WORLD, "bad.h5"); });
}

void write_a_cell(Hdf5File& file) { file.write_array("/cells", Numbers{0, 1, 2, 3}, {1, 4}); }

void write_two_regions(Hdf5File& file) {
  write_a_cell(file);
  file.write_strings("/regions/names", {"a", "b"});
  file.write_array("/regions/dimensions", Numbers{3, 2}, {2});
  file.write_array("/regions/tags", Numbers{1, 2}, {2});
}

TEST(MeshFile, RefusesBadCells) {
  EXPECT_CONTAINS(refusal([](Hdf5File&) {}), "bad.h5: /cells: no such dataset");
  EXPECT_CONTAINS(refusal([](Hdf5File& f) {
                    f.write_array("/cells", std::vector<double>(4), {1, 4});
                  }),
                  "/cells: holds real numbers; expected integers");
  EXPECT_CONTAINS(refusal([](Hdf5File& f) {
                    f.write_array("/cells", Numbers(5), {1, 5});
                  }),
                  "/cells: has shape [1, 5]; expected [cells, 4]");
}

TEST(MeshFile, RefusesBadRegions) {
  EXPECT_CONTAINS(refusal([](Hdf5File& f) {
                    write_two_regions(f);
                    f.write_array("/regions/cells", Numbers{0, 0, 0, 2}, {2, 2});
                  }),
                  "/regions/cells: row 1, column 1: 2 is not in 0 to 1 (cell, region)");
  EXPECT_CONTAINS(refusal([](Hdf5File& f) {
                    write_two_regions(f);
                    f.write_array("/regions/faces", Numbers{0, 4, 1}, {1, 3});
                  }),
                  "/regions/faces: row 0, column 1: 4 is not in 0 to 3");
  EXPECT_CONTAINS(refusal([](Hdf5File& f) {
                    write_two_regions(f);
                    f.write_array("/regions/vertices", Numbers{-1, 1}, {1, 2});
                  }),
                  "/regions/vertices: row 0, column 0: -1 is not in");
  EXPECT_CONTAINS(refusal([](Hdf5File& f) {
                    write_a_cell(f);
                    f.write_strings("/regions/names", {"a"});
                    f.write_array("/regions/dimensions", Numbers{4}, {1});
                    f.write_array("/regions/tags", Numbers{1}, {1});
                  }),
                  "region 0 has dimension 4");
}

TEST(MeshFile, RefusesWhatIsNoMesh) {
  Hdf5File trajectory = Hdf5File::create(MPI_COMM_WORLD, "trajectory.h5", "diffsim trajectory", 1);
  trajectory.publish();
  const auto read = [](const std::string& path) {
    return error_of(ErrorKind::input, [&] { read_mesh(MPI_COMM_WORLD, path); });
  };
  EXPECT_CONTAINS(read("trajectory.h5"), "is not a mesh, but a diffsim trajectory");
  EXPECT_CONTAINS(read("absent.h5"), "absent.h5: no such file");
  EXPECT_CONTAINS(read("absent.msh"), "absent.msh: no such file");
  on_rank_0([] {
    write_bytes("text.h5", "$MeshFormat");
    write_bytes("text.msh", "$MeshFormat\n9.9 0 8\n$EndMeshFormat\n");
    fs::create_directories("folder.h5");
  });
  EXPECT_CONTAINS(read("text.h5"), "text.h5: is not an HDF5 file");
  EXPECT_CONTAINS(read("text.msh"), "text.msh:2");
  EXPECT_CONTAINS(read("folder.h5"), "folder.h5: is a directory");
}

TEST(MeshFile, IsFoundByItsContent) {
  write_mesh_file(MPI_COMM_WORLD, "mesh_of_any_name", rich_box());
  EXPECT_EQ(read_mesh(MPI_COMM_WORLD, "mesh_of_any_name")->num_global_cells(), 72);
}

TEST(MeshFile, HasCellsBelowTetrahedra) {
  const std::vector<std::int64_t> nodes[] = {{4, 0}, {0, 1, 1, 2, 4, 0}, {0, 1, 2, 0, 2, 3}};
  for (const CellKind kind : lower_kinds) {
    MeshData mesh;
    mesh.num_vertices = 5;
    mesh.regions = {{"one", dimension_of(kind), 1}, {"tip", 0, 2}};
    MeshData::LowerCells& cells = mesh.lower(kind);
    cells.num = static_cast<std::int64_t>(nodes[index_of(kind)].size()) / corners_of(kind);
    if (rank() == 0) {
      mesh.coordinates = {0, 0, 0, 1, 0, 0, 1, 1, 0, 0, 1, 0, 0, 0, 7};
      cells.nodes = nodes[index_of(kind)];
      cells.regions = {{1, 0}};
      mesh.vertex_regions = {{4, 1}};
    } else {
      mesh.first_vertex = 5;
      cells.first = cells.num;
    }
    write_mesh_file(MPI_COMM_WORLD, "lower.h5", mesh);
    const MeshData again = read_mesh_data(MPI_COMM_WORLD, "lower.h5", 2.0, false, 1, kind);
    EXPECT_EQ(again.num_vertices, 5);
    EXPECT_EQ(again.lower(kind).num, cells.num);
    EXPECT_EQ(again.num_cells, 0);
    EXPECT_EQ(joined(again.lower(kind).nodes), nodes[index_of(kind)]);
    EXPECT_EQ(joined(again.coordinates).back(), 14.0);
    EXPECT_EQ(again.regions.at(1).name, "tip");
    ASSERT_EQ(joined(again.lower(kind).regions).size(), 1u);
    EXPECT_EQ(joined(again.lower(kind).regions)[0].cell, 1);
    ASSERT_EQ(joined(again.vertex_regions).size(), 1u);
    EXPECT_EQ(joined(again.vertex_regions)[0].vertex, 4);
    const CellKind other = kind == CellKind::segment ? CellKind::tetrahedron : CellKind::segment;
    const std::string error =
        error_of(ErrorKind::input, [&] { read_mesh_data(MPI_COMM_WORLD, "lower.h5", 1.0, false, 1, other); });
    EXPECT_EQ(error, "lower.h5: no " + std::string(name_of(other)) + ", but " + std::to_string(cells.num) + " " +
                         name_of(kind) + "; give another file");
  }
}

}  // namespace
}  // namespace diffsim::mesh_file_test
