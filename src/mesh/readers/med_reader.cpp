// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
#include "mesh/readers/med_reader.hpp"

#include "diffsim/core/error.hpp"

#ifdef DIFFSIM_READS_MED

#include <med.h>

#include <array>
#include <cmath>
#include <cstdint>
#include <map>
#include <set>
#include <span>
#include <vector>

#include "mesh/mesh_text.hpp"
#include "mesh/readers/hdf5_error_printing.hpp"
#include "mesh/readers/raw_mesh_builder.hpp"

namespace diffsim {
namespace {

struct MedType {
  med_geometry_type number;
  ElementShape shape;
};

// Element types of MED 4. Mid-edge nodes follow the corners, in the order of the edges (0,1), (1,2), (2,0), (0,3),
// (1,3), (2,3).
constexpr MedType med_types[] = {{MED_POINT1, {0, 1, 1, "point"}},
                                 {MED_SEG2, {1, 2, 2, "segment"}},
                                 {MED_SEG3, {1, 3, 2, "segment of 3 nodes"}},
                                 {MED_SEG4, {1, 4, 0, "segment of 4 nodes"}},
                                 {MED_TRIA3, {2, 3, 3, "triangle"}},
                                 {MED_TRIA6, {2, 6, 3, "triangle of 6 nodes"}},
                                 {MED_TRIA7, {2, 7, 0, "triangle of 7 nodes"}},
                                 {MED_QUAD4, {2, 4, 0, "quadrangle"}},
                                 {MED_QUAD8, {2, 8, 0, "quadrangle of 8 nodes"}},
                                 {MED_QUAD9, {2, 9, 0, "quadrangle of 9 nodes"}},
                                 {MED_TETRA4, {3, 4, 4, "tetrahedron"}},
                                 {MED_TETRA10, {3, 10, 4, "tetrahedron of 10 nodes"}},
                                 {MED_PYRA5, {3, 5, 0, "pyramid"}},
                                 {MED_PYRA13, {3, 13, 0, "pyramid of 13 nodes"}},
                                 {MED_PENTA6, {3, 6, 0, "prism"}},
                                 {MED_PENTA15, {3, 15, 0, "prism of 15 nodes"}},
                                 {MED_PENTA18, {3, 18, 0, "prism of 18 nodes"}},
                                 {MED_HEXA8, {3, 8, 0, "hexahedron"}},
                                 {MED_HEXA20, {3, 20, 0, "hexahedron of 20 nodes"}},
                                 {MED_HEXA27, {3, 27, 0, "hexahedron of 27 nodes"}}};

/// Permutation of a tetrahedron's nodes that exchanges the corners 1 and 2.
constexpr std::array<std::size_t, 10> turned = {0, 2, 1, 3, 6, 5, 4, 7, 9, 8};

class MedFile {
 public:
  MedFile(const std::string& path, RawMeshBuilder& builder) : path_(path), builder_(builder) {
    med_bool is_hdf5 = MED_FALSE, is_med = MED_FALSE;
    if (MEDfileCompatibility(path.c_str(), &is_hdf5, &is_med) < 0 || !is_hdf5)
      fail("is not a MED file, or cannot be read");
    if (!is_med)
      fail("is not a MED file, or has a version that MED's library does not read; save it as MED 3 or later");
    file_ = MEDfileOpen(path.c_str(), MED_ACC_RDONLY);
    if (file_ < 0) fail("MED's library cannot open it");
  }
  ~MedFile() {
    if (file_ >= 0) MEDfileClose(file_);
  }
  MedFile(const MedFile&) = delete;
  MedFile& operator=(const MedFile&) = delete;

  /// Reads the whole file. Returns the scaled coordinates (m) of the nodes, [nodes, 3].
  std::vector<double> read(double scale);

 private:
  [[noreturn]] void fail(const std::string& what) const { throw InputError(path_, 0, "", what); }
  void check(int code, const char* what) const {
    if (code < 0) fail(std::string("MED's library cannot read ") + what + "; get the whole file again");
  }
  void choose_mesh();
  std::size_t count(med_entity_type entity, med_geometry_type type, med_data_type data) const;
  std::vector<double> read_nodes(double scale);
  void read_families();
  std::vector<med_int> family_numbers(med_entity_type entity, med_geometry_type type, std::size_t count) const;
  std::vector<std::int32_t> groups_of(med_int family, int dimension);
  void read_elements(const MedType& type, std::span<const double> coordinates);
  bool turns(std::span<const med_int> nodes, std::span<const double> coordinates) const;

  const std::string& path_;
  RawMeshBuilder& builder_;
  med_idt file_ = -1;
  std::string mesh_;
  int dimension_ = 3;  // dimension of the space
  med_int step_ = MED_NO_DT, iteration_ = MED_NO_IT;
  std::map<med_int, std::vector<std::string>> families_;
  std::map<std::string, int> tags_;
  std::size_t first_element_ = 0;
  bool knows_turn_ = false, turn_ = false;
};

void MedFile::choose_mesh() {
  const med_int meshes = MEDnMesh(file_);
  check(static_cast<int>(meshes), "the number of meshes");
  if (meshes != 1) fail("has " + std::to_string(meshes) + " meshes; save only the mesh that you want to use");
  dimension_ = static_cast<int>(MEDmeshnAxis(file_, 1));
  if (dimension_ < 1 || dimension_ > 3) fail("its nodes have " + std::to_string(dimension_) + " coordinates, not 3");
  char name[MED_NAME_SIZE + 1] = {}, description[MED_COMMENT_SIZE + 1] = {}, time_unit[MED_SNAME_SIZE + 1] = {};
  std::string axes(3 * MED_SNAME_SIZE + 1, '\0'), units = axes;
  med_int space = 0, dimension = 0, steps = 0;
  med_mesh_type type = MED_UNDEF_MESH_TYPE;
  med_sorting_type sorting = MED_SORT_UNDEF;
  med_axis_type axis = MED_UNDEF_AXIS_TYPE;
  check(MEDmeshInfo(file_, 1, name, &space, &dimension, &type, description, time_unit, &sorting, &steps, &axis,
                    axes.data(), units.data()),
        "its mesh");
  mesh_ = name;
  if (type != MED_UNSTRUCTURED_MESH) fail("its mesh " + in_quotes(mesh_) + " is a grid; save an unstructured mesh");
  if (axis != MED_CARTESIAN)
    fail("the axes of its mesh " + in_quotes(mesh_) + " are not Cartesian; save it with Cartesian axes");
  med_float time = 0.0;
  if (steps > 0) check(MEDmeshComputationStepInfo(file_, name, 1, &step_, &iteration_, &time), "its first time step");
}

std::size_t MedFile::count(med_entity_type entity, med_geometry_type type, med_data_type data) const {
  med_bool changed = MED_FALSE, moved = MED_FALSE;
  const med_connectivity_mode mode = data == MED_CONNECTIVITY ? MED_NODAL : MED_NO_CMODE;
  const med_int number =
      MEDmeshnEntity(file_, mesh_.c_str(), step_, iteration_, entity, type, data, mode, &changed, &moved);
  return number > 0 ? static_cast<std::size_t>(number) : 0;
}

std::vector<double> MedFile::read_nodes(double scale) {
  const std::size_t nodes = count(MED_NODE, MED_NONE, MED_COORDINATE), axes = static_cast<std::size_t>(dimension_);
  std::vector<med_float> values(nodes * axes);
  if (nodes > 0)
    check(MEDmeshNodeCoordinateRd(file_, mesh_.c_str(), step_, iteration_, MED_FULL_INTERLACE, values.data()),
          "its nodes");
  std::vector<double> coordinates(3 * nodes, 0.0);
  for (std::size_t i = 0; i < values.size(); ++i) {
    const double x = scale * values[i];
    if (!std::isfinite(x))
      fail("a coordinate of node " + std::to_string(i / axes + 1) + " is not finite; give numbers");
    coordinates[3 * (i / axes) + i % axes] = x;
  }
  return coordinates;
}

/// Reads the families. A family is a set of groups; each element and node stores the number of one family.
void MedFile::read_families() {
  const med_int number = MEDnFamily(file_, mesh_.c_str());
  for (int i = 1; i <= number; ++i) {
    const med_int groups = MEDnFamilyGroup(file_, mesh_.c_str(), i);
    check(static_cast<int>(groups), "its families");
    char name[MED_NAME_SIZE + 1] = {};
    std::string text(static_cast<std::size_t>(groups) * MED_LNAME_SIZE + 1, '\0');
    med_int family = 0;
    check(MEDfamilyInfo(file_, mesh_.c_str(), i, name, &family, text.data()), "its families");
    for (std::size_t g = 0; g < static_cast<std::size_t>(groups); ++g) {
      std::string group = text.substr(g * MED_LNAME_SIZE, MED_LNAME_SIZE);
      group.resize(std::min(group.find('\0'), group.size()));
      group.resize(group.find_last_not_of(' ') + 1);
      if (group.empty()) continue;
      families_[family].push_back(group);
      tags_[group] = 0;
    }
  }
  int tag = 0;
  for (auto& entry : tags_) entry.second = ++tag;
}

std::vector<med_int> MedFile::family_numbers(med_entity_type entity, med_geometry_type type, std::size_t size) const {
  std::vector<med_int> numbers(size, 0);
  if (count(entity, type, MED_FAMILY_NUMBER) == size && size > 0)
    check(MEDmeshEntityFamilyNumberRd(file_, mesh_.c_str(), step_, iteration_, entity, type, numbers.data()),
          "the families of its elements");
  return numbers;
}

std::vector<std::int32_t> MedFile::groups_of(med_int family, int dimension) {
  std::vector<std::int32_t> groups;
  const auto found = families_.find(family);
  if (family == 0 || found == families_.end()) return groups;
  for (const std::string& name : found->second) groups.push_back(builder_.group(dimension, name, tags_.at(name)));
  return groups;
}

/// Returns whether a tetrahedron is negatively oriented, which is MED's orientation.
bool MedFile::turns(std::span<const med_int> nodes, std::span<const double> coordinates) const {
  std::array<std::array<double, 3>, 3> edges;
  for (std::size_t k = 0; k < 3; ++k)
    for (std::size_t c = 0; c < 3; ++c)
      edges[k][c] = coordinates[3 * static_cast<std::size_t>(nodes[k + 1] - 1) + c] -
                    coordinates[3 * static_cast<std::size_t>(nodes[0] - 1) + c];
  const auto& [a, b, c] = edges;
  return a[0] * (b[1] * c[2] - b[2] * c[1]) + a[1] * (b[2] * c[0] - b[0] * c[2]) + a[2] * (b[0] * c[1] - b[1] * c[0]) <
         0.0;
}

void MedFile::read_elements(const MedType& type, std::span<const double> coordinates) {
  const std::size_t elements = count(MED_CELL, type.number, MED_CONNECTIVITY);
  const auto width = static_cast<std::size_t>(type.shape.num_nodes);
  std::vector<med_int> connectivity(elements * width);
  if (elements == 0) return;
  check(MEDmeshElementConnectivityRd(file_, mesh_.c_str(), step_, iteration_, MED_CELL, type.number, MED_NODAL,
                                     MED_FULL_INTERLACE, connectivity.data()),
        "its elements");
  const std::vector<med_int> families = family_numbers(MED_CELL, type.number, elements);
  std::vector<std::int64_t> nodes(width);
  for (std::size_t e = 0; e < elements; ++e) {
    const std::span<const med_int> own(connectivity.data() + e * width, width);
    for (const med_int node : own)
      if (node < 1 || static_cast<std::size_t>(node) > coordinates.size() / 3)
        builder_.fail(first_element_ + e, "has node " + std::to_string(node) + ", and there are " +
                                              std::to_string(coordinates.size() / 3) + " of them, counted from 1");
    const bool is_tetrahedron = type.shape.dimension == 3 && type.shape.num_corners > 0;
    if (is_tetrahedron && !knows_turn_) {
      turn_ = turns(own, coordinates);
      knows_turn_ = true;
    }
    for (std::size_t k = 0; k < width; ++k) nodes[k] = own[is_tetrahedron && turn_ ? turned[k] : k] - 1;
    builder_.add(type.shape, nodes, groups_of(families[e], type.shape.dimension), first_element_ + e);
  }
  first_element_ += elements;
}

std::vector<double> MedFile::read(double scale) {
  choose_mesh();
  std::vector<double> coordinates = read_nodes(scale);
  read_families();
  for (const MedType& type : med_types) read_elements(type, coordinates);
  const std::vector<med_int> families = family_numbers(MED_NODE, MED_NONE, coordinates.size() / 3);
  for (std::size_t v = 0; v < families.size(); ++v)
    for (const std::int32_t group : groups_of(families[v], 0)) builder_.add_vertex(static_cast<std::int64_t>(v), group);
  return coordinates;
}

std::string how_to_save_med(CellKind kind) {
  return std::string("save a mesh with ") + name_of(kind) +
         (kind == CellKind::tetrahedron ? " (in Salome: an algorithm for the volume, such as NETGEN 3D)" : "");
}

}  // namespace

bool reads_med() { return true; }

MeshData read_med(const std::string& path, double scale, bool allow_coincident_vertices, int order, CellKind kind) {
  check_scale(scale);
  const RawPlaces places{
      path,
      [](std::size_t element) {
        return FilePlace{0, "element " + std::to_string(element + 1) + " of the file, counted type by type"};
      },
      {},
      "group",
      how_to_save_med};
  RawMeshBuilder builder(places, order, kind);
  const KeepsErrorPrinting keeps;
  std::vector<double> coordinates = MedFile(path, builder).read(scale);
  return assemble_mesh(builder.take(std::move(coordinates)), kind, allow_coincident_vertices, places);
}

}  // namespace diffsim

#else

namespace diffsim {

bool reads_med() { return false; }

MeshData read_med(const std::string& path, double, bool, int, CellKind) {
  throw InputError(path, 0, "",
                   "this diffsim was built without MED's library; install that (Debian: libmedc-dev), and build with "
                   "DIFFSIM_WITH_MED=ON");
}

}  // namespace diffsim

#endif
