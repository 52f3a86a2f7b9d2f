// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
#include "inverse/parametrisation.hpp"

#include <cmath>
#include <utility>

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

class LinearMap : public EntryMap {
 public:
  LinearMap(std::vector<double> matrix, std::size_t columns, std::vector<double> base)
      : base_(std::move(base)), matrix_(std::move(matrix)), columns_(columns) {
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

 protected:
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
  std::vector<double> base_;

 private:
  std::vector<double> matrix_;
  std::size_t columns_;
};

/// Map p_i = base_i exp((B q)_i), linear in the logarithm of p. The tangent is dp_i = p_i (B dq)_i, the adjoint is
/// E'ᵀ w = Bᵀ (p w), and the derivative of the adjoint is Bᵀ (p (dw + w B dq)).
class LogarithmicMap final : public LinearMap {
 public:
  using LinearMap::LinearMap;
  void set(const std::vector<double>& q, std::vector<double>& p) const override {
    const std::vector<double> change = multiply(q);
    for (std::size_t i = 0; i < change.size(); ++i) p[i] = base_[i] * std::exp(change[i]);
  }
  void tangent(const std::vector<double>& q, const std::vector<double>& dq, std::vector<double>& dp) const override {
    set(q, dp);
    const std::vector<double> change = multiply(dq);
    for (std::size_t i = 0; i < change.size(); ++i) dp[i] *= change[i];
  }
  std::vector<double> adjoint(const std::vector<double>& q, const std::vector<double>& w) const override {
    std::vector<double> scaled(base_.size());
    set(q, scaled);
    for (std::size_t i = 0; i < scaled.size(); ++i) scaled[i] *= w[i];
    return multiply_transposed(scaled);
  }
  std::vector<double> adjoint_tangent(const std::vector<double>& q, const std::vector<double>& dq,
                                      const std::vector<double>& w, const std::vector<double>& dw) const override {
    const std::vector<double> change = multiply(dq);
    std::vector<double> sum(change.size());
    for (std::size_t i = 0; i < sum.size(); ++i) sum[i] = dw[i] + w[i] * change[i];
    return adjoint(q, sum);
  }
};

}  // namespace

std::unique_ptr<ValueMap> make_identity() { return std::make_unique<Identity>(); }
std::unique_ptr<ValueMap> make_exponential() { return std::make_unique<Exponential>(); }

std::unique_ptr<EntryMap> make_groups(std::vector<int> group, std::size_t num_groups, int components) {
  return std::make_unique<Groups>(std::move(group), num_groups, static_cast<std::size_t>(components));
}
std::unique_ptr<EntryMap> make_entries(std::size_t num_values) { return std::make_unique<Entries>(num_values); }
std::unique_ptr<EntryMap> make_linear_map(std::vector<double> matrix, std::size_t columns, std::vector<double> base) {
  return std::make_unique<LinearMap>(std::move(matrix), columns, std::move(base));
}
std::unique_ptr<EntryMap> make_logarithmic_map(std::vector<double> matrix, std::size_t columns,
                                               std::vector<double> base) {
  return std::make_unique<LogarithmicMap>(std::move(matrix), columns, std::move(base));
}

}  // namespace diffsim
