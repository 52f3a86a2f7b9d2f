// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <vector>

#include "diffsim/elastic/impl/elastic_term.hpp"

namespace diffsim::elastic {

// Laws of the library, in several source files because the kernels of each law take long to compile.
std::vector<ElasticLaw> neo_hookean_laws();
std::vector<ElasticLaw> hookean_laws();
std::vector<ElasticLaw> mooney_rivlin_laws();
std::vector<ElasticLaw> ogden_laws();
std::vector<ElasticLaw> fibre_laws();

}  // namespace diffsim::elastic
