// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "diffsim/core/field.hpp"

namespace diffsim {

/// State of a Model, a list of named fields. Tangents and adjoints of a state are also objects of this class.
class State {
 public:
  Field& add(Field field);                                 ///< appends a field; no other field may have the same name
  Field& operator[](const std::string& name);              ///< throws Error for an unknown name
  const Field& operator[](const std::string& name) const;  ///< constant overload
  bool has(const std::string& name) const;                 ///< true if a field has this name

  std::vector<Field>& fields() { return fields_; }              ///< fields in the order in which they were added
  const std::vector<Field>& fields() const { return fields_; }  ///< constant overload
  std::size_t bytes() const;                                    ///< memory of the values of all fields on this rank

  State clone() const;      ///< copy of all fields
  State zero_like() const;  ///< state of zeros with the same fields
  /// Overload of `zero_like` that allocates the fields from `pool`.
  State zero_like(FieldPool& pool) const;
  void fill(double value);  ///< sets all values of all fields
  /// Copies the values of `other`. If a field and the field with the same index in `other` have entities of different
  /// versions (`Entities::generation`), the field also gets the entities of the field in `other`. Throws Error if the
  /// states have different numbers of fields, or if `Field::copy_from` throws for a field.
  void copy_from(const State& other);

  /// Returns the entities of each field.
  std::vector<std::shared_ptr<const Entities>> entities() const;
  /// Sets the entities of the fields. `entities` contains one set for each field; otherwise the function throws Error.
  /// If the new and the old entities of a field have different versions (`Entities::generation`), the field becomes a
  /// field of zeros on the new entities. All other fields keep their entities and values.
  void set_entities(const std::vector<std::shared_ptr<const Entities>>& entities);

 private:
  std::vector<Field> fields_;
};

/// Sets the values at this rank's copies of other ranks' entities to the values on the owner ranks. Sets the values at
/// an entity that all ranks share (`Entities::one_for_all`) to the values on the first rank. Collective.
void synchronise(State& state);
/// Returns the scalar product Σ_i x_i y_i over all fields, where i runs over the values at the entities that this rank
/// owns.
double local_dot(const State& x, const State& y);
/// Computes y += a x for all values of all fields on this rank.
void axpy(double a, const State& x, State& y);

}  // namespace diffsim
