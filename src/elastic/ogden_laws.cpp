// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
#include "diffsim/elastic/elastic_term_impl.hpp"
#include "elastic/library_laws.hpp"
#include "elastic/ogden.hpp"

namespace diffsim::elastic {

std::vector<ElasticLaw> ogden_laws() {
  return {describe_law<Ogden<1>>(), describe_law<Ogden<2>>(), describe_law<Ogden<3>>()};
}

}  // namespace diffsim::elastic
