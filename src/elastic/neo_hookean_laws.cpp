// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
#include "diffsim/elastic/elastic_term_impl.hpp"
#include "elastic/library_laws.hpp"
#include "elastic/neo_hookean.hpp"
#include "elastic/neo_hookean_quadratic.hpp"
#include "elastic/stable_neo_hookean.hpp"

namespace diffsim::elastic {

std::vector<ElasticLaw> neo_hookean_laws() {
  return {describe_law<NeoHookean>(), describe_law<NeoHookeanQuadratic>(), describe_law<StableNeoHookean>()};
}

}  // namespace diffsim::elastic
