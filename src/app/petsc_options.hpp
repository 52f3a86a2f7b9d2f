// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <string>
#include <utility>
#include <vector>

namespace diffsim::app {

/// The scene's PETSc options, in PETSc's database while this lives. What the command line says, or PETSC_OPTIONS,
/// counts more.
class PetscOptionsOfScene {
 public:
  using Options = std::vector<std::pair<std::string, std::string>>;  ///< `-name`, value

  PetscOptionsOfScene(const Options& scene, const std::vector<std::string>& command_line);
  PetscOptionsOfScene(const PetscOptionsOfScene&) = delete;
  PetscOptionsOfScene& operator=(const PetscOptionsOfScene&) = delete;
  ~PetscOptionsOfScene();

  /// Those of the scene and of the command line that nobody has asked for.
  std::vector<std::string> unused() const;

 private:
  std::vector<std::string> set_;    // by this object
  std::vector<std::string> given_;  // by the user
};

}  // namespace diffsim::app
