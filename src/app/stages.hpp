// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <functional>
#include <utility>

#include "app/inverse_job.hpp"
#include "app/job.hpp"
#include "diffsim/inverse/optimise.hpp"

namespace diffsim::app {

/// Returns the number of optimisations (stages) of the command `invert`: the number of factors of the priors
/// (PriorFactors), or the largest number of exponents `DistributionEntry::penalties` of a parameter; otherwise 1.
std::size_t number_of_stages(const Scene& scene);

/// Minimises the loss subject to the constraints once for each stage, that is, for each factor of the priors or each
/// exponent of a material distribution. Each optimisation starts from the result of the previous optimisation. `next`:
/// called with the result of a stage before the next stage begins.
///
/// Returns the result of one stage and the number of this stage, from 0 on. If the scene has factors of the priors,
/// this is the stage of the chosen factor; otherwise, this is the last stage. The numbers of iterations, evaluations
/// and products in the result are sums over all stages. If there are factors, sets the factor of the problem's priors
/// to the chosen factor, and writes the loss without priors and the priors at the result for each factor to l_curve.csv
/// and to the report. Collective.
std::pair<OptimiserResult, std::size_t> optimise_by_stages(Job& job, InverseJob& inverse,
                                                           const IterateObserver& observer,
                                                           const std::function<void(const OptimiserResult&)>& next);

}  // namespace diffsim::app
