// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
//
// Compiled only if netCDF is available, with which the test writes its files.
#include "mesh/readers/exodus_reader.hpp"

#include <gtest/gtest.h>
#include <hdf5.h>
#include <netcdf.h>

#include <algorithm>
#include <cmath>
#include <fstream>
#include <string>
#include <vector>

#include "diffsim/core/error.hpp"

namespace diffsim::exodus_reader_test {
namespace {

using Numbers = std::vector<std::int64_t>;

struct Block {
  std::string type, name;
  std::size_t width;
  std::vector<int> nodes;  // numbered from 1
};
struct Set {
  std::string name;
  std::vector<int> things, sides;
};
struct ExodusContents {
  std::vector<double> points;  // [nodes, 3]
  std::vector<Block> blocks;
  std::vector<Set> side_sets, node_sets;
  bool named = true;
  bool one_variable = false;  // one variable for all coordinates
  int format = NC_NETCDF4;
  nc_type real = NC_DOUBLE, integer = NC_INT;
};

/// Writer of a netCDF file. The file is in define mode except while a variable is written.
class NetCdf {
 public:
  NetCdf(const std::string& path, const ExodusContents& contents) : contents_(contents) {
    must(nc_create(path.c_str(), NC_CLOBBER | contents.format, &file_));
  }
  ~NetCdf() { must(nc_close(file_)); }
  int dimension(const std::string& name, std::size_t size) {
    int id = 0;
    must(nc_def_dim(file_, name.c_str(), size, &id));
    return id;
  }
  int define(const std::string& name, nc_type type, const std::vector<int>& dimensions) {
    int id = 0;
    must(nc_def_var(file_, name.c_str(), type, static_cast<int>(dimensions.size()), dimensions.data(), &id));
    return id;
  }
  void text_attribute(int variable, const std::string& name, const std::string& text) {
    must(nc_put_att_text(file_, variable, name.c_str(), text.size(), text.data()));
  }
  void put(int variable, const std::vector<double>& values) {
    must(nc_enddef(file_));
    must(nc_put_var_double(file_, variable, values.data()));
    must(nc_redef(file_));
  }
  void put(int variable, const std::vector<int>& values) {
    must(nc_enddef(file_));
    must(nc_put_var_int(file_, variable, values.data()));
    must(nc_redef(file_));
  }
  void integers(const std::string& name, const std::vector<int>& dimensions, const std::vector<int>& values) {
    put(define(name, contents_.integer, dimensions), values);
  }
  /// Writes names and the numbers 10, 20, … of blocks or sets.
  void names(const std::string& prefix, int count, const std::vector<std::string>& names) {
    std::vector<int> numbers;
    std::string text;
    for (std::string name : names) {
      numbers.push_back(10 * (static_cast<int>(numbers.size()) + 1));
      name.resize(33, '\0');
      text += name;
    }
    integers(prefix + "_prop1", {count}, numbers);
    if (!contents_.named) return;
    const int variable = define(prefix + "_names", NC_CHAR, {count, length_});
    must(nc_enddef(file_));
    must(nc_put_var_text(file_, variable, text.data()));
    must(nc_redef(file_));
  }
  void begin() { length_ = dimension("len_name", 33); }

 private:
  static void must(int code) { ASSERT_EQ(code, NC_NOERR) << nc_strerror(code); }
  const ExodusContents& contents_;
  int file_ = -1, length_ = -1;
};

void write_exodus(const std::string& path, const ExodusContents& contents) {
  NetCdf file(path, contents);
  file.begin();
  const std::size_t nodes = contents.points.size() / 3;
  const int node = file.dimension("num_nodes", nodes), axes = file.dimension("num_dim", 3);
  std::vector<double> all;
  for (std::size_t c = 0; c < 3; ++c) {
    std::vector<double> axis;
    for (std::size_t v = 0; v < nodes; ++v) axis.push_back(contents.points[3 * v + c]);
    all.insert(all.end(), axis.begin(), axis.end());
    if (!contents.one_variable) file.put(file.define(std::string("coord") + "xyz"[c], contents.real, {node}), axis);
  }
  if (contents.one_variable) file.put(file.define("coord", contents.real, {axes, node}), all);
  std::vector<std::string> names;
  const int blocks = file.dimension("num_el_blk", contents.blocks.size());
  for (const Block& block : contents.blocks) {
    names.push_back(block.name);
    const std::string number = std::to_string(names.size());
    const int elements = file.dimension("num_el_in_blk" + number, block.nodes.size() / block.width),
              width = file.dimension("num_nod_per_el" + number, block.width);
    const int variable = file.define("connect" + number, contents.integer, {elements, width});
    file.text_attribute(variable, "elem_type", block.type);
    file.put(variable, block.nodes);
  }
  file.names("eb", blocks, names);
  names.clear();
  if (!contents.side_sets.empty()) {
    const int sets = file.dimension("num_side_sets", contents.side_sets.size());
    for (const Set& set : contents.side_sets) {
      names.push_back(set.name);
      const std::string number = std::to_string(names.size());
      const int size = file.dimension("num_side_ss" + number, set.things.size());
      file.integers("elem_ss" + number, {size}, set.things);
      file.integers("side_ss" + number, {size}, set.sides);
    }
    file.names("ss", sets, names);
  }
  names.clear();
  if (!contents.node_sets.empty()) {
    const int sets = file.dimension("num_node_sets", contents.node_sets.size());
    for (const Set& set : contents.node_sets) {
      names.push_back(set.name);
      const int size = file.dimension("num_nod_ns" + std::to_string(names.size()), set.things.size());
      file.integers("node_ns" + std::to_string(names.size()), {size}, set.things);
    }
    file.names("ns", sets, names);
  }
}

/// Returns two tetrahedra, each in its own block, a set of all four sides of the first tetrahedron, and a set of two
/// nodes.
ExodusContents two_cells() {
  return {{0, 0, 0, 1, 0, 0, 0, 1, 0, 0, 0, 1, 1.5, 1, 1},
          {{"TETRA", "left", 4, {1, 2, 3, 4}}, {"tet4", "right", 4, {2, 5, 3, 4}}},
          {{"sides", {1, 1, 1, 1}, {1, 2, 3, 4}}, {"top", {2}, {1}}},
          {{"tip", {5, 1}, {}}}};
}

std::vector<std::string> names_of(const MeshData& mesh) {
  std::vector<std::string> names;
  for (const RegionInfo& region : mesh.regions)
    names.push_back(region.name + " " + std::to_string(region.dimension) + " " + std::to_string(region.tag));
  return names;
}

herr_t keep_silent(hid_t, void*) { return 0; }

// This test must be the first: the library may change HDF5's setting at its first use.
TEST(ExodusReader, LeavesHdf5sErrorsAsTheyAre) {
  int marker = 0;
  H5Eset_auto2(H5E_DEFAULT, keep_silent, &marker);
  EXPECT_THROW(read_exodus("absent"), InputError);
  H5E_auto2_t setting = nullptr;
  void* data = nullptr;
  H5Eget_auto2(H5E_DEFAULT, &setting, &data);
  EXPECT_EQ(setting, &keep_silent);
  EXPECT_EQ(data, &marker);
  H5Eset_auto2(H5E_DEFAULT, nullptr, nullptr);
}

TEST(ExodusReader, ReadsCellsAndSetsOfEveryFormat) {
  for (const int format : {0, NC_64BIT_OFFSET, NC_64BIT_DATA, NC_NETCDF4, NC_NETCDF4 | NC_CLASSIC_MODEL})
    for (const nc_type real : {NC_FLOAT, NC_DOUBLE})
      for (const bool one_variable : {false, true}) {
        ExodusContents contents = two_cells();
        contents.format = format;
        contents.real = real;
        contents.one_variable = one_variable;
        if (format == NC_NETCDF4) contents.integer = NC_INT64;
        write_exodus("two.exo", contents);
        const MeshData mesh = read_exodus("two.exo", 2.0);
        EXPECT_EQ(mesh.cells, (Numbers{0, 1, 2, 3, 1, 4, 2, 3}));
        EXPECT_EQ(mesh.coordinates[12], 3.0);
        EXPECT_EQ(mesh.coordinates[14], 2.0);
        EXPECT_EQ(names_of(mesh),
                  (std::vector<std::string>{"left 3 10", "right 3 20", "sides 2 10", "top 2 20", "tip 0 10"}));
        ASSERT_EQ(mesh.cell_regions.size(), 2u);
        EXPECT_EQ(mesh.cell_regions[1].cell, 1);
        ASSERT_EQ(mesh.face_regions.size(), 5u);
        for (int face = 0; face < 4; ++face) EXPECT_EQ(mesh.face_regions[static_cast<std::size_t>(face)].face, face);
        // Side 1 of the second cell has the cell's nodes 1, 2, 4, so it is opposite the third node.
        EXPECT_EQ(mesh.face_regions[4].cell, 1);
        EXPECT_EQ(mesh.face_regions[4].face, 2);
        ASSERT_EQ(mesh.vertex_regions.size(), 2u);
        EXPECT_EQ(mesh.vertex_regions[0].vertex, 0);
        EXPECT_EQ(mesh.vertex_regions[1].vertex, 4);
      }
}

TEST(ExodusReader, ReadsCellsOfOtherKindsAndOrders) {
  ExodusContents contents = two_cells();
  contents.named = false;
  contents.blocks.push_back({"TRI3", "", 3, {1, 2, 3}});
  contents.blocks.push_back({"BEAM", "", 2, {1, 4, 2, 3}});
  write_exodus("kinds.exo", contents);
  EXPECT_EQ(names_of(read_exodus("kinds.exo")),
            (std::vector<std::string>{"10 3 10", "20 3 20", "10 2 10", "20 2 20", "30 2 30", "40 1 40", "10 0 10"}));
  const MeshData triangles = read_exodus("kinds.exo", 1.0, false, 1, CellKind::triangle);
  EXPECT_EQ(triangles.lower(CellKind::triangle).nodes, (Numbers{0, 1, 2}));
  EXPECT_EQ(read_exodus("kinds.exo", 1.0, false, 1, CellKind::segment).lower(CellKind::segment).nodes,
            (Numbers{0, 3, 1, 2}));

  ExodusContents quadratic;
  quadratic.points = {0,  0,  0,  1, 0,  0, 0, 1, 0,  0,  0, 1,  .5, 0,  0,
                      .5, .5, .1, 0, .5, 0, 0, 0, .5, .5, 0, .5, 0,  .5, .5};
  quadratic.blocks = {{"TETRA10", "body", 10, {1, 2, 3, 4, 5, 6, 7, 8, 9, 10}}};
  quadratic.side_sets = {{"foot", {1}, {4}}};
  write_exodus("quadratic.exo", quadratic);
  const MeshData mesh = read_exodus("quadratic.exo", 1.0, false, 2);
  EXPECT_EQ(mesh.order, 2);
  EXPECT_EQ(mesh.cells, (Numbers{0, 1, 2, 3, 4, 5, 6, 7, 8, 9}));
  ASSERT_EQ(mesh.face_regions.size(), 1u);
  EXPECT_EQ(mesh.face_regions[0].face, 3);
  EXPECT_EQ(read_exodus("quadratic.exo").cells, (Numbers{0, 1, 2, 3}));
}

TEST(ExodusReader, SaysWhatIsWrong) {
  const auto refused = [](const ExodusContents& contents, const std::string& message,
                          CellKind kind = CellKind::tetrahedron) {
    write_exodus("bad.exo", contents);
    try {
      read_exodus("bad.exo", 1.0, false, 1, kind);
      ADD_FAILURE() << "was read; expected: " << message;
    } catch (const InputError& error) {
      EXPECT_EQ(std::string(error.what()).substr(0, 9 + message.size()), "bad.exo: " + message);
    }
  };
  refused(two_cells(), "no points, but 2 tetrahedra; save a mesh with points", CellKind::point);
  ExodusContents contents = two_cells();
  contents.blocks[1].nodes[2] = 9;
  refused(contents, "has node 9, and there are 5 of them, counted from 1 (element 2 of the file)");
  contents = two_cells();
  std::swap(contents.blocks[1].nodes[0], contents.blocks[1].nodes[1]);
  refused(contents, "cell 1 is inverted");
  contents = two_cells();
  contents.blocks.push_back({"HEX8", "brick", 8, {1, 2, 3, 4, 5, 1, 2, 3}});
  refused(contents, "a hexahedron is among the cells, where all must be tetrahedra");
  contents.blocks[2].type = "BLOB";
  refused(contents, "its block 'brick' has elements of type 'BLOB', which is not known");
  contents = two_cells();
  contents.side_sets[1].sides[0] = 5;
  refused(contents, "side set 'top' has side 5 of element 2, which is not a face of a tetrahedron");
  contents = two_cells();
  contents.node_sets[0].things[0] = 6;
  refused(contents, "node set 'tip' has node 6, and there are 5 of them");
  contents = two_cells();
  contents.points[4] = HUGE_VAL;
  refused(contents, "a coordinate of node 2 is not finite");

  std::ofstream("text.exo") << "no netCDF\n";
  EXPECT_THROW(read_exodus("text.exo"), InputError);
  EXPECT_THROW(read_exodus("absent.exo"), InputError);
}

}  // namespace
}  // namespace diffsim::exodus_reader_test
