// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
#include "inverse/slope.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

namespace diffsim::inverse {
namespace {

constexpr double infinity = std::numeric_limits<double>::infinity();
constexpr int highest_order = 6;  // columns of the Richardson table; the error of column m = 0, 1, … is O(h^(2m+2))

/// Noise estimates from a difference table of equally spaced values (Moré & Wild 2011, eq. 2.6): the standard deviation
/// from each column, and a flag for columns with values of both signs.
struct NoiseLevels {
  std::vector<double> sigma;
  std::vector<bool> both_signs;
};

NoiseLevels noise_levels(std::vector<double> values) {
  NoiseLevels levels;
  double gamma = 1.0;
  for (int k = 1; values.size() > 1; ++k) {
    for (std::size_t i = 0; i + 1 < values.size(); ++i) values[i] = values[i + 1] - values[i];
    values.pop_back();
    gamma *= 0.5 * k / (2.0 * k - 1.0);  // (k!)² / (2k)!
    double squares = 0.0;
    for (const double value : values) squares += value * value;
    levels.sigma.push_back(std::sqrt(gamma * squares / static_cast<double>(values.size())));
    const auto [least, most] = std::minmax_element(values.begin(), values.end());
    levels.both_signs.push_back(*least < 0.0 && *most > 0.0);
  }
  return levels;
}

/// Noise level of the first suitable column of the difference table; negative if no column is suitable. A column is
/// suitable if the column has values of both signs, and if the level of the column and the levels of the next two
/// columns agree up to a factor of four.
double agreed_level(const NoiseLevels& levels) {
  for (std::size_t k = 0; k + 2 < levels.sigma.size(); ++k) {
    const auto [least, most] = std::minmax({levels.sigma[k], levels.sigma[k + 1], levels.sigma[k + 2]});
    if (levels.both_signs[k] && most <= 4.0 * least) return levels.sigma[k];
  }
  return -1.0;
}

/// Three standard deviations of the central difference (f(h) - f(-h)) / (2h), where `noise` is the standard deviation
/// of f.
double noise_of_difference(double noise, double h) { return 3.0 * noise / (std::sqrt(2.0) * h); }

/// Row of the Richardson table: the central difference at one step size, the extrapolations of this difference with
/// previous rows, and the noise of each entry.
struct Row {
  std::vector<double> entries, noise;
};

Row extrapolate(const LinePair& pair, double noise, const Row& before) {
  Row row{{(pair.plus - pair.minus) / (2.0 * pair.h)}, {noise_of_difference(noise, pair.h)}};
  double factor = 1.0;
  for (std::size_t m = 0; m < before.entries.size() && m + 1 < highest_order; ++m) {
    factor *= 4.0;
    row.entries.push_back((factor * row.entries[m] - before.entries[m]) / (factor - 1.0));
    row.noise.push_back((factor * row.noise[m] + before.noise[m]) / (factor - 1.0));
  }
  return row;
}

/// Entry of the Richardson table with its error bound. `step` is the smallest step that the entry uses.
struct Entry {
  double value, error, step;
};

/// Entries of the Richardson table that are extrapolated at least twice, row by row (one row per pair).
std::vector<Entry> entries_of(const std::vector<LinePair>& pairs, double noise) {
  std::vector<Entry> entries;
  Row before;
  for (const LinePair& pair : pairs) {
    const Row now = extrapolate(pair, noise, before);
    for (std::size_t m = 2; m < now.entries.size(); ++m) {
      const double entry = now.entries[m];
      double error = std::max(std::abs(entry - now.entries[m - 1]), std::abs(entry - before.entries[m - 1]));
      if (m < before.entries.size()) error = std::max(error, std::abs(entry - before.entries[m]));
      entries.push_back({entry, error + now.noise[m], pair.h});
    }
    before = now;
  }
  return entries;
}

/// Entry with the least error bound in the Richardson table of `pairs`. Entries of large steps may agree with each
/// other by chance, so that their error bounds are too small. The bound of an entry is therefore at least the distance
/// to any later entry minus the bound of the later entry.
Slope best_entry(const std::vector<LinePair>& pairs, double noise) {
  const std::vector<Entry> entries = entries_of(pairs, noise);
  Slope best;
  best.error = infinity;
  for (std::size_t i = 0; i < entries.size(); ++i) {
    double error = entries[i].error;
    for (std::size_t k = i + 1; k < entries.size(); ++k)
      error = std::max(error, std::abs(entries[i].value - entries[k].value) - entries[k].error);
    if (error >= best.error) continue;
    best.value = entries[i].value;
    best.error = error;
    best.step = entries[i].step;
  }
  return best;
}

}  // namespace

double measure_noise(const Line& f, double at_zero) {
  constexpr int half = 3;  // number of points on each side of 0
  constexpr double smallest = 0x1p-53;
  const double rounding = smallest * std::abs(at_zero);
  double bound = infinity, step = 0x1p-38;
  for (int attempt = 0; attempt < 4; ++attempt) {
    std::vector<double> values;
    for (int i = -half; i <= half; ++i) values.push_back(i == 0 ? at_zero : f(i * step));
    if (std::all_of(values.begin(), values.end(), [](double value) { return std::isfinite(value); })) {
      const NoiseLevels levels = noise_levels(values);
      const double level = agreed_level(levels);
      if (level >= 0.0) return std::max(level, rounding);
      bound = std::min(bound, levels.sigma.back());
      // If most values are equal, the step is too small to show noise. Otherwise the step is too large: the function
      // itself dominates the differences.
      if (std::count(values.begin(), values.end(), at_zero) > half) {
        step *= 64.0;
        continue;
      }
    }
    step /= 64.0;
  }
  return std::max(std::isfinite(bound) ? bound : std::abs(at_zero), rounding);
}

Slope measure_slope(const Line& f, double noise, double expected, const SlopeOptions& options) {
  Slope best;
  best.error = infinity;
  std::vector<LinePair> pairs;
  double h = options.first_step;
  for (int halving = 0; halving <= options.halvings; ++halving, h *= 0.5) {
    const LinePair pair{h, f(h), f(-h)};
    if (!std::isfinite(pair.plus) || !std::isfinite(pair.minus)) {
      pairs.clear();
      continue;
    }
    if (pair.plus == pair.minus && !pairs.empty() && pairs.back().plus != pairs.back().minus) {
      // f(h) and f(-h) are equal, but the values of the previous pair differ. f is therefore piecewise constant, with
      // jumps of at most the difference of the previous pair.
      noise = std::max(noise, std::abs(pairs.back().plus - pairs.back().minus));
      best = best_entry(pairs, noise);
      break;
    }
    pairs.push_back(pair);
    best = best_entry(pairs, noise);
    if (static_cast<int>(pairs.size()) < options.least_pairs) continue;
    const double distance = std::abs(best.value - expected);
    const bool as_expected = distance <= 10.0 * best.error + 1e-9 * std::abs(expected);
    const bool resolved = best.error <= options.resolution * std::abs(best.value);
    // The noise of the difference grows with each halving. Stop when the noise exceeds the least error, or hides the
    // distance from the expected value.
    const double of_noise = noise_of_difference(noise, h);
    const bool drowned = as_expected ? of_noise > best.error && h < 0.5 * best.step : of_noise > 0.1 * distance;
    if ((resolved && as_expected) || drowned) break;
  }
  best.pairs = pairs;
  return best;
}

RemainderOrders remainder_orders(const std::vector<LinePair>& pairs, const Expansion& expansion, double noise,
                                 double wanted, int window) {
  RemainderOrders result;
  result.exact = true;
  std::vector<double> orders;
  double previous = std::numeric_limits<double>::quiet_NaN(), best = infinity;
  for (const LinePair& pair : pairs) {
    const double change = pair.h * (expansion.slope + 0.5 * pair.h * expansion.curvature);
    const double remainder = std::abs(pair.plus - expansion.value - change);
    result.exact = result.exact && remainder <= 10.0 * noise;
    if (std::isfinite(previous)) orders.push_back(std::log2(previous / remainder));
    previous = remainder;
    if (orders.size() < static_cast<std::size_t>(window)) continue;
    const std::vector<double> last(orders.end() - window, orders.end());
    double worst = 0.0;
    for (const double order : last) worst = std::max(worst, std::isfinite(order) ? std::abs(order - wanted) : 1e300);
    if (worst >= best) continue;
    best = worst;
    result.orders = last;
    result.first_step = pair.h * std::exp2(window);
  }
  if (result.exact) {
    result.orders.clear();
    if (!pairs.empty()) result.first_step = pairs.front().h;
  }
  return result;
}

}  // namespace diffsim::inverse
