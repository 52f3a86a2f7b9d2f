// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <string>
#include <vector>

#include "diffsim/core/field.hpp"

namespace diffsim {

/// What a Model evolves: a few named fields. Also the shape of tangents and adjoints of a state.
class State {
 public:
  Field& add(Field field);
  Field& operator[](const std::string& name);  ///< throws Error for a name it has not
  const Field& operator[](const std::string& name) const;
  bool has(const std::string& name) const;

  std::vector<Field>& fields() { return fields_; }
  const std::vector<Field>& fields() const { return fields_; }
  std::size_t bytes() const;

  State clone() const;
  State zero_like() const;
  void fill(double value);
  void copy_from(const State& other);

 private:
  std::vector<Field> fields_;
};

/// Σ over this rank's owned entries of all fields.
double local_dot(const State& x, const State& y);
/// y += a x.
void axpy(double a, const State& x, State& y);

}  // namespace diffsim
