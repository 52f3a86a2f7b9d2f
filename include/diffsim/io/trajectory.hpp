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
  std::string body = {};                           ///< name of the body; may be empty if the mesh has one body
  std::vector<std::array<double, 3>> points = {};  ///< rest positions, m
  /// Positions (m) after each observed step, [points, 3], by the number of the step; NaN: not observed.
  std::map<int, std::vector<double>> positions = {};
};

/// Writes the states of a run to an HDF5 file, in the mesh file's vertex order, and an XDMF file for ParaView in the
/// same folder.
///
/// Datasets of the HDF5 file, for K frames, N vertices and C cells:
///
///   `/time` [K]                       time of each frame (s)
///   `/step` [K]                       number of the time step of each frame
///   `/NAME` [K, N, components]        each field NAME; `/positions` in m, `/velocities` in m/s
///   `/mesh/vertices` [N, 3]           rest positions (m)
///   `/mesh/cells` [C, nodes per cell]
///
/// If the mesh has several bodies, the root has `/time` and `/step`, and each body has a group `/bodies/BODY` with its
/// own datasets `NAME`, `mesh/vertices` and `mesh/cells`. Vertex numbers in `mesh/cells` are then relative to the first
/// vertex of the body. The fields at directors, which are additional vertices of the mesh, are in the group
/// `/bodies/BODY/directors`; the rotor of a joint has only this group. An affine body moves as one tetrahedral cell.
/// The group `/bodies/BODY/surface` contains the body's triangle surface and the fields with three components; the
/// values at the surface's vertices follow from the values at the corners of the cell by an affine function of the rest
/// position. Vertices that belong to no cell have their rest positions in `/positions` and zeros in other fields. The
/// root has the attributes `mesh_fingerprint` and `complete` (1, or 0 if the run ended early). All members except
/// `num_frames` are collective.
class TrajectoryWriter {
 public:
  /// Values computed from a state that belong to no vertex, such as coordinates of joints or reactions. The values are
  /// written to `/NAME` [K, labels], in the order of the labels; `/NAME.names` contains the labels.
  struct Values {
    std::string name,                 ///< name of the dataset
        units;                        ///< attribute `units` of the dataset
    std::vector<std::string> labels;  ///< names of the values that `of` returns
    /// Returns one value per label for `state`, the state of step `step`. The values are equal on all ranks.
    /// Collective.
    std::function<std::vector<double>(int step, const State& state)> of;
  };

  /// Opens the file. `fields`: names of the fields of the State to write; each field has one entry per local or owned
  /// vertex. Throws InputError if `path` cannot be written. If `expected_frames` is not 0, the first `write` throws
  /// InputError if the disk has no space for this number of frames. `mesh` must outlive the writer.
  TrajectoryWriter(const TetrahedralMesh& mesh, const std::string& path,
                   std::vector<std::string> fields = {"positions", "velocities"}, std::int64_t expected_frames = 0);
  ~TrajectoryWriter();

  /// Writes `text` as the attribute `name` of the file's root. Collective.
  void label(const std::string& name, const std::string& text);
  /// Adds the dataset of `values`, with a row for every frame. Must be called before the first `write`.
  void add_values(Values values);
  /// Appends a frame with the fields of `state`, the state after `step` steps at the simulated time `time` (s). If the
  /// call fails, the earlier frames stay valid.
  void write(int step, double time, const State& state);
  /// Closes the HDF5 file, renames it from `path`.partial to `path`, and writes an XDMF file whose name is `path` with
  /// the extension replaced by `.xdmf`. A writer that is destroyed before `finish` leaves no file. After a failed run
  /// or a failed `write`, `finish` may be called with `complete` false. `finish` does nothing if no frame has been
  /// written.
  void finish(bool complete = true);

  std::int64_t num_frames() const { return static_cast<std::int64_t>(times_.size()); }  ///< number of frames written

 private:
  struct Output {
    std::string name;
    int components = 0;
    std::vector<double> block;  // this rank's block of the file's rows
  };

  struct Surface;
  /// Dataset of a field in the file: name and number of rows.
  struct Series {
    std::string name;
    std::int64_t rows = 0;
  };

  void create_surfaces();
  void create_outputs(const State& state);
  /// Returns the datasets of a field: one for each body, one for the directors of each body that has directors and, if
  /// the field has three components, one for each surface.
  std::vector<Series> series_of(const Output& output) const;
  /// Returns the values of a field with three components at the corners of all affine bodies, [affine bodies, 4, 3], on
  /// every rank. `block` is this rank's block of the file's rows. Collective.
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
