// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <mpi.h>

#include <array>
#include <functional>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "app/yaml_value.hpp"
#include "diffsim/mesh/construction.hpp"
#include "diffsim/mesh/region.hpp"
#include "diffsim/mesh/tetrahedral_mesh.hpp"

namespace diffsim::app {

/// Source of a body's mesh: a box, a file, or a function.
struct BodyRecord {
  std::string name = {};  ///< name of the body; empty for the only body of a mesh without named bodies
  struct Box {
    std::array<double, 3> size;
    std::array<int, 3> cells;
  };
  std::optional<Box> box = {};
  std::string file = {};  ///< absolute path of the mesh file; empty if the mesh is not from a file
  double scale = 1.0;     ///< factor on the coordinates of `file`
  /// Function that creates the mesh of the body before placement; not used for the only body of a mesh without named
  /// bodies.
  std::function<MeshData(MPI_Comm)> make = {};
  /// Function that creates the closed surface of an affine body that is neither a box nor from a file.
  std::function<MeshData(MPI_Comm)> surface = {};
  std::optional<CellKind> cells = {};  ///< kind of the cells that are read from `file`; default: tetrahedra
  std::optional<std::array<double, 3>> director = {};  ///< key `director` of a rod or a beam
  bool is_affine = false;
  std::string refused = {};  ///< description of a mesh that a scene file cannot describe; empty for other meshes
  bool is_rotor = false;     ///< true for the rotor of a joint, which scene files do not mention
  std::vector<Placement> placements = {};
};

/// Sources of a mesh, from which the sections `mesh` or `bodies`, and `regions`, of a scene file are made.
struct MeshRecord {
  struct NamedShape {
    std::string name;
    RegionShape shape;
    std::string body;
  };
  std::vector<BodyRecord> bodies = {};   ///< empty for the mesh of a scene document, which contains the sources
  std::vector<NamedShape> regions = {};  ///< regions that a program has defined
};

/// Returns the absolute path of `path`, which may be relative to the current directory.
std::string absolute_path(const std::string& path);
/// Returns this rank's block, in the order of the mesh file, of the vertices and tetrahedra of a mesh without regions.
/// Collective.
MeshData block_of(const TetrahedralMesh& mesh);

/// Files that are written next to a scene file.
class SideFiles {
 public:
  /// `scene`: path of the scene file. `read`: absolute paths of files that the scene reads, which must not be written.
  SideFiles(MPI_Comm comm, std::string scene, std::vector<std::string> read)
      : comm_(comm), scene_(std::move(scene)), read_(std::move(read)) {}
  MPI_Comm comm() const { return comm_; }
  /// Returns the path, relative to the folder of the scene file, of an existing file. `path`: absolute path.
  std::string relative(const std::string& path) const;
  /// Writes a mesh file, and returns its path relative to the folder of the scene file. `name`: end of the file's name.
  std::string write_mesh(const std::string& name, const MeshData& data) const;
  /// Writes triangles, with the coordinates' exact values, and returns the path of the file relative to the folder of
  /// the scene file.
  std::string write_surface(const std::string& name, const TriangleMesh& surface) const;

 private:
  std::string path_of(const std::string& name, const char* ending) const;

  MPI_Comm comm_;
  std::string scene_;
  std::vector<std::string> read_;
};

/// Returns the value of the key `mesh` of a body, and adds the key `placement` to `body`. `reads_kind`: true if the
/// section names the kind of the cells, as for obstacles. `is_placed`: true if a mesh file must contain the placed
/// body. Collective.
void put_mesh(Value& body, const BodyRecord& record, const TetrahedralMesh& mesh, bool reads_kind, bool is_placed,
              const SideFiles& files);

}  // namespace diffsim::app
