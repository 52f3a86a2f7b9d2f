// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <array>
#include <vector>

#include "diffsim/elastic/impl/elastic_term.hpp"

// Laws of elasticity that the library provides. Each family of laws has a separate source file, because the compilation
// of the kernels of a law takes seconds.
namespace diffsim::elastic {

std::vector<ElasticLaw> neo_hookean_laws();
/// Returns the laws of linear elasticity, St. Venant–Kirchhoff elasticity and fixed-corotated elasticity.
std::vector<ElasticLaw> hookean_laws();
std::vector<ElasticLaw> mooney_rivlin_laws();
/// Returns three laws: Ogden's law with one, two and three terms.
std::vector<ElasticLaw> ogden_laws();
/// Returns the Holzapfel–Gasser–Ogden law, and the law of fibres with an active tension (ActiveFibre).
std::vector<ElasticLaw> fibre_laws();

/// Functions that return the laws of each family.
inline constexpr std::array law_families{&neo_hookean_laws, &hookean_laws, &mooney_rivlin_laws, &ogden_laws,
                                         &fibre_laws};

}  // namespace diffsim::elastic
