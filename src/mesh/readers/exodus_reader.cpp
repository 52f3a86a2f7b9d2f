// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
//
// Reader of Exodus II files. Layout of the netCDF file: Schoof & Yarberry, EXODUS II: A Finite Element Data Model,
// SAND92-2137, appendix A.
#include "mesh/readers/exodus_reader.hpp"

#include "diffsim/core/error.hpp"

#ifdef DIFFSIM_READS_EXODUS

#include <netcdf.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <cmath>
#include <cstdint>
#include <limits>
#include <optional>
#include <span>
#include <vector>

#include "mesh/mesh_text.hpp"
#include "mesh/readers/exodus_elements.hpp"
#include "mesh/readers/hdf5_error_printing.hpp"
#include "mesh/readers/raw_mesh_builder.hpp"

namespace diffsim {
namespace {

class ExodusFile {
 public:
  ExodusFile(const std::string& path, RawMeshBuilder& builder, CellKind kind)
      : path_(path), builder_(builder), kind_(kind) {
    if (const int code = nc_open(path.c_str(), NC_NOWRITE, &file_); code != NC_NOERR)
      fail(std::string("netCDF cannot open it (") + nc_strerror(code) + "); give an Exodus file");
  }
  ~ExodusFile() { nc_close(file_); }
  ExodusFile(const ExodusFile&) = delete;
  ExodusFile& operator=(const ExodusFile&) = delete;

  /// Reads the whole file. Returns the scaled coordinates (m) of the nodes, [nodes, 3].
  std::vector<double> read(double scale) {
    std::vector<double> coordinates = read_nodes(scale);
    num_nodes_ = static_cast<std::int64_t>(coordinates.size() / 3);
    read_blocks();
    if (kind_ == CellKind::tetrahedron) read_side_sets();
    read_node_sets();
    return coordinates;
  }

 private:
  [[noreturn]] void fail(const std::string& what) const { throw InputError(path_, 0, "", what); }
  void check(int code, const std::string& variable) const {
    if (code != NC_NOERR)
      fail("netCDF cannot read " + variable + " (" + nc_strerror(code) + "); get the whole file again");
  }
  /// Returns the size of a netCDF dimension, or 0 if the file has no dimension with this name.
  std::size_t dimension(const std::string& name) const {
    int id = 0;
    std::size_t size = 0;
    if (nc_inq_dimid(file_, name.c_str(), &id) == NC_NOERR) check(nc_inq_dimlen(file_, id, &size), name);
    return size;
  }
  std::optional<int> variable(const std::string& name) const {
    int id = 0;
    if (nc_inq_varid(file_, name.c_str(), &id) != NC_NOERR) return {};
    return id;
  }
  std::vector<std::size_t> shape(int id, const std::string& name) const;
  template <class Value>
  std::vector<Value> values(const std::string& name, std::size_t count) const;
  std::vector<std::string> names_of(const std::string& prefix, const std::string& of_names, std::size_t count);
  std::vector<int> numbers_of(const std::string& prefix, std::size_t count) const;
  std::vector<double> read_nodes(double scale) const;
  void read_blocks();
  void read_block(const std::string& number, const std::string& name, int tag);
  void read_side_sets();
  void read_node_sets();

  const std::string& path_;
  RawMeshBuilder& builder_;
  const CellKind kind_;
  int file_ = -1;
  std::int64_t num_nodes_ = 0, num_elements_ = 0;
  struct Block {
    std::int64_t first;
    std::size_t width;
    bool is_solid;
    std::vector<std::int64_t> nodes;
  };
  std::vector<Block> blocks_;
};

std::vector<std::size_t> ExodusFile::shape(int id, const std::string& name) const {
  int rank = 0;
  check(nc_inq_varndims(file_, id, &rank), name);
  std::vector<int> dimensions(static_cast<std::size_t>(rank));
  check(nc_inq_vardimid(file_, id, dimensions.data()), name);
  std::vector<std::size_t> sizes;
  for (const int dimension : dimensions) check(nc_inq_dimlen(file_, dimension, &sizes.emplace_back()), name);
  return sizes;
}

/// Reads all values of a variable. Throws InputError unless the variable has exactly `count` values.
template <class Value>
std::vector<Value> ExodusFile::values(const std::string& name, std::size_t count) const {
  const std::optional<int> id = variable(name);
  if (!id) fail("has no variable " + name + "; give an Exodus file");
  std::size_t size = 1;
  for (const std::size_t extent : shape(*id, name)) size *= extent;
  if (size != count)
    fail("its variable " + name + " has " + std::to_string(size) + " values, and should have " + std::to_string(count));
  std::vector<Value> values(count);
  if (count == 0) return values;
  if constexpr (std::is_same_v<Value, double>)
    check(nc_get_var_double(file_, *id, values.data()), name);
  else
    check(nc_get_var_longlong(file_, *id, values.data()), name);
  return values;
}

std::vector<double> ExodusFile::read_nodes(double scale) const {
  const std::size_t nodes = dimension("num_nodes"), axes = dimension("num_dim");
  if (axes < 1 || axes > 3) fail("its nodes have " + std::to_string(axes) + " coordinates, not 3; give an Exodus file");
  std::vector<double> coordinates(3 * nodes, 0.0);
  // Early versions of Exodus II store all coordinates in one variable, `coord`.
  std::vector<double> all;
  if (variable("coord")) all = values<double>("coord", axes * nodes);
  for (std::size_t c = 0; c < axes && nodes > 0; ++c) {
    std::vector<double> axis;
    if (all.empty()) axis = values<double>(std::string("coord") + "xyz"[c], nodes);
    for (std::size_t v = 0; v < nodes; ++v) {
      const double x = scale * (all.empty() ? axis[v] : all[c * nodes + v]);
      if (!std::isfinite(x)) fail("a coordinate of node " + std::to_string(v + 1) + " is not finite; give numbers");
      coordinates[3 * v + c] = x;
    }
  }
  return coordinates;
}

/// Returns the numbers of the blocks or sets, or 1, 2, … if the file gives no numbers.
std::vector<int> ExodusFile::numbers_of(const std::string& prefix, std::size_t count) const {
  std::vector<int> numbers(count);
  for (std::size_t i = 0; i < count; ++i) numbers[i] = static_cast<int>(i) + 1;
  if (!variable(prefix + "_prop1")) return numbers;
  const std::vector<long long> given = values<long long>(prefix + "_prop1", count);
  for (std::size_t i = 0; i < count; ++i) {
    if (given[i] < std::numeric_limits<int>::min() || given[i] > std::numeric_limits<int>::max())
      fail("its variable " + prefix + "_prop1 has the number " + std::to_string(given[i]) +
           ", which does not fit into 32 bits; give smaller numbers");
    numbers[i] = static_cast<int>(given[i]);
  }
  return numbers;
}

/// Returns the names of the blocks or sets. The name of a block or set without a name is its number.
std::vector<std::string> ExodusFile::names_of(const std::string& prefix, const std::string& of_names,
                                              std::size_t count) {
  std::vector<std::string> names(count);
  if (const std::optional<int> id = variable(of_names)) {
    const std::vector<std::size_t> sizes = shape(*id, of_names);
    if (sizes.size() != 2 || sizes[0] != count)
      fail("its variable " + of_names + " does not have the shape that Exodus defines");
    std::string text(count * sizes[1], '\0');
    if (!text.empty()) check(nc_get_var_text(file_, *id, text.data()), of_names);
    for (std::size_t i = 0; i < count; ++i) {
      names[i] = text.substr(i * sizes[1], sizes[1]);
      names[i].resize(std::min(names[i].find('\0'), names[i].size()));
      names[i].resize(names[i].find_last_not_of(' ') + 1);
    }
  }
  const std::vector<int> numbers = numbers_of(prefix, count);
  for (std::size_t i = 0; i < count; ++i)
    if (names[i].empty()) names[i] = std::to_string(numbers[i]);
  return names;
}

void ExodusFile::read_block(const std::string& number, const std::string& name, int tag) {
  const std::string variable_name = "connect" + number;
  const std::optional<int> id = variable(variable_name);
  if (!id) return;  // the block is empty
  const std::vector<std::size_t> sizes = shape(*id, variable_name);
  if (sizes.size() != 2) fail("its variable " + variable_name + " does not have the shape that Exodus defines");
  std::size_t length = 0;
  check(nc_inq_attlen(file_, *id, "elem_type", &length), "the type of " + variable_name);
  std::string type(length, '\0');
  check(nc_get_att_text(file_, *id, "elem_type", type.data()), "the type of " + variable_name);
  std::transform(type.begin(), type.end(), type.begin(), [](unsigned char c) { return std::toupper(c); });
  const ElementShape* const known = exodus::find_shape(type, sizes[1]);
  if (!known)
    fail("its block " + in_quotes(name) + " has elements of type " + in_quotes(type) + ", which is not known");
  const std::vector<long long> nodes = values<long long>(variable_name, sizes[0] * sizes[1]);
  Block& block = blocks_.emplace_back(Block{num_elements_, sizes[1], known->dimension == 3, {}});
  block.nodes.reserve(nodes.size());
  const std::int32_t group = builder_.group(known->dimension, name, tag);
  for (std::size_t e = 0; e < sizes[0]; ++e, ++num_elements_) {
    for (std::size_t k = 0; k < sizes[1]; ++k) {
      const long long node = nodes[e * sizes[1] + k];
      if (node < 1 || node > num_nodes_)
        builder_.fail(static_cast<std::size_t>(num_elements_), "has node " + std::to_string(node) + ", and there are " +
                                                                   std::to_string(num_nodes_) +
                                                                   " of them, counted from 1");
      block.nodes.push_back(node - 1);
    }
    builder_.add(*known, std::span(block.nodes).last(sizes[1]), {&group, 1}, static_cast<std::size_t>(num_elements_));
  }
}

void ExodusFile::read_blocks() {
  const std::size_t count = dimension("num_el_blk");
  const std::vector<std::string> names = names_of("eb", "eb_names", count);
  const std::vector<int> numbers = numbers_of("eb", count);
  for (std::size_t b = 0; b < count; ++b) read_block(std::to_string(b + 1), names[b], numbers[b]);
}

void ExodusFile::read_side_sets() {
  const std::size_t count = dimension("num_side_sets");
  const std::vector<std::string> names = names_of("ss", "ss_names", count);
  const std::vector<int> numbers = numbers_of("ss", count);
  for (std::size_t s = 0; s < count; ++s) {
    const std::string number = std::to_string(s + 1);
    const std::size_t size = dimension("num_side_ss" + number);
    const std::int32_t group = builder_.group(2, names[s], numbers[s]);
    if (size == 0) continue;
    const std::vector<long long> elements = values<long long>("elem_ss" + number, size),
                                 places = values<long long>("side_ss" + number, size);
    for (std::size_t i = 0; i < size; ++i) {
      const long long element = elements[i] - 1, side = places[i] - 1;
      const auto block = std::find_if(blocks_.rbegin(), blocks_.rend(),
                                      [&](const Block& candidate) { return candidate.first <= element; });
      if (element < 0 || element >= num_elements_ || block == blocks_.rend() || !block->is_solid || side < 0 ||
          side > 3)
        fail("side set " + in_quotes(names[s]) + " has side " + std::to_string(places[i]) + " of element " +
             std::to_string(elements[i]) + ", which is not a face of a tetrahedron; remove this side");
      const std::size_t first = static_cast<std::size_t>(element - block->first) * block->width;
      std::array<std::int64_t, 3> corners;
      for (std::size_t k = 0; k < 3; ++k) corners[k] = block->nodes[first + exodus::sides[side][k]];
      builder_.add_face(corners, group, static_cast<std::size_t>(element));
    }
  }
}

void ExodusFile::read_node_sets() {
  const std::size_t count = dimension("num_node_sets");
  const std::vector<std::string> names = names_of("ns", "ns_names", count);
  const std::vector<int> numbers = numbers_of("ns", count);
  for (std::size_t s = 0; s < count; ++s) {
    const std::string number = std::to_string(s + 1);
    const std::size_t size = dimension("num_nod_ns" + number);
    const std::int32_t group = builder_.group(0, names[s], numbers[s]);
    if (size == 0) continue;
    for (const long long node : values<long long>("node_ns" + number, size)) {
      if (node < 1 || node > num_nodes_)
        fail("node set " + in_quotes(names[s]) + " has node " + std::to_string(node) + ", and there are " +
             std::to_string(num_nodes_) + " of them, counted from 1");
      builder_.add_vertex(node - 1, group);
    }
  }
}

std::string how_to_mesh_exodus(CellKind kind) {
  return std::string("save a mesh with ") + name_of(kind) +
         (kind == CellKind::tetrahedron ? " (in Cubit: scheme tetmesh)" : "");
}

}  // namespace

bool reads_exodus() { return true; }

MeshData read_exodus(const std::string& path, double scale, bool allow_coincident_vertices, int order, CellKind kind) {
  check_scale(scale);
  const RawPlaces places{path,
                         [](std::size_t element) {
                           return FilePlace{0, "element " + std::to_string(element + 1) + " of the file"};
                         },
                         {},
                         "block",
                         how_to_mesh_exodus};
  RawMeshBuilder builder(places, order, kind);
  const KeepsErrorPrinting keeps;
  std::vector<double> coordinates = ExodusFile(path, builder, kind).read(scale);
  return assemble_mesh(builder.take(std::move(coordinates)), kind, allow_coincident_vertices, places);
}

}  // namespace diffsim

#else

namespace diffsim {

bool reads_exodus() { return false; }

MeshData read_exodus(const std::string& path, double, bool, int, CellKind) {
  throw InputError(path, 0, "",
                   "this diffsim was built without netCDF, which reads Exodus; install that for MPI (Debian: "
                   "libnetcdf-mpi-dev), and build with DIFFSIM_WITH_NETCDF=ON");
}

}  // namespace diffsim

#endif
