// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <functional>
#include <utility>

#include "app/inverse_job.hpp"
#include "app/job.hpp"
#include "diffsim/inverse/optimise.hpp"

namespace diffsim::app {

/// Returns the number of optimisations (stages) of the command `invert`: the number of factors of the priors if the
/// scene has PriorFactors; otherwise the largest number of exponents `DistributionEntry::penalties` of a parameter, or
/// 1 if no parameter has a DistributionEntry.
std::size_t number_of_stages(const Scene& scene);

/// Minimises the loss subject to the constraints once for each stage, that is, for each factor of the priors or each
/// penalty exponent of a material distribution. The optimisation of each stage starts from the result of the previous
/// stage. `next`: function that is called after each stage except the last, with the result of the stage.
///
/// Returns the optimisation result of one stage and the number of this stage, counted from 0. If the scene has factors
/// of the priors, the returned stage is the stage of the factor that is chosen by the misfit or by the corner of the
/// L-curve; otherwise the returned stage is the last stage. In the returned optimisation result, the numbers of
/// iterations, evaluations and products with the Hessian are sums over all stages. If the scene has factors of the
/// priors, sets the factor of the problem's priors to the factor of the returned stage. For the result of the
/// optimisation with each factor of the priors, writes the loss without priors and the value of the priors for the
/// factor 1 to l_curve.csv and to the report. Collective.
std::pair<OptimiserResult, std::size_t> optimise_by_stages(Job& job, InverseJob& inverse,
                                                           const IterateObserver& observer,
                                                           const std::function<void(const OptimiserResult&)>& next);

}  // namespace diffsim::app
