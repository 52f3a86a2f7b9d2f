// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "diffsim/core/state.hpp"
#include "diffsim/io/hdf5_file.hpp"
#include "diffsim/mesh/affine_body.hpp"
#include "diffsim/mesh/tetrahedral_mesh.hpp"

namespace diffsim {

/// Writes the states of a run to an HDF5 file in the mesh file's vertex order, and an XDMF file for ParaView beside it.
///
/// `/time` [K], s; `/step` [K]; for each field `/NAME` [K, N, components]: `/positions` in m, `/velocities` in m/s.
/// `/mesh/vertices` [N, 3] (rest positions, m) and `/mesh/cells` [C, 4 or 10]. Of a mesh of several bodies each has a
/// group: `/bodies/BODY/NAME`, `/bodies/BODY/mesh/vertices`, …, counted in the body. An affine body has the same of its
/// surface, whose vertices follow the cell's corners, in `/bodies/BODY/surface`. Vertices that no cell has keep
/// their rest positions, and zeros elsewhere. Root attributes: `mesh_fingerprint`, and `complete` (1; 0: the run ended
/// early). Collective, as everything here.
class TrajectoryWriter {
 public:
  /// `fields`: names in the State, each with one entry a local or owned vertex. InputError where `path` cannot be
  /// written, or the disk has no room for `expected_frames` frames. `mesh` must outlive the writer.
  TrajectoryWriter(const TetrahedralMesh& mesh, const std::string& path,
                   std::vector<std::string> fields = {"positions", "velocities"}, std::int64_t expected_frames = 0);

  /// Adds a frame. If that fails, the frames before it are still good.
  void write(int step, double time, const State& state);
  /// Publishes the frames written, with `PATH` ending in `.xdmf` beside; what was not finished leaves no file. May be
  /// called after a run or a `write` failed, with `complete` false. Does nothing where there is no frame.
  void finish(bool complete = true);

  std::int64_t num_frames() const { return static_cast<std::int64_t>(times_.size()); }

 private:
  struct Output {
    std::string name;
    int components = 0;
    std::vector<double> block;  // this rank's block of the file
  };

  /// Surface of an affine body in the file, its vertices spread evenly over the ranks.
  struct Surface {
    std::string group;
    std::size_t body = 0;
    std::int64_t num_vertices = 0, num_triangles = 0;
    AffineMap map;  // to this rank's vertices
  };
  /// Rows of a field in one dataset of the file.
  struct Series {
    std::string name;
    std::int64_t rows = 0;
  };

  void create_surfaces();
  void create_outputs(const State& state);
  /// Datasets of a field: of each body, of its directors, of the surfaces.
  std::vector<Series> series_of(const Output& output) const;
  /// Values of a field with three components at the corners of all affine bodies, [bodies with surfaces, 4, 3], on
  /// every rank, from this rank's block of the file. Collective.
  std::vector<double> corners_of(const std::vector<double>& block) const;
  void hand_over();

  const TetrahedralMesh& mesh_;
  Hdf5File file_;
  std::vector<Output> outputs_;
  std::vector<Surface> surfaces_;
  std::int64_t expected_frames_;
  std::vector<double> times_;
  std::vector<std::int64_t> steps_;
  std::int64_t handed_over_ = 0;  // times and steps that are in the file
  bool has_outputs_ = false;
  double last_flush_ = 0.0;
};

}  // namespace diffsim
