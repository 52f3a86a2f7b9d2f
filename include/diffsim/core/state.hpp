// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "diffsim/core/field.hpp"

namespace diffsim {

/// State of a Model, a list of named fields. Tangents and adjoints of a state are also objects of the class State.
class State {
 public:
  Field& add(Field field);                     ///< appends a field; no other field of the state may have the same name
  Field& operator[](const std::string& name);  ///< returns the field `name`; throws Error for an unknown name
  const Field& operator[](const std::string& name) const;  ///< constant overload
  bool has(const std::string& name) const;                 ///< true if the state has a field `name`

  std::vector<Field>& fields() { return fields_; }              ///< fields in the order in which they were added
  const std::vector<Field>& fields() const { return fields_; }  ///< constant overload
  std::size_t bytes() const;  ///< memory of the values of all fields on this rank (bytes)

  State clone() const;      ///< copy of all fields
  State zero_like() const;  ///< state with the fields of this state, filled with zeros
  /// Overload of `zero_like` that allocates the fields from the FieldPool `pool`.
  State zero_like(FieldPool& pool) const;
  void fill(double value);  ///< sets all values of all fields to `value`
  /// Copies the values of the state `other` to this state. If field i of this state and field i of `other` have
  /// entities of different versions (`Entities::generation`), field i of this state also gets the entities of field i
  /// of `other`. Throws Error if this state and `other` have different numbers of fields, or if `Field::copy_from`
  /// throws for a field.
  void copy_from(const State& other);

  /// Returns the entities of each field of the state.
  std::vector<std::shared_ptr<const Entities>> entities() const;
  /// Sets the entities of all fields of the state. Throws Error if `entities` does not contain exactly one set of
  /// entities for each field. If the new and the old entities of a field have different versions
  /// (`Entities::generation`), the field becomes a field of zeros on the new entities. A field whose new and old
  /// entities have the same version keeps the old entities and the values.
  void set_entities(const std::vector<std::shared_ptr<const Entities>>& entities);

 private:
  std::vector<Field> fields_;
};

/// Sets the values of all fields at this rank's copies of other ranks' entities to the values on the owner ranks. Sets
/// the values at an entity that all ranks share (`Entities::one_for_all`) to the values on the first rank. Collective.
void synchronise(State& state);
/// Returns the scalar product Σ_i x_i y_i over all fields of the states `x` and `y`, where i runs over the values at
/// the entities that this rank owns.
double local_dot(const State& x, const State& y);
/// Computes y += a x for all values of all fields of the states `x` and `y` on this rank.
void axpy(double a, const State& x, State& y);

}  // namespace diffsim
