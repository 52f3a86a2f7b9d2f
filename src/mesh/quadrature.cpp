// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
#include "diffsim/mesh/impl/quadrature.hpp"

#include "diffsim/mesh/impl/element.hpp"

namespace diffsim {

FourteenPoints::FourteenPoints() {
  int q = 0;
  const auto add = [&](int i, int j, double a, double b, double weight) {
    for (int k = 0; k < 4; ++k) coordinates_[q][k] = k == i || k == j ? a : b;
    weights_[q++] = weight;
  };
  // Solution of the moment equations of degree 5, computed with 40 digits and rounded.
  constexpr double a[3] = {0.31088591926330060980, 0.092735250310891226402, 0.045503704125649649492};
  constexpr double w[3] = {0.018781320953002641800, 0.012248840519393658257, 0.0070910034628469110730};
  for (int orbit = 0; orbit < 2; ++orbit)
    for (int i = 0; i < 4; ++i) add(i, i, 1.0 - 3.0 * a[orbit], a[orbit], w[orbit]);
  for (const auto& edge : edge_corners) add(edge[0], edge[1], a[2], 0.5 - a[2], w[2]);
}

}  // namespace diffsim
