// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
#include "inverse/parametrisation.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

#include "diffsim/inverse/unknown.hpp"

namespace diffsim {
namespace {

class Identity final : public ValueMap {
 public:
  double value(double u) const override { return u; }
  double inverse(double q) const override { return q; }
  double derivative(double) const override { return 1.0; }
  double second(double) const override { return 0.0; }
};

class Exponential final : public ValueMap {
 public:
  double value(double u) const override { return std::exp(u); }
  double inverse(double q) const override { return std::log(q); }
  double derivative(double u) const override { return std::exp(u); }
  double second(double u) const override { return std::exp(u); }
};

class Entries final : public EntryMap {
 public:
  explicit Entries(std::size_t num_values) : num_values_(num_values) {}
  void set(const std::vector<double>& q, std::vector<double>& p) const override {
    for (std::size_t i = 0; i < num_values_; ++i) p[i] = q[i];
  }
  void tangent(const std::vector<double>&, const std::vector<double>& dq, std::vector<double>& dp) const override {
    set(dq, dp);
  }
  std::vector<double> adjoint(const std::vector<double>&, const std::vector<double>& w) const override {
    return {w.begin(), w.begin() + static_cast<std::ptrdiff_t>(num_values_)};
  }
  std::vector<double> adjoint_tangent(const std::vector<double>& q, const std::vector<double>&,
                                      const std::vector<double>&, const std::vector<double>& dw) const override {
    return adjoint(q, dw);
  }

 private:
  std::size_t num_values_;
};

class Groups final : public EntryMap {
 public:
  Groups(std::vector<int> group, std::size_t num_groups, std::size_t components)
      : group_(std::move(group)), num_groups_(num_groups), components_(components) {}
  void set(const std::vector<double>& q, std::vector<double>& p) const override {
    for_each([&](std::size_t entry, std::size_t value) { p[entry] = q[value]; });
  }
  void tangent(const std::vector<double>&, const std::vector<double>& dq, std::vector<double>& dp) const override {
    set(dq, dp);
  }
  std::vector<double> adjoint(const std::vector<double>&, const std::vector<double>& w) const override {
    std::vector<double> sums(num_groups_ * components_, 0.0);
    for_each([&](std::size_t entry, std::size_t value) { sums[value] += w[entry]; });
    return sums;
  }
  std::vector<double> adjoint_tangent(const std::vector<double>& q, const std::vector<double>&,
                                      const std::vector<double>&, const std::vector<double>& dw) const override {
    return adjoint(q, dw);
  }

 private:
  template <class Visit>
  void for_each(const Visit& visit) const {
    for (std::size_t e = 0; e < group_.size(); ++e)
      for (std::size_t c = 0; group_[e] >= 0 && c < components_; ++c)
        visit(components_ * e + c, components_ * static_cast<std::size_t>(group_[e]) + c);
  }
  std::vector<int> group_;
  std::size_t num_groups_, components_;
};

class LinearMap final : public EntryMap {
 public:
  LinearMap(std::vector<double> matrix, std::size_t columns, std::vector<double> base, std::vector<std::string> units)
      : base_(std::move(base)), matrix_(std::move(matrix)), columns_(columns), units_(std::move(units)) {
    base_.resize(matrix_.size() / columns_);
  }
  void set(const std::vector<double>& q, std::vector<double>& p) const override {
    const std::vector<double> change = multiply(q);
    for (std::size_t i = 0; i < change.size(); ++i) p[i] = base_[i] + change[i];
  }
  void tangent(const std::vector<double>&, const std::vector<double>& dq, std::vector<double>& dp) const override {
    const std::vector<double> change = multiply(dq);
    for (std::size_t i = 0; i < change.size(); ++i) dp[i] = change[i];
  }
  std::vector<double> adjoint(const std::vector<double>&, const std::vector<double>& w) const override {
    return multiply_transposed(w);
  }
  std::vector<double> adjoint_tangent(const std::vector<double>&, const std::vector<double>&,
                                      const std::vector<double>&, const std::vector<double>& dw) const override {
    return multiply_transposed(dw);
  }
  std::vector<std::string> units() const override { return units_; }

 private:
  /// Returns B q.
  std::vector<double> multiply(const std::vector<double>& q) const {
    std::vector<double> result(matrix_.size() / columns_, 0.0);
    for (std::size_t i = 0; i < matrix_.size(); ++i) result[i / columns_] += matrix_[i] * q[i % columns_];
    return result;
  }
  /// Returns Bᵀ w.
  std::vector<double> multiply_transposed(const std::vector<double>& w) const {
    std::vector<double> result(columns_, 0.0);
    for (std::size_t i = 0; i < matrix_.size(); ++i) result[i % columns_] += matrix_[i] * w[i / columns_];
    return result;
  }
  std::vector<double> base_, matrix_;
  std::size_t columns_;
  std::vector<std::string> units_;
};

/// Map p_i = base_i exp(E(q)_i) for another map E. With z = E(q) and dz = E'(q) dq, the tangent is dp_i = p_i dz_i, and
/// the adjoint is E'(q)ᵀ (p w). The derivative of the adjoint is the derivative of E'(q)ᵀ y, with y = p w, along dq and
/// dy = p (dw + w dz).
class ScaledExponential final : public EntryMap {
 public:
  ScaledExponential(std::unique_ptr<EntryMap> exponent, std::vector<double> base)
      : exponent_(std::move(exponent)), base_(std::move(base)) {}
  void set(const std::vector<double>& q, std::vector<double>& p) const override {
    std::vector<double> z(base_.size(), 0.0);
    exponent_->set(q, z);
    for (std::size_t i = 0; i < z.size(); ++i) p[i] = base_[i] * std::exp(z[i]);
  }
  void tangent(const std::vector<double>& q, const std::vector<double>& dq, std::vector<double>& dp) const override {
    const std::vector<double> dz = exponent_tangent(q, dq);
    set(q, dp);
    for (std::size_t i = 0; i < dz.size(); ++i) dp[i] *= dz[i];
  }
  std::vector<double> adjoint(const std::vector<double>& q, const std::vector<double>& w) const override {
    return exponent_->adjoint(q, scaled(q, w));
  }
  std::vector<double> adjoint_tangent(const std::vector<double>& q, const std::vector<double>& dq,
                                      const std::vector<double>& w, const std::vector<double>& dw) const override {
    const std::vector<double> dz = exponent_tangent(q, dq);
    std::vector<double> sum(dz.size());
    for (std::size_t i = 0; i < sum.size(); ++i) sum[i] = dw[i] + w[i] * dz[i];
    return exponent_->adjoint_tangent(q, dq, scaled(q, w), scaled(q, sum));
  }

 private:
  std::vector<double> exponent_tangent(const std::vector<double>& q, const std::vector<double>& dq) const {
    std::vector<double> dz(base_.size(), 0.0);
    exponent_->tangent(q, dq, dz);
    return dz;
  }
  /// Returns the product p w, entry by entry.
  std::vector<double> scaled(const std::vector<double>& q, const std::vector<double>& w) const {
    std::vector<double> result(base_.size());
    set(q, result);
    for (std::size_t i = 0; i < result.size(); ++i) result[i] *= w[i];
    return result;
  }
  std::unique_ptr<EntryMap> exponent_;
  std::vector<double> base_;
};

/// Map p = base + F q with a filter F. An empty `base` stands for zeros.
template <class Filter>
class FilterMap final : public EntryMap {
 public:
  explicit FilterMap(std::shared_ptr<const Filter> filter, std::vector<double> base = {})
      : filter_(std::move(filter)), base_(std::move(base)) {
    base_.resize(filter_->size());
  }
  void set(const std::vector<double>& q, std::vector<double>& p) const override {
    tangent(q, q, p);
    for (std::size_t i = 0; i < base_.size(); ++i) p[i] += base_[i];
  }
  void tangent(const std::vector<double>&, const std::vector<double>& dq, std::vector<double>& dp) const override {
    const std::vector<double> filtered = filter_->times(dq);
    std::copy(filtered.begin(), filtered.end(), dp.begin());
  }
  std::vector<double> adjoint(const std::vector<double>&, const std::vector<double>& w) const override {
    return filter_->transpose_times({w.begin(), w.begin() + static_cast<std::ptrdiff_t>(filter_->size())});
  }
  std::vector<double> adjoint_tangent(const std::vector<double>& q, const std::vector<double>&,
                                      const std::vector<double>&, const std::vector<double>& dw) const override {
    return adjoint(q, dw);
  }

 private:
  std::shared_ptr<const Filter> filter_;
  std::vector<double> base_;
};

/// Map p = Z E(Z q + d) + d with another map E, where d are the prescribed values, or zero where no value is
/// prescribed, and Z sets values with prescribed entries to zero. The tangent is Z E' Z dq and the adjoint is Z E'ᵀ Z
/// w.
class PrescribedValues final : public EntryMap {
 public:
  PrescribedValues(std::unique_ptr<EntryMap> map, std::vector<double> prescribed)
      : map_(std::move(map)), prescribed_(std::move(prescribed)) {}
  void set(const std::vector<double>& q, std::vector<double>& p) const override {
    map_->set(completed(q), p);
    p = completed(std::move(p));
  }
  void tangent(const std::vector<double>& q, const std::vector<double>& dq, std::vector<double>& dp) const override {
    map_->tangent(completed(q), free_part(dq), dp);
    dp = free_part(std::move(dp));
  }
  std::vector<double> adjoint(const std::vector<double>& q, const std::vector<double>& w) const override {
    return free_part(map_->adjoint(completed(q), free_part(w)));
  }
  std::vector<double> adjoint_tangent(const std::vector<double>& q, const std::vector<double>& dq,
                                      const std::vector<double>& w, const std::vector<double>& dw) const override {
    return free_part(map_->adjoint_tangent(completed(q), free_part(dq), free_part(w), free_part(dw)));
  }

 private:
  /// Returns `values` with the prescribed values.
  std::vector<double> completed(std::vector<double> values) const {
    for (std::size_t i = 0; i < prescribed_.size(); ++i)
      if (!std::isnan(prescribed_[i])) values[i] = prescribed_[i];
    return values;
  }
  /// Returns `values` with zeros where a value is prescribed.
  std::vector<double> free_part(std::vector<double> values) const {
    for (std::size_t i = 0; i < prescribed_.size(); ++i)
      if (!std::isnan(prescribed_[i])) values[i] = 0.0;
    return values;
  }
  std::unique_ptr<EntryMap> map_;
  std::vector<double> prescribed_;
};

/// Map p_i = f_i(z_i) with f_i(z) = base_i (ε + (1 - ε) z^P) and z = E(q) for another map E. With dz = E'(q) dq, the
/// tangent is f'(z) dz, and the adjoint is E'(q)ᵀ y with y = f'(z) w. The derivative of the adjoint is the derivative
/// of E'(q)ᵀ y along dq and dy = f'(z) dw + f''(z) w dz.
class PowerLaw final : public EntryMap {
 public:
  PowerLaw(std::unique_ptr<EntryMap> densities, std::vector<double> base, double minimum, double penalty)
      : densities_(std::move(densities)), base_(std::move(base)), minimum_(minimum), penalty_(penalty) {}
  void set(const std::vector<double>& q, std::vector<double>& p) const override {
    const std::vector<double> z = densities(q);
    for (std::size_t i = 0; i < base_.size(); ++i)
      p[i] = base_[i] * (minimum_ + (1.0 - minimum_) * std::pow(z[i], penalty_));
  }
  void tangent(const std::vector<double>& q, const std::vector<double>& dq, std::vector<double>& dp) const override {
    const std::vector<double> z = densities(q), dz = density_tangent(q, dq);
    for (std::size_t i = 0; i < base_.size(); ++i) dp[i] = slope(i, z[i]) * dz[i];
  }
  std::vector<double> adjoint(const std::vector<double>& q, const std::vector<double>& w) const override {
    const std::vector<double> z = densities(q);
    std::vector<double> y(base_.size());
    for (std::size_t i = 0; i < y.size(); ++i) y[i] = slope(i, z[i]) * w[i];
    return densities_->adjoint(q, y);
  }
  std::vector<double> adjoint_tangent(const std::vector<double>& q, const std::vector<double>& dq,
                                      const std::vector<double>& w, const std::vector<double>& dw) const override {
    const std::vector<double> z = densities(q), dz = density_tangent(q, dq);
    std::vector<double> y(base_.size()), dy(base_.size());
    for (std::size_t i = 0; i < y.size(); ++i) {
      y[i] = slope(i, z[i]) * w[i];
      dy[i] = slope(i, z[i]) * dw[i] + curvature(i, z[i]) * w[i] * dz[i];
    }
    return densities_->adjoint_tangent(q, dq, y, dy);
  }

 private:
  /// Returns z. Rounding errors of the filter may give small negative values, which are replaced by 0.
  std::vector<double> densities(const std::vector<double>& q) const {
    std::vector<double> z(base_.size(), 0.0);
    densities_->set(q, z);
    for (double& value : z) value = std::max(value, 0.0);
    return z;
  }
  std::vector<double> density_tangent(const std::vector<double>& q, const std::vector<double>& dq) const {
    std::vector<double> dz(base_.size(), 0.0);
    densities_->tangent(q, dq, dz);
    return dz;
  }
  double slope(std::size_t i, double z) const {
    return base_[i] * (1.0 - minimum_) * penalty_ * std::pow(z, penalty_ - 1.0);
  }
  double curvature(std::size_t i, double z) const {
    // Penalties between 1 and 2 have no second derivative at z = 0.
    if (penalty_ == 1.0 || (penalty_ < 2.0 && z == 0.0)) return 0.0;
    return base_[i] * (1.0 - minimum_) * penalty_ * (penalty_ - 1.0) * std::pow(z, penalty_ - 2.0);
  }
  std::unique_ptr<EntryMap> densities_;
  std::vector<double> base_;
  double minimum_, penalty_;
};

/// Map p = (E_1(q), E_2(q), …). The adjoint is the sum of E_m'(q)ᵀ w_m, where w_m are the entries of w for the map m.
class StackedMaps final : public EntryMap {
 public:
  StackedMaps(std::vector<std::unique_ptr<EntryMap>> maps, std::size_t size) : maps_(std::move(maps)), size_(size) {}
  void set(const std::vector<double>& q, std::vector<double>& p) const override {
    for (std::size_t m = 0; m < maps_.size(); ++m) {
      std::vector<double> part = part_of(p, m);
      maps_[m]->set(q, part);
      std::copy_n(part.begin(), size_, p.begin() + static_cast<std::ptrdiff_t>(m * size_));
    }
  }
  void tangent(const std::vector<double>& q, const std::vector<double>& dq, std::vector<double>& dp) const override {
    for (std::size_t m = 0; m < maps_.size(); ++m) {
      std::vector<double> part = part_of(dp, m);
      maps_[m]->tangent(q, dq, part);
      std::copy_n(part.begin(), size_, dp.begin() + static_cast<std::ptrdiff_t>(m * size_));
    }
  }
  std::vector<double> adjoint(const std::vector<double>& q, const std::vector<double>& w) const override {
    return sum_of([&](std::size_t m) { return maps_[m]->adjoint(q, part_of(w, m)); });
  }
  std::vector<double> adjoint_tangent(const std::vector<double>& q, const std::vector<double>& dq,
                                      const std::vector<double>& w, const std::vector<double>& dw) const override {
    return sum_of([&](std::size_t m) { return maps_[m]->adjoint_tangent(q, dq, part_of(w, m), part_of(dw, m)); });
  }

 private:
  /// Returns the entries of the map m; zeros for missing entries.
  std::vector<double> part_of(const std::vector<double>& values, std::size_t m) const {
    std::vector<double> part(size_, 0.0);
    for (std::size_t i = 0; i < size_ && m * size_ + i < values.size(); ++i) part[i] = values[m * size_ + i];
    return part;
  }
  template <class Term>
  std::vector<double> sum_of(const Term& term) const {
    std::vector<double> sum = term(0);
    for (std::size_t m = 1; m < maps_.size(); ++m) {
      const std::vector<double> next = term(m);
      for (std::size_t i = 0; i < sum.size(); ++i) sum[i] += next[i];
    }
    return sum;
  }
  std::vector<std::unique_ptr<EntryMap>> maps_;
  std::size_t size_;
};

}  // namespace

std::unique_ptr<ValueMap> make_identity() { return std::make_unique<Identity>(); }
std::unique_ptr<ValueMap> make_exponential() { return std::make_unique<Exponential>(); }

std::unique_ptr<EntryMap> make_groups(std::vector<int> group, std::size_t num_groups, int components) {
  return std::make_unique<Groups>(std::move(group), num_groups, static_cast<std::size_t>(components));
}
std::unique_ptr<EntryMap> make_entries(std::size_t num_values) { return std::make_unique<Entries>(num_values); }
std::unique_ptr<EntryMap> make_linear_map(std::vector<double> matrix, std::size_t columns, std::vector<double> base,
                                          std::vector<std::string> units) {
  return std::make_unique<LinearMap>(std::move(matrix), columns, std::move(base), std::move(units));
}
std::unique_ptr<EntryMap> make_scaled_exponential(std::unique_ptr<EntryMap> exponent, std::vector<double> base) {
  return std::make_unique<ScaledExponential>(std::move(exponent), std::move(base));
}

std::unique_ptr<EntryMap> make_filter_map(std::shared_ptr<const DensityFilter> filter) {
  return std::make_unique<FilterMap<DensityFilter>>(std::move(filter));
}
std::unique_ptr<EntryMap> make_shape_map(std::shared_ptr<const ShapeFilter> filter, std::vector<double> base) {
  return std::make_unique<FilterMap<ShapeFilter>>(std::move(filter), std::move(base));
}
std::unique_ptr<EntryMap> make_prescribed_map(std::unique_ptr<EntryMap> map, std::vector<double> prescribed) {
  return std::make_unique<PrescribedValues>(std::move(map), std::move(prescribed));
}
std::unique_ptr<EntryMap> make_stacked_maps(std::vector<std::unique_ptr<EntryMap>> maps, std::size_t size) {
  return std::make_unique<StackedMaps>(std::move(maps), size);
}
std::unique_ptr<EntryMap> make_power_law(std::unique_ptr<EntryMap> densities, std::vector<double> base, double minimum,
                                         double penalty) {
  return std::make_unique<PowerLaw>(std::move(densities), std::move(base), minimum, penalty);
}

}  // namespace diffsim
