// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// Library of differentiable mechanics. The header diffsim/diffsim.hpp declares everything that a program needs to set
/// up bodies, simulate them and compute gradients. Authors of materials and force terms also include the headers that
/// CONTRIBUTING.md names.
namespace diffsim {}

#include "diffsim/body/joint.hpp"
#include "diffsim/core/error.hpp"
#include "diffsim/core/loss.hpp"
#include "diffsim/core/runtime.hpp"
#include "diffsim/inverse/gradient_check.hpp"
#include "diffsim/inverse/losses.hpp"
#include "diffsim/inverse/optimise.hpp"
#include "diffsim/inverse/posterior.hpp"
#include "diffsim/inverse/prior.hpp"
#include "diffsim/inverse/problem.hpp"
#include "diffsim/io/read_mesh.hpp"
#include "diffsim/io/trajectory.hpp"
#include "diffsim/mesh/construction.hpp"
#include "diffsim/mesh/tetrahedral_mesh.hpp"
#include "diffsim/sensor/feedback.hpp"
#include "diffsim/simulation/robot.hpp"
#include "diffsim/simulation/simulator.hpp"
