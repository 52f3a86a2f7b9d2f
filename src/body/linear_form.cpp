// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
#include "body/linear_form.hpp"

#include <cstddef>
#include <map>

#include "diffsim/core/impl/small_tensor.hpp"

namespace diffsim::body {

LinearForm operator-(const LinearForm& a, const LinearForm& b) {
  LinearForm difference = a;
  for (const auto& [node, weight] : b.terms) difference.terms.emplace_back(node, -weight);
  for (std::size_t c = 0; c < 3; ++c) difference.constant[c] -= b.constant[c];
  return difference;
}

Constraint product(const LinearForm& a, const LinearForm& b, double value) {
  std::map<int, std::array<double, 2>> weights;
  for (const auto& [node, weight] : a.terms) weights[node][0] += weight;
  for (const auto& [node, weight] : b.terms) weights[node][1] += weight;
  Constraint constraint{{}, a.constant, b.constant, value};
  for (const auto& [node, weight] : weights)
    if (weight[0] != 0.0 || weight[1] != 0.0) constraint.entries.push_back({node, weight[0], weight[1]});
  return constraint;
}

Frame::Frame(int first_node, const std::array<Vector, 4>& rest) : first_node_(first_node), rest_(rest) {
  Mat3<double> edges;
  for (int k = 0; k < 3; ++k)
    for (int c = 0; c < 3; ++c)
      edges(c, k) =
          rest[static_cast<std::size_t>(k + 1)][static_cast<std::size_t>(c)] - rest[0][static_cast<std::size_t>(c)];
  const Mat3<double> inverted = inverse(edges);
  for (int k = 0; k < 3; ++k)
    for (int c = 0; c < 3; ++c) to_weights_[static_cast<std::size_t>(k)][static_cast<std::size_t>(c)] = inverted(k, c);
}

LinearForm Frame::direction(const Vector& rest) const {
  if (is_world()) return {{}, rest};
  LinearForm form;
  double sum = 0.0;
  for (std::size_t k = 0; k < 3; ++k) {
    const double weight = to_weights_[k][0] * rest[0] + to_weights_[k][1] * rest[1] + to_weights_[k][2] * rest[2];
    form.terms.emplace_back(first_node_ + static_cast<int>(k) + 1, weight);
    sum += weight;
  }
  form.terms.emplace_back(first_node_, -sum);
  return form;
}

LinearForm Frame::point(const Vector& rest) const {
  if (is_world()) return {{}, rest};
  LinearForm form = direction({rest[0] - rest_[0][0], rest[1] - rest_[0][1], rest[2] - rest_[0][2]});
  form.terms.back().second += 1.0;
  return form;
}

std::vector<Constraint> Frame::rigidity() const {
  std::vector<Constraint> constraints;
  for (std::size_t i = 0; i < 4; ++i)
    for (std::size_t j = i + 1; j < 4; ++j) {
      double square = 0.0;
      for (std::size_t c = 0; c < 3; ++c) square += (rest_[i][c] - rest_[j][c]) * (rest_[i][c] - rest_[j][c]);
      const LinearForm edge{{{first_node_ + static_cast<int>(i), 1.0}, {first_node_ + static_cast<int>(j), -1.0}}, {}};
      constraints.push_back(product(edge, edge, square));
    }
  return constraints;
}

}  // namespace diffsim::body
