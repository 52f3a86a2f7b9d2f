// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <memory>
#include <vector>

namespace diffsim {

class DensityFilter;
class ShapeFilter;

/// Differentiable scalar function q = f(u), applied to each value of an unknown.
class ValueMap {
 public:
  virtual ~ValueMap() = default;
  virtual double value(double u) const = 0;       ///< f(u)
  virtual double inverse(double q) const = 0;     ///< f⁻¹(q); NaN or infinite if q is not a value of f
  virtual double derivative(double u) const = 0;  ///< f'(u)
  virtual double second(double u) const = 0;      ///< f''(u)
};
/// Creates the identity map f(u) = u.
std::unique_ptr<ValueMap> make_identity();
/// Creates the map f(u) = exp u.
std::unique_ptr<ValueMap> make_exponential();

/// Differentiable map p = E(q) from the values q of an unknown to entries of a field. The vector p contains the field's
/// entries on this rank, [entries · components]. Entries of the field that do not belong to the unknown keep their
/// values.
class EntryMap {
 public:
  virtual ~EntryMap() = default;
  /// Sets the unknown's entries of `p` to E(q).
  virtual void set(const std::vector<double>& q, std::vector<double>& p) const = 0;
  /// Sets the unknown's entries of `dp` to E'(q) dq, the derivative of E along dq.
  virtual void tangent(const std::vector<double>& q, const std::vector<double>& dq, std::vector<double>& dp) const = 0;
  /// Returns this rank's contribution to E'(q)ᵀ w, the derivative of w · E(q) with respect to q.
  virtual std::vector<double> adjoint(const std::vector<double>& q, const std::vector<double>& w) const = 0;
  /// Returns this rank's contribution to the derivative of E'(q)ᵀ w along dq and dw.
  virtual std::vector<double> adjoint_tangent(const std::vector<double>& q, const std::vector<double>& dq,
                                              const std::vector<double>& w, const std::vector<double>& dw) const = 0;
};

/// Map p_e = q_group(e) from values q of groups to entries e of a field, with `components` values per entry and per
/// group. `group`: group of each entry, [entries], or -1 for an entry that does not belong to the unknown.
/// `num_groups`: number of groups over all ranks.
std::unique_ptr<EntryMap> make_groups(std::vector<int> group, std::size_t num_groups, int components);
/// Map p_i = q_i for i < `num_values`; other values of p are not changed.
std::unique_ptr<EntryMap> make_entries(std::size_t num_values);
/// Linear map p_i = base_i + (B q)_i. `matrix`: B, an array [values, columns]. `base`: array with at least one entry
/// per row of B.
std::unique_ptr<EntryMap> make_linear_map(std::vector<double> matrix, std::size_t columns, std::vector<double> base);
/// Map p_i = base_i exp(E(q)_i), where E is another map, `exponent`. `base`: array with one entry per value of p. All
/// values belong to the unknown; values that E does not set are `base_i`.
std::unique_ptr<EntryMap> make_scaled_exponential(std::unique_ptr<EntryMap> exponent, std::vector<double> base);

/// Linear map p = F q of a density filter.
std::unique_ptr<EntryMap> make_filter_map(std::shared_ptr<const DensityFilter> filter);
/// Map p = base + F q of a filter of shapes. `base`: array with at least one entry per value of q.
std::unique_ptr<EntryMap> make_shape_map(std::shared_ptr<const ShapeFilter> filter, std::vector<double> base);
/// Map p = E(q) for a linear map E, `map`, with prescribed values: E is applied to q with q_i replaced by d_i, and p_i
/// = d_i, for each i with a prescribed value d_i. `prescribed`: d_i, or NaN where no value is prescribed; q and p must
/// have at least as many values. The derivatives with respect to q_i and of p_i are zero where a value is prescribed.
std::unique_ptr<EntryMap> make_prescribed_map(std::unique_ptr<EntryMap> map, std::vector<double> prescribed);
/// Map p = (E_1(q), E_2(q), …) of several maps of the same values, each with `size` entries. In derivatives with
/// respect to p, missing entries at the end stand for zeros of whole maps.
std::unique_ptr<EntryMap> make_stacked_maps(std::vector<std::unique_ptr<EntryMap>> maps, std::size_t size);
/// Map p_i = base_i (ε + (1 - ε) z_i^penalty) with z = E(q) ≥ 0, where E is another map, `densities`, and ε is
/// `minimum`. `base`: array with one entry per value of p. All values belong to the unknown.
std::unique_ptr<EntryMap> make_power_law(std::unique_ptr<EntryMap> densities, std::vector<double> base, double minimum,
                                         double penalty);

}  // namespace diffsim
