// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
#include "load/segment_moment.hpp"

#include <utility>

#include "diffsim/core/stencil_term_impl.hpp"

namespace diffsim {

std::unique_ptr<ForceTerm> make_segment_moment(const std::string& parameter, std::vector<int> vertices) {
  PointParameter moment{parameter, 3};
  moment.is_dead_load = true;
  return std::make_unique<StencilTerm<SegmentMoment>>(parameter, SegmentMoment(), std::vector{moment},
                                                      std::move(vertices));
}

}  // namespace diffsim
