// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
#include "body/linear_form.hpp"

#include <algorithm>
#include <cstddef>
#include <utility>
#include <vector>

#include "body/placement.hpp"
#include "diffsim/core/impl/small_tensor.hpp"

namespace diffsim::body {

template <class T>
LinearFormOf<T> operator-(const LinearFormOf<T>& a, const LinearFormOf<T>& b) {
  LinearFormOf<T> difference = a;
  for (const auto& [node, weight, rest] : b.terms) difference.terms.push_back({node, -weight, rest});
  for (std::size_t c = 0; c < 3; ++c) difference.at_rest[c] = difference.at_rest[c] - b.at_rest[c];
  return difference;
}

namespace {

/// Returns the entry of a node in `entries`, which is added if it does not exist.
template <class Entry>
Entry& entry_of(int node, const Vector& rest, std::vector<Entry>& entries) {
  const auto found = std::find_if(entries.begin(), entries.end(), [&](const Entry& e) { return e.node == node; });
  if (found != entries.end()) return *found;
  Entry entry{};
  entry.node = node;
  entry.rest = rest;
  entries.push_back(entry);
  return entries.back();
}

}  // namespace

template <class T>
ConstraintOf<T> product(const LinearFormOf<T>& a, const LinearFormOf<T>& b) {
  ConstraintOf<T> constraint{{}, a.at_rest, b.at_rest};
  for (const auto& [node, weight, rest] : a.terms) entry_of(node, rest, constraint.entries).a += weight;
  for (const auto& [node, weight, rest] : b.terms) entry_of(node, rest, constraint.entries).b += weight;
  return constraint;
}

template <class T>
void add_component(const LinearForm& form, const Vector& direction, ConstraintOf<T>& constraint) {
  for (const auto& [node, weight, rest] : form.terms) {
    auto& entry = entry_of(node, rest, constraint.entries);
    for (std::size_t c = 0; c < 3; ++c) entry.linear[c] += T(weight * direction[c]);
  }
}

std::array<Vector, 3> inverse_edges(const std::array<Vector, 4>& rest) {
  Mat3<double> edges;
  for (int k = 0; k < 3; ++k)
    for (int c = 0; c < 3; ++c)
      edges(c, k) =
          rest[static_cast<std::size_t>(k + 1)][static_cast<std::size_t>(c)] - rest[0][static_cast<std::size_t>(c)];
  const Mat3<double> inverted = inverse(edges);
  std::array<Vector, 3> rows;
  for (int k = 0; k < 3; ++k)
    for (int c = 0; c < 3; ++c) rows[static_cast<std::size_t>(k)][static_cast<std::size_t>(c)] = inverted(k, c);
  return rows;
}

Frame::Frame(int first_node, const std::array<Vector, 4>& rest)
    : first_node_(first_node), rest_(rest), to_weights_(inverse_edges(rest)) {}

template <class T>
LinearFormOf<T> Frame::direction(const VectorOf<T>& rest) const {
  if (is_world()) return {{}, rest};
  LinearFormOf<T> form{{}, rest};
  T sum(0.0);
  for (std::size_t k = 0; k < 3; ++k) {
    const T weight = to_weights_[k][0] * rest[0] + to_weights_[k][1] * rest[1] + to_weights_[k][2] * rest[2];
    form.terms.push_back({first_node_ + static_cast<int>(k) + 1, weight, rest_[k + 1]});
    sum += weight;
  }
  form.terms.push_back({first_node_, -sum, rest_[0]});
  return form;
}

template <class T>
LinearFormOf<T> Frame::point(const VectorOf<T>& rest) const {
  if (is_world()) return {{}, rest};
  LinearFormOf<T> form = direction(VectorOf<T>{rest[0] - rest_[0][0], rest[1] - rest_[0][1], rest[2] - rest_[0][2]});
  form.terms.back().weight = form.terms.back().weight + 1.0;
  form.at_rest = rest;
  return form;
}

std::vector<Constraint> Frame::rigidity() const {
  constexpr double sign[3][4] = {{1, -1, 1, -1}, {1, 1, -1, -1}, {1, -1, -1, 1}};
  std::vector<Constraint> constraints;
  for (std::size_t k = 0; k < 3; ++k)
    for (std::size_t l = k; l < 3; ++l) {
      LinearForm u[2];
      for (std::size_t side = 0; side < 2; ++side)
        for (std::size_t a = 0; a < 4; ++a) {
          const double weight = 0.25 * sign[side == 0 ? k : l][a];
          u[side].terms.push_back({first_node_ + static_cast<int>(a), weight, rest_[a]});
          for (std::size_t c = 0; c < 3; ++c) u[side].at_rest[c] += weight * rest_[a][c];
        }
      constraints.push_back(product(u[0], u[1]));
    }
  return constraints;
}

#define DIFFSIM_LINEAR_FORM(T)                                                        \
  template LinearFormOf<T> operator-(const LinearFormOf<T>&, const LinearFormOf<T>&); \
  template ConstraintOf<T> product(const LinearFormOf<T>&, const LinearFormOf<T>&);   \
  template void add_component(const LinearForm&, const Vector&, ConstraintOf<T>&);    \
  template LinearFormOf<T> Frame::direction(const VectorOf<T>&) const;                \
  template LinearFormOf<T> Frame::point(const VectorOf<T>&) const;
DIFFSIM_LINEAR_FORM(double)
DIFFSIM_LINEAR_FORM(Along)
DIFFSIM_LINEAR_FORM(ByPlacement<double>)
DIFFSIM_LINEAR_FORM(ByPlacement<Along>)
#undef DIFFSIM_LINEAR_FORM

}  // namespace diffsim::body
