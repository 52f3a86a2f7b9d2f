// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "diffsim/core/field.hpp"

namespace diffsim {

/// State that a Model evolves: a few named fields. Also the shape of tangents and adjoints of a state.
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
  /// The same with fields from a pool.
  State zero_like(FieldPool& pool) const;
  void fill(double value);
  /// Takes the values of `other`, and its entities where these are of another generation.
  void copy_from(const State& other);

  /// The entities of each field.
  std::vector<std::shared_ptr<const Entities>> entities() const;
  /// Puts the fields on `entities`, one set for each field. Fields on another generation than before are zeroed; the
  /// others keep their entities and values.
  void set_entities(const std::vector<std::shared_ptr<const Entities>>& entities);

 private:
  std::vector<Field> fields_;
};

/// Sets the copies of other ranks' entries. Collective.
void synchronise(State& state);
/// Σ over this rank's owned entries of all fields.
double local_dot(const State& x, const State& y);
/// y += a x.
void axpy(double a, const State& x, State& y);

}  // namespace diffsim
