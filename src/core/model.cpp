// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
#include "diffsim/core/model.hpp"

#include <string>

#include "diffsim/core/error.hpp"

namespace diffsim {

void Model::set_reversible(bool wanted) {
  if (wanted)
    throw Error("the steps of this model cannot be reversed exactly; use a checkpoint schedule other than reversible",
                ErrorKind::input);
}

void Model::step_back(int n, State&, Record&) {
  throw Error("step " + std::to_string(n) + " cannot be reversed: the model is not set to be reversible");
}

}  // namespace diffsim
