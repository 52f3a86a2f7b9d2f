// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <memory>
#include <string>
#include <vector>

namespace diffsim {

class DensityFilter;
class ShapeFilter;

/// Differentiable scalar function q = f(u), applied to each value of an unknown.
class ValueMap {
 public:
  virtual ~ValueMap() = default;
  virtual double value(double u) const = 0;       ///< f(u)
  virtual double inverse(double q) const = 0;     ///< inverse f⁻¹(q); NaN or infinite if q is not a value of f
  virtual double derivative(double u) const = 0;  ///< f'(u)
  virtual double second(double u) const = 0;      ///< f''(u)
};
/// Creates the identity map f(u) = u.
std::unique_ptr<ValueMap> make_identity();
/// Creates the map f(u) = exp u.
std::unique_ptr<ValueMap> make_exponential();

/// Differentiable map p = E(q) from the values q of an unknown to entries of a field. The vector p, [entries ·
/// components], contains the entries of the field on this rank. Entries of the vector p that do not belong to the
/// unknown keep their values.
class EntryMap {
 public:
  virtual ~EntryMap() = default;
  /// Sets the unknown's entries of `p` to the values E(q) of the map E.
  virtual void set(const std::vector<double>& q, std::vector<double>& p) const = 0;
  /// Sets the unknown's entries of `dp` to E'(q) dq, the derivative of the map E along dq.
  virtual void tangent(const std::vector<double>& q, const std::vector<double>& dq, std::vector<double>& dp) const = 0;
  /// Returns this rank's contribution to E'(q)ᵀ w, the derivative of w · E(q) with respect to q, where w is a vector of
  /// derivatives with respect to p.
  virtual std::vector<double> adjoint(const std::vector<double>& q, const std::vector<double>& w) const = 0;
  /// Returns this rank's contribution to the derivative of E'(q)ᵀ w along the changes dq of q and dw of w, where E' is
  /// the Jacobian of the map E.
  virtual std::vector<double> adjoint_tangent(const std::vector<double>& q, const std::vector<double>& dq,
                                              const std::vector<double>& w, const std::vector<double>& dw) const = 0;
  /// Returns the units of the values q, one for each value; an empty vector for a map that does not define units.
  virtual std::vector<std::string> units() const { return {}; }
};

/// Map p_e = q_group(e) from values q of groups to entries e of a field, with `components` values per entry and per
/// group. `group`: index of the group of each entry, [entries], or -1 for an entry that does not belong to the unknown.
/// `num_groups`: number of groups of entries over all ranks.
std::unique_ptr<EntryMap> make_groups(std::vector<int> group, std::size_t num_groups, int components);
/// Map p_i = q_i for i < `num_values`; other values of p are not changed.
std::unique_ptr<EntryMap> make_entries(std::size_t num_values);
/// Map p_i = base_i + (B q)_i with the matrix B. `matrix`: the matrix B as an array [values, columns]. `base`: array
/// with at least one entry per row of B. `units`: result of `EntryMap::units`.
std::unique_ptr<EntryMap> make_linear_map(std::vector<double> matrix, std::size_t columns, std::vector<double> base,
                                          std::vector<std::string> units = {});
/// Map p_i = base_i exp(E(q)_i), where E is the map `exponent`. `base`: factors base_i, one per value p_i of the field.
/// All values p_i of the field belong to the unknown; p_i equals base_i if `exponent` sets no exponent for the index i.
std::unique_ptr<EntryMap> make_scaled_exponential(std::unique_ptr<EntryMap> exponent, std::vector<double> base);

/// Linear map p = F q with the matrix F of a density filter.
std::unique_ptr<EntryMap> make_filter_map(std::shared_ptr<const DensityFilter> filter);
/// Map p = base + F q with the vector `base` and the matrix F of a shape filter. `base`: array with at least one entry
/// per value of the unknown q.
std::unique_ptr<EntryMap> make_shape_map(std::shared_ptr<const ShapeFilter> filter, std::vector<double> base);
/// Map p = E(q) with prescribed values d_i, where E is the linear map `map`. For each index i with a prescribed value,
/// q_i is replaced by d_i before E is applied, p_i is set to d_i, and the derivatives ∂p_i/∂q_j and ∂p_j/∂q_i are zero
/// for all j. `prescribed`: the value d_i, or NaN if no value is prescribed, for each index i; q and p must have at
/// least as many values as `prescribed`.
std::unique_ptr<EntryMap> make_prescribed_map(std::unique_ptr<EntryMap> map, std::vector<double> prescribed);
/// Map p = (E_1(q), E_2(q), …) of several maps E_1, E_2, … of the same values q, where each map sets `size` entries of
/// p. A vector of derivatives with respect to the values p of the maps may be shorter than p; the missing derivatives
/// are zero.
std::unique_ptr<EntryMap> make_stacked_maps(std::vector<std::unique_ptr<EntryMap>> maps, std::size_t size);
/// Map p_i = base_i (ε + (1 - ε) z_i^penalty) with z = E(q) ≥ 0, where E is the map `densities`, ε is `minimum`, and
/// `penalty` is an exponent. `base`: factors base_i, one per value p_i of the field. All values p_i of the field belong
/// to the unknown.
std::unique_ptr<EntryMap> make_power_law(std::unique_ptr<EntryMap> densities, std::vector<double> base, double minimum,
                                         double penalty);

}  // namespace diffsim
