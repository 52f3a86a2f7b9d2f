// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
#include "body/linear_form.hpp"

#include <algorithm>
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

void add_component(const LinearForm& form, const Vector& direction, Constraint& constraint) {
  for (const auto& [node, weight] : form.terms) {
    std::vector<Constraint::Entry>& entries = constraint.entries;
    auto entry = std::find_if(entries.begin(), entries.end(), [&, k = node](const auto& e) { return e.node == k; });
    if (entry == entries.end()) entry = entries.insert(entries.end(), Constraint::Entry{node, 0.0, 0.0});
    for (std::size_t c = 0; c < 3; ++c) entry->linear[c] += weight * direction[c];
  }
  for (std::size_t c = 0; c < 3; ++c) constraint.value -= direction[c] * form.constant[c];
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
  constexpr double sign[3][4] = {{1, -1, 1, -1}, {1, 1, -1, -1}, {1, -1, -1, 1}};
  std::vector<Constraint> constraints;
  for (std::size_t k = 0; k < 3; ++k)
    for (std::size_t l = k; l < 3; ++l) {
      LinearForm u[2];
      Vector rest[2]{};
      for (std::size_t side = 0; side < 2; ++side)
        for (std::size_t a = 0; a < 4; ++a) {
          const double weight = 0.25 * sign[side == 0 ? k : l][a];
          u[side].terms.emplace_back(first_node_ + static_cast<int>(a), weight);
          for (std::size_t c = 0; c < 3; ++c) rest[side][c] += weight * rest_[a][c];
        }
      constraints.push_back(
          product(u[0], u[1], rest[0][0] * rest[1][0] + rest[0][1] * rest[1][1] + rest[0][2] * rest[1][2]));
    }
  return constraints;
}

}  // namespace diffsim::body
