// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>

#include "diffsim/core/field.hpp"

namespace diffsim::dynamics {

// Kernels on owned vertices. Fields are [local or owned vertices, 3], masses [owned vertices]; `count` = 3 × owned
// vertices. Index i = 3 vertex + c denotes component c of a vertex with mass m.

/// Computes y_i += a x_i for the first `count` values.
void add_scaled(int count, double a, const Field& x, Field& y);
/// Computes y_i = x_i for the first `count` values.
void copy_values(int count, const Field& x, Field& y);
/// Computes y_i += a m x_i, where m is the mass of the vertex of component i.
void add_mass_times(int count, double a, const Field& mass, const Field& x, Field& y);
/// Computes y_i += a m g_c with i = 3 vertex + c at vertices on which gravity acts, where m is the mass of the vertex
/// and g_c is component c of gravity. `g`: device address of gravity, [3]. `fixed`: masks of System::fixed.
void add_weight(int count, double a, const Field& mass, const double* g, const std::uint8_t* fixed, Field& y);
/// Zeroes y at vertices on which gravity does not act. `fixed`: masks of System::fixed.
void clear_weightless(int count, const std::uint8_t* fixed, Field& y);
/// Computes y_i += a (dm / m) x_i, where m is the mass of the vertex of component i, and dm is the vertex's value in
/// `mass_change`.
void add_mass_ratio_times(int count, double a, const Field& mass_change, const Field& mass, const Field& x, Field& y);
/// Computes y_i -= x_i w_i / m for the fields x and w, where m is the mass of the vertex of component i.
void subtract_products(int count, const Field& mass, const Field& x, const Field& w, Field& y);
/// Zeroes the fixed components of y. `fixed`: masks of System::fixed.
void keep_free(int count, const std::uint8_t* fixed, Field& y);
/// Zeroes the components of y that are not fixed. `fixed`: masks of System::fixed.
void keep_fixed(int count, const std::uint8_t* fixed, Field& y);
/// Computes y_i += x_i for fixed components i. `fixed`: masks of System::fixed.
void add_fixed(int count, const std::uint8_t* fixed, const Field& x, Field& y);
/// Computes y_i = x_i for fixed components i. `fixed`: masks of System::fixed.
void copy_fixed(int count, const std::uint8_t* fixed, const Field& x, Field& y);
/// Returns max |x_i| over the first `count` values on this rank.
double max_size(int count, const Field& x);
/// Returns Σ x_i y_i over the first `count` values on this rank.
double dot_values(int count, const Field& x, const Field& y);

}  // namespace diffsim::dynamics
