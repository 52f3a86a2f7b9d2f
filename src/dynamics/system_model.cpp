// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
#include "dynamics/system_model.hpp"

#include <string>
#include <utility>

#include "diffsim/core/error.hpp"

namespace diffsim {

SystemModel::SystemModel(std::shared_ptr<System> system, double dt) : system_(std::move(system)), dt_(dt) {
  if (!(dt_ > 0.0)) throw Error("dt is " + std::to_string(dt_) + " s; it must be positive", ErrorKind::input);
}

}  // namespace diffsim
