// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "diffsim/core/state.hpp"
#include "diffsim/mesh/tetrahedral_mesh.hpp"

namespace diffsim {

class Hdf5File;

/// Observed positions of material points inside the tetrahedra of one body, for example from image correlation.
struct ObservedPoints {
  std::string body = {};                           ///< name of the points' body; optional in a mesh of one body
  std::vector<std::array<double, 3>> points = {};  ///< rest positions, m
  /// Map from the number of each observed step to the observed positions (m) of the points, [points, 3], with NaN for
  /// points that are not observed in the step.
  std::map<int, std::vector<double>> positions = {};
};

/// Writer that stores the states of a run in an HDF5 file, in the mesh file's vertex order, and adds an XDMF file for
/// ParaView in the same folder.
///
/// The datasets `/time` [frames] and `/step` [frames] of the HDF5 file contain the time (s) and the number of the time
/// step of each frame. The dataset `/NAME` [frames, vertices, components] of the HDF5 file contains the field NAME, for
/// example `/positions` (m) or `/velocities` (m/s). The dataset `/mesh/vertices` [vertices, 3] contains the rest
/// positions (m), and `/mesh/cells` [cells, nodes per cell] contains the vertex numbers of the cells.
///
/// If the bodies of the mesh have names (`TetrahedralMesh::bodies`), the datasets NAME, `mesh/vertices` and
/// `mesh/cells` of each body BODY are in the group `/bodies/BODY`, not in the root. Vertex numbers in `mesh/cells` are
/// then relative to the body's first vertex. The values of fields at directors (vectors that the mesh stores as
/// additional vertices) are in the group `/bodies/BODY/directors`; the rotor of a joint has only the group `directors`.
///
/// An affine body has one cell, a tetrahedron, in the HDF5 file. The group `/bodies/BODY/surface` of an affine body
/// contains the body's triangle surface and the fields with three components. The values at the surface's vertices
/// follow from the values at the corners of the body's cell by an affine function of the rest position.
///
/// Vertices that belong to no cell have their rest positions in the dataset `positions`, and zeros in other datasets.
/// The root of the HDF5 file has the attributes `mesh_fingerprint` and `complete` (0 if the run ended early, else 1).
/// All functions of TrajectoryWriter except `num_frames` are collective.
class TrajectoryWriter {
 public:
  /// Values that are computed from a state and belong to no vertex, such as reactions or coordinates of joints. The
  /// dataset `/NAME` [frames, labels], where NAME is the member `name`, contains the values of each frame in the order
  /// of the member `labels`, and the dataset `/NAME.names` contains the labels.
  struct Values {
    std::string name,                 ///< name of the dataset
        units;                        ///< units of the values, written as the attribute `units` of the dataset
    std::vector<std::string> labels;  ///< names of the values that the function `of` returns
    /// Returns the values with the names `labels`, computed from `state`, the state after `step` steps. The function
    /// `of` must return the same values on all ranks. Collective.
    std::function<std::vector<double>(int step, const State& state)> of;
  };

  /// Creates the HDF5 file. `fields`: names of the State's fields to write, which have one entry per local or owned
  /// vertex. Throws Error (input) if the file `path` cannot be written. If the disk lacks space for `expected_frames`
  /// frames, the first call of `write` throws Error (input). The mesh must outlive the TrajectoryWriter.
  TrajectoryWriter(const TetrahedralMesh& mesh, const std::string& path,
                   std::vector<std::string> fields = {"positions", "velocities"}, std::int64_t expected_frames = 0);
  ~TrajectoryWriter();

  /// Writes `text` as the attribute `name` of the HDF5 file's root. Collective.
  void label(const std::string& name, const std::string& text);
  /// Adds a dataset with one row of `values` per frame. `add_values` must be called before the first call of `write`.
  void add_values(Values values);
  /// Appends a frame with the fields of `state`, the state after `step` steps at the simulated time `time` (s). If a
  /// call of `write` fails, the frames of earlier calls stay valid.
  void write(int step, double time, const State& state);
  /// Closes the HDF5 file, renames the file from `path`.partial to `path`, and writes an XDMF file: `path` with the
  /// extension `.xdmf`. A writer destroyed before a call of `finish` leaves no file. After a failed run or `write`,
  /// `finish(false)` keeps the frames, with the attribute `complete` = 0. `finish` without frames does nothing.
  void finish(bool complete = true);

  std::int64_t num_frames() const { return static_cast<std::int64_t>(times_.size()); }  ///< number of frames written

 private:
  struct Output {
    std::string name;
    int components = 0;
    std::vector<double> block;  // this rank's block of the file's rows
  };

  struct Surface;
  /// Name and number of rows of a dataset that contains a field in the HDF5 file.
  struct Series {
    std::string name;
    std::int64_t rows = 0;
  };

  void create_surfaces();
  void create_outputs(const State& state);
  /// Returns the names and numbers of rows of a field's datasets: one for each body except rotors, one for the
  /// directors of each body with directors and, for a field with three components, one for each affine body's surface.
  std::vector<Series> series_of(const Output& output) const;
  /// Returns the values of a field with three components at the corners of all affine bodies, [affine bodies, 4, 3], on
  /// every rank. `block`: this rank's rows of the field, in the order of the mesh file. Collective.
  std::vector<double> corners_of(const std::vector<double>& block) const;
  void hand_over();

  const TetrahedralMesh& mesh_;
  std::unique_ptr<Hdf5File> file_;
  std::vector<Output> outputs_;
  std::vector<Surface> surfaces_;
  std::vector<Values> values_;
  std::int64_t expected_frames_;
  std::vector<double> times_;
  std::vector<std::int64_t> steps_;
  std::int64_t handed_over_ = 0;  // number of entries of times_ and steps_ already in the file
  bool has_outputs_ = false;
  double last_flush_ = 0.0;
};

}  // namespace diffsim
