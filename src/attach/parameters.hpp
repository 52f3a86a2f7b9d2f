// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "diffsim/core/parameter_spec.hpp"

namespace diffsim {

/// Specifications of the parameters of attachments, which are springs between the vertices of a region and anchors
/// (points of cells, or vertices) in another region. The names of the parameters of an attachment end with the name of
/// the attached region, for example `attachment_stiffness:REGION`.
struct AttachmentParameters {
  static constexpr ParameterSpec stiffness{.name = "attachment_stiffness",
                                           .unit = "N/m",
                                           .meaning = "stiffness of the spring by which a vertex is attached",
                                           .range = Interval::not_negative(),
                                           .sample = 300.0};
  static constexpr ParameterSpec place{
      .name = "attachment_place",
      .unit = "1",
      .meaning = "coordinates in a cell of the point that a vertex is attached to, see anchor.hpp",
      .home = ParameterHome::vertices,
      .components = 3};
};

}  // namespace diffsim
