// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "app/scene.hpp"
#include "diffsim/inverse/losses.hpp"
#include "diffsim/inverse/problem.hpp"
#include "diffsim/simulation/scene.hpp"

namespace diffsim::app {

/// Mesh, solvers and losses of a scene file, for programs that call the solvers themselves.
class SceneFile {
 public:
  /// Scene, solver and loss of one experiment, or of a scene without `experiments`.
  struct Experiment {
    Scene scene;
    std::shared_ptr<DifferentiableScene> solver;
    std::shared_ptr<SumLoss> loss;  ///< sum of the objectives; nullptr if the scene has no `objective`
  };

  /// Reads the scene file `path` and the files that the scene names. The sections `checkpoint`, `optimiser`, `output`
  /// and `petsc` of the scene are checked, but have no effect on the SceneFile. Throws InputError, with the location of
  /// the error in the scene file, if the scene or a file that the scene names is not valid. Collective.
  SceneFile(MPI_Comm comm, const std::string& path);
  /// Creates the mesh, the solvers and the losses of the scene whose YAML document is `document`. `document` must be
  /// the same on all ranks. `file`: path of a scene file, which need not exist; relative paths in the document are
  /// relative to the folder of `file`. Throws InputError, with the location of the error in the scene file, if the
  /// document or a file that the document names is not valid. Collective.
  SceneFile(MPI_Comm comm, Value document, const std::string& file);

  const Value& document() const { return document_; }  ///< YAML document from which the scene was created
  const std::shared_ptr<TetrahedralMesh>& mesh() const { return mesh_; }
  const std::vector<Experiment>& experiments() const { return experiments_; }
  /// Warnings about parts of the robots' URDF files that have no effect.
  const std::vector<std::string>& warnings() const { return warnings_; }

  /// Inverse problem with the priors of the scene.
  struct Problem {
    /// Inverse problem whose loss is the sum of the losses of all experiments.
    std::unique_ptr<InverseProblem> problem;
    /// Inverse problems of all experiments except the first, added to `problem` by `InverseProblem::add`.
    std::vector<std::unique_ptr<InverseProblem>> further;
  };
  /// Creates the inverse problem of the scene, with the given checkpoint options. The SceneFile must outlive the
  /// inverse problem. Throws InputError if the scene has no `solver.steps`, no `objective` or no `parameters`.
  /// Collective.
  Problem make_problem(const CheckpointOptions& options = {}) const;

 private:
  Value document_;
  std::shared_ptr<TetrahedralMesh> mesh_;
  std::vector<Experiment> experiments_;
  std::vector<std::string> warnings_;
};

}  // namespace diffsim::app
