// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
#include "diffsim/elastic/elastic_term_impl.hpp"
#include "elastic/library_laws.hpp"
#include "elastic/mooney_rivlin.hpp"

namespace diffsim::elastic {

std::vector<ElasticLaw> mooney_rivlin_laws() { return {describe_law<MooneyRivlin>()}; }

}  // namespace diffsim::elastic
