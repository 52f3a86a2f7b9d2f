// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <string>
#include <utility>
#include <vector>

namespace diffsim::app {

/// Sets the scene's PETSc options in PETSc's options database during the lifetime of the PetscOptionsOfScene. Options
/// on the command line and in the environment variable PETSC_OPTIONS take precedence over options in the scene.
class PetscOptionsOfScene {
 public:
  /// Pairs of a PETSc option's name, with a leading `-`, and the option's value.
  using Options = std::vector<std::pair<std::string, std::string>>;

  PetscOptionsOfScene(const Options& scene, const std::vector<std::string>& command_line);
  PetscOptionsOfScene(const PetscOptionsOfScene&) = delete;
  PetscOptionsOfScene& operator=(const PetscOptionsOfScene&) = delete;
  ~PetscOptionsOfScene();

  /// Returns the options of the scene and of the command line that PETSc has not read, for example because of a typing
  /// error.
  std::vector<std::string> unused() const;

 private:
  std::vector<std::string> set_;    // options set by this object
  std::vector<std::string> given_;  // options of the command line and of the scene
};

}  // namespace diffsim::app
