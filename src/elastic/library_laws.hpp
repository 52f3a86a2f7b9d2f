// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <vector>

#include "diffsim/elastic/impl/elastic_term.hpp"

// Laws of the library. Each family of laws has its own source file, because the kernels of a law take seconds to
// compile.
namespace diffsim::elastic {

std::vector<ElasticLaw> neo_hookean_laws();
/// Linear elasticity, St. Venant–Kirchhoff and fixed corotated elasticity.
std::vector<ElasticLaw> hookean_laws();
std::vector<ElasticLaw> mooney_rivlin_laws();
/// Ogden's law with one, two and three terms.
std::vector<ElasticLaw> ogden_laws();
/// Holzapfel–Gasser–Ogden and fibres with a prescribed activation.
std::vector<ElasticLaw> fibre_laws();

}  // namespace diffsim::elastic
