// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
#include "diffsim/elastic/elastic_term_impl.hpp"
#include "elastic/active_fibre.hpp"
#include "elastic/holzapfel_gasser_ogden.hpp"
#include "elastic/library_laws.hpp"

namespace diffsim::elastic {

std::vector<ElasticLaw> fibre_laws() { return {describe_law<HolzapfelGasserOgden>(), describe_law<ActiveFibre>()}; }

}  // namespace diffsim::elastic
