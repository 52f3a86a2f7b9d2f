// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
#include "diffsim/elastic/elastic_term_impl.hpp"
#include "elastic/fixed_corotated.hpp"
#include "elastic/library_laws.hpp"
#include "elastic/linear_elastic.hpp"
#include "elastic/st_venant_kirchhoff.hpp"

namespace diffsim::elastic {

std::vector<ElasticLaw> hookean_laws() {
  return {describe_law<LinearElastic>(), describe_law<StVenantKirchhoff>(), describe_law<FixedCorotated>()};
}

}  // namespace diffsim::elastic
