// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>

#include "diffsim/simulation/material.hpp"
#include "rod/rod_model.hpp"
#include "rod/rope_model.hpp"
#include "shell/cloth_model.hpp"
#include "shell/fabric_model.hpp"
#include "shell/shell_model.hpp"
#include "spring/spring_model.hpp"

namespace diffsim {

const std::vector<const CellModel*>& cell_models() {
  static const std::vector<const CellModel*> models{&spring_model(), &cloth_model(), &fabric_model(), &shell_model(),
                                                    &rope_model(),   &rod_model(),   &beam_model()};
  return models;
}

const CellModel* find_cell_model(const std::string& name) {
  const auto& all = cell_models();
  const auto found = std::find_if(all.begin(), all.end(), [&](const CellModel* model) { return model->name == name; });
  return found == all.end() ? nullptr : *found;
}

}  // namespace diffsim
