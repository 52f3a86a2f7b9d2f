// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
#include "app/petsc_options.hpp"

#include <petscsys.h>

#include <algorithm>
#include <cctype>

#include "diffsim/core/error.hpp"

namespace diffsim::app {
namespace {

bool is_option(const std::string& word) {
  return word.size() > 1 && word[0] == '-' && !std::isdigit(static_cast<unsigned char>(word[1])) && word[1] != '.';
}

bool contains(const std::vector<std::string>& words, const std::string& word) {
  return std::find(words.begin(), words.end(), word) != words.end();
}

/// Returns true if PETSc itself reads the option when PETSc starts or ends.
bool is_of_petsc_itself(const std::string& option) {
  const char* const prefixes[] = {"-log", "-malloc", "-options", "-objects", "-memory", "-info", "-citations"};
  return std::any_of(std::begin(prefixes), std::end(prefixes), [&](const char* p) { return option.starts_with(p); });
}

std::vector<std::string> options_left() {
  PetscInt count = 0;
  char **names = nullptr, **values = nullptr;
  DIFFSIM_PETSC(PetscOptionsLeftGet(nullptr, &count, &names, &values));
  std::vector<std::string> left;
  for (PetscInt i = 0; i < count; ++i) left.push_back("-" + std::string(names[i]));
  DIFFSIM_PETSC(PetscOptionsLeftRestore(nullptr, &count, &names, &values));
  return left;
}

}  // namespace

PetscOptionsOfScene::PetscOptionsOfScene(const Options& scene, const std::vector<std::string>& command_line) {
  for (const std::string& word : command_line)
    if (is_option(word)) given_.push_back(word);
  for (const auto& [name, value] : scene) {
    PetscBool present = PETSC_FALSE;
    DIFFSIM_PETSC(PetscOptionsHasName(nullptr, nullptr, name.c_str(), &present));
    if (present || contains(given_, name)) continue;
    DIFFSIM_PETSC(PetscOptionsSetValue(nullptr, name.c_str(), value.empty() ? nullptr : value.c_str()));
    set_.push_back(name);
  }
  given_.insert(given_.end(), set_.begin(), set_.end());
}

PetscOptionsOfScene::~PetscOptionsOfScene() {
  for (const std::string& name : set_) (void)PetscOptionsClearValue(nullptr, name.c_str());
}

std::vector<std::string> PetscOptionsOfScene::unused() const {
  std::vector<std::string> unused;
  for (const std::string& name : options_left())
    if (contains(given_, name) && !is_of_petsc_itself(name)) unused.push_back(name);
  return unused;
}

}  // namespace diffsim::app
