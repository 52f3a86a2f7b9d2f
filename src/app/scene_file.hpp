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

/// Mesh, solvers and losses of a scene file, for programs that run the scene themselves.
class SceneFile {
 public:
  /// Solver and loss of one experiment, or of a scene without `experiments`.
  struct Experiment {
    Scene scene;
    std::shared_ptr<DifferentiableScene> solver;
    std::shared_ptr<SumLoss> loss;  ///< nullptr if the scene has no `objective`
  };

  /// Reads the scene and the files that the scene names. The sections `checkpoint`, `optimiser`, `output` and `petsc`
  /// are checked, but have no effect. Throws InputError, with the location in the scene file, if the scene or a file is
  /// not valid. Collective.
  SceneFile(MPI_Comm comm, const std::string& path);
  /// Creates the objects of the scene whose YAML document is `document`, the same on all ranks. `file`: path of a scene
  /// file, which need not exist; relative paths in the document are relative to the folder of `file`. Throws the
  /// InputErrors of the other constructor. Collective.
  SceneFile(MPI_Comm comm, Value document, const std::string& file);

  const Value& document() const { return document_; }  ///< YAML document from which the scene was created
  const std::shared_ptr<TetrahedralMesh>& mesh() const { return mesh_; }
  const std::vector<Experiment>& experiments() const { return experiments_; }
  /// Warnings about parts of the robots' URDF files that have no effect.
  const std::vector<std::string>& warnings() const { return warnings_; }

  /// Inverse problem with the priors of the scene.
  struct Problem {
    std::unique_ptr<InverseProblem> problem;               ///< problem of all experiments
    std::vector<std::unique_ptr<InverseProblem>> further;  ///< problems added to `problem`
  };
  /// Creates the inverse problem with the given checkpoint options. The SceneFile must outlive the problem. Throws
  /// InputError if the scene has no `objective` or no `parameters`. Collective.
  Problem make_problem(const CheckpointOptions& options = {}) const;

 private:
  Value document_;
  std::shared_ptr<TetrahedralMesh> mesh_;
  std::vector<Experiment> experiments_;
  std::vector<std::string> warnings_;
};

}  // namespace diffsim::app
