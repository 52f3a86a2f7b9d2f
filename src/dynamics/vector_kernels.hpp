// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>

#include "diffsim/core/field.hpp"

namespace diffsim::dynamics {

// On owned vertices: fields are [local or owned vertices, 3], masses [owned vertices]; `count` = 3 owned vertices.

/// y += a x, y = x over the first `count` values.
void add_scaled(int count, double a, const Field& x, Field& y);
void copy_values(int count, const Field& x, Field& y);
/// y_i += a m x_i.
void add_mass_times(int count, double a, const Field& mass, const Field& x, Field& y);
/// y_i += a m g_c where there is gravity, g on the device. `fixed`: the masks of System::fixed.
void add_weight(int count, double a, const Field& mass, const double* g, const std::uint8_t* fixed, Field& y);
/// Zeroes the values where there is no gravity.
void clear_weightless(int count, const std::uint8_t* fixed, Field& y);
/// y_i += a (dm / m) x_i, dm a change of the masses.
void add_mass_ratio_times(int count, double a, const Field& mass_change, const Field& mass, const Field& x, Field& y);
/// y_i -= x_i w_i / m.
void subtract_products(int count, const Field& mass, const Field& x, const Field& w, Field& y);
/// Zeroes the components that are fixed, or the others.
void keep_free(int count, const std::uint8_t* fixed, Field& y);
void keep_fixed(int count, const std::uint8_t* fixed, Field& y);
/// y += x, y = x in the components that are fixed.
void add_fixed(int count, const std::uint8_t* fixed, const Field& x, Field& y);
void copy_fixed(int count, const std::uint8_t* fixed, const Field& x, Field& y);
/// This rank's max |x|.
double max_size(int count, const Field& x);
/// Σ x y over the first `count` values.
double dot_values(int count, const Field& x, const Field& y);

}  // namespace diffsim::dynamics
