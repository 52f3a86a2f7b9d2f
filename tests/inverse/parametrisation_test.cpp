// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause

#include "inverse/parametrisation.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <memory>
#include <string>
#include <utility>

namespace diffsim::parametrisation_test {
namespace {

double dot(const std::vector<double>& a, const std::vector<double>& b) {
  double sum = 0.0;
  for (std::size_t i = 0; i < a.size(); ++i) sum += a[i] * b[i];
  return sum;
}

/// a + h b.
std::vector<double> moved(std::vector<double> a, double h, const std::vector<double>& b) {
  for (std::size_t i = 0; i < a.size(); ++i) a[i] += h * b[i];
  return a;
}

/// Fourth-order difference of f at 0.
template <class F>
double slope(const F& f) {
  const double h = 1e-3;
  return (8.0 * (f(h) - f(-h)) - (f(2.0 * h) - f(-2.0 * h))) / (12.0 * h);
}

TEST(parametrisation, value_maps_have_the_derivatives_of_their_values) {
  for (const auto& map : {make_identity(), make_exponential()})
    for (const double u : {-0.7, 0.4, 1.3}) {
      EXPECT_NEAR(map->inverse(map->value(u)), u, 1e-15);
      EXPECT_NEAR(map->derivative(u), slope([&](double h) { return map->value(u + h); }), 1e-10);
      EXPECT_NEAR(map->second(u), slope([&](double h) { return map->derivative(u + h); }), 1e-10);
    }
}

std::vector<std::pair<std::string, std::unique_ptr<EntryMap>>> entry_maps() {
  // Three values; eight entries, of which the groups and the single entries leave some unchanged.
  const std::vector<double> B = {0.3, -0.2, 0.5, 0.1,  0.4, -0.6, 0.2, 0.2, 0.9, -0.3, 0.8, 0.1,
                                 0.5, 0.3,  0.1, -0.9, 0.2, 0.4,  0.6, 0.1, 0.3, 0.2,  0.7, -0.1};
  const std::vector<double> base = {1.0, 2.0, 0.5, 1.5, 3.0, 0.7, 1.1, 0.9};
  std::vector<std::pair<std::string, std::unique_ptr<EntryMap>>> maps;
  maps.emplace_back("groups", make_groups({2, 0, -1, 1, 1, -1, 2, 0}, 3, 1));
  maps.emplace_back("entries", make_entries(3));
  maps.emplace_back("linear", make_linear_map(B, 3, base));
  const std::vector<double> zeros(8, 0.0), small(8, 0.1);
  maps.emplace_back("exponential of a linear map", make_scaled_exponential(make_linear_map(B, 3, zeros), base));
  maps.emplace_back("exponential of groups",
                    make_scaled_exponential(make_groups({2, 0, -1, 1, 1, -1, 2, 0}, 3, 1), base));
  maps.emplace_back("exponential of entries", make_scaled_exponential(make_entries(3), base));
  // Densities must not be negative.
  const std::vector<double> large(8, 3.0);
  for (const double penalty : {1.0, 2.0, 3.5})
    maps.emplace_back("power law with penalty " + std::to_string(penalty),
                      make_power_law(make_linear_map(B, 3, large), base, 0.1, penalty));
  // The second value of q and the second entry are prescribed.
  const std::vector<double> prescribed = {std::nan(""), 0.7, std::nan("")};
  maps.emplace_back("linear map with a prescribed value", make_prescribed_map(make_linear_map(B, 3, base), prescribed));
  maps.emplace_back("power law with a prescribed density",
                    make_power_law(make_prescribed_map(make_linear_map(B, 3, large), prescribed), base, 0.1, 3.5));
  // Two maps with four entries each.
  const std::vector<double> few = {1.0, 2.0, 0.5, 1.5};
  std::vector<std::unique_ptr<EntryMap>> parts;
  parts.push_back(make_power_law(make_groups({2, 0, 0, 2}, 3, 1), few, 0.1, 1.0));
  parts.push_back(make_scaled_exponential(make_groups({0, 0, 1, 2}, 3, 1), few));
  maps.emplace_back("stacked maps", make_stacked_maps(std::move(parts), 4));
  // The exponent is not linear.
  maps.emplace_back("exponential of an exponential",
                    make_scaled_exponential(make_scaled_exponential(make_linear_map(B, 3, zeros), small), base));
  return maps;
}

TEST(parametrisation, entry_maps_have_the_derivatives_of_their_values) {
  const std::vector<double> q = {0.4, -0.3, 0.8}, dq = {0.7, 0.2, -0.5}, w = {0.3, -0.8, 0.4, 0.6, 0.2, -0.1, 0.5, 0.9},
                            dw = {-0.2, 0.1, 0.7, 0.3, -0.6, 0.8, 0.4, -0.3};
  for (const auto& [name, map] : entry_maps()) {
    const EntryMap& E = *map;
    const auto at = [&](double h) {
      std::vector<double> p(8, 7.0);
      E.set(moved(q, h, dq), p);
      return p;
    };
    std::vector<double> dp(8, 0.0);
    E.tangent(q, dq, dp);
    for (std::size_t i = 0; i < 8; ++i) EXPECT_NEAR(dp[i], slope([&](double h) { return at(h)[i]; }), 1e-10) << name;
    EXPECT_NEAR(dot(dp, w), dot(E.adjoint(q, w), dq), 1e-14 * std::max(1.0, std::abs(dot(dp, w)))) << name;
    const std::vector<double> change = E.adjoint_tangent(q, dq, w, dw);
    ASSERT_EQ(change.size(), 3U) << name;
    for (std::size_t j = 0; j < 3; ++j)
      EXPECT_NEAR(change[j], slope([&](double h) { return E.adjoint(moved(q, h, dq), moved(w, h, dw))[j]; }), 1e-10)
          << name;
  }
}

TEST(parametrisation, entries_outside_of_the_unknown_keep_their_values) {
  std::vector<double> p(8, 7.0);
  make_groups({2, 0, -1, -1}, 3, 2)->set({1.0, 2.0, 3.0, 4.0, 5.0, 6.0}, p);
  EXPECT_EQ(p, (std::vector{5.0, 6.0, 1.0, 2.0, 7.0, 7.0, 7.0, 7.0}));
  make_entries(2)->set({8.0, 9.0}, p);
  EXPECT_EQ(p, (std::vector{8.0, 9.0, 1.0, 2.0, 7.0, 7.0, 7.0, 7.0}));
}

TEST(parametrisation, a_power_law_has_the_values_of_void_and_material) {
  std::vector<double> p(3, 7.0);
  make_power_law(make_entries(3), {4.0, 5.0, 6.0}, 0.01, 3.0)->set({0.0, 1.0, 0.5}, p);
  EXPECT_NEAR(p[0], 0.04, 1e-15);
  EXPECT_NEAR(p[1], 5.0, 1e-15);
  EXPECT_NEAR(p[2], 6.0 * (0.01 + 0.99 / 8.0), 1e-15);
}

TEST(parametrisation, prescribed_values_replace_those_of_the_unknown) {
  const double nan = std::nan("");
  const auto map = make_prescribed_map(make_linear_map({1.0, 1.0, 0.0, 1.0}, 2, {0.0, 0.0}), {0.25, nan});
  std::vector<double> p(2, 7.0), dp(2, 7.0);
  map->set({3.0, 0.5}, p);
  EXPECT_EQ(p, (std::vector{0.25, 0.5}));
  map->tangent({3.0, 0.5}, {1.0, 2.0}, dp);
  EXPECT_EQ(dp, (std::vector{0.0, 2.0}));
  EXPECT_EQ(map->adjoint({3.0, 0.5}, {1.0, 2.0}), (std::vector{0.0, 2.0}));
  // With the transposed matrix, the second entry is the sum of the prescribed value and the unknown.
  const auto sum = make_prescribed_map(make_linear_map({1.0, 0.0, 1.0, 1.0}, 2, {0.0, 0.0}), {0.25, nan});
  sum->set({3.0, 0.5}, p);
  EXPECT_EQ(p, (std::vector{0.25, 0.75}));
}

TEST(parametrisation, an_exponential_sets_all_values) {
  std::vector<double> p(3, 7.0), dp(3, 7.0);
  const auto map = make_scaled_exponential(make_groups({-1, 0, -1}, 1, 1), {4.0, 5.0, 6.0});
  map->set({0.0}, p);
  map->tangent({0.0}, {2.0}, dp);
  EXPECT_EQ(p, (std::vector{4.0, 5.0, 6.0}));
  EXPECT_EQ(dp, (std::vector{0.0, 10.0, 0.0}));
}

}  // namespace
}  // namespace diffsim::parametrisation_test
