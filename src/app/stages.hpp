// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <functional>
#include <utility>

#include "app/inverse_job.hpp"
#include "app/job.hpp"
#include "diffsim/inverse/optimise.hpp"

namespace diffsim::app {

/// Number of optimisations of the command `invert`: one for each penalty of the scene's distributions, or for each
/// factor of the priors; otherwise 1.
std::size_t number_of_stages(const Scene& scene);

/// Minimises the loss subject to the constraints, once for each stage. Each optimisation starts from the result of the
/// previous optimisation. `next`: called with the result of a stage before the next stage begins.
///
/// Returns the result of one stage and the number of this stage. If the scene has factors of the priors, the stage is
/// that of the chosen factor; otherwise, the stage is the last. The numbers of iterations, evaluations and products in
/// the result are sums over all stages. If there are factors, sets the factor of the problem to the chosen factor, and
/// writes the results of all factors to the report and to l_curve.csv. Collective.
std::pair<OptimiserResult, std::size_t> optimise_by_stages(Job& job, InverseJob& inverse,
                                                           const IterateObserver& observer,
                                                           const std::function<void(const OptimiserResult&)>& next);

}  // namespace diffsim::app
