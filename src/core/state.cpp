// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
#include "diffsim/core/state.hpp"

#include <algorithm>
#include <utility>

#include "core/exchange.hpp"
#include "core/field_pool.hpp"
#include "core/nearest_word.hpp"
#include "diffsim/core/error.hpp"

namespace diffsim {
namespace {

template <class Fields>
auto find(Fields& fields, const std::string& name) {
  return std::find_if(fields.begin(), fields.end(), [&](const Field& field) { return field.name() == name; });
}

/// Returns the end of a message about the unknown name of a field: the nearest name of a field, or all names.
std::string nearest_field(const std::vector<Field>& fields, const std::string& name) {
  std::vector<std::string> names;
  std::string all;
  for (const Field& field : fields) {
    names.push_back(field.name());
    all += (all.empty() ? "; fields: " : ", ") + field.name();
  }
  const std::string near = nearest(name, names);
  return near.empty() ? all : "; did you mean '" + near + "'?";
}

void require_same_fields(const State& a, const State& b) {
  if (a.fields().size() != b.fields().size()) throw Error("two states do not have the same fields");
}

}  // namespace

Field& State::add(Field field) { return fields_.emplace_back(std::move(field)); }

bool State::has(const std::string& name) const { return find(fields_, name) != fields_.end(); }

const Field& State::operator[](const std::string& name) const {
  const auto found = find(fields_, name);
  if (found == fields_.end()) throw InputError("the state has no field '" + name + "'" + nearest_field(fields_, name));
  return *found;
}

Field& State::operator[](const std::string& name) { return const_cast<Field&>(std::as_const(*this)[name]); }

std::size_t State::bytes() const {
  std::size_t sum = 0;
  for (const Field& field : fields_) sum += field.bytes();
  return sum;
}

State State::clone() const {
  State copy;
  for (const Field& field : fields_) copy.add(field.clone());
  return copy;
}

State State::zero_like() const {
  State zero;
  for (const Field& field : fields_) zero.add(field.like(field.name()));
  return zero;
}

State State::zero_like(FieldPool& pool) const {
  State zero;
  for (const Field& field : fields_)
    zero.add(pool.take(field.name(), field.shared_on(), field.components(), field.steps()));
  return zero;
}

void State::fill(double value) {
  for (Field& field : fields_) field.fill(value);
}

void State::copy_from(const State& other) {
  require_same_fields(*this, other);
  for (std::size_t i = 0; i < fields_.size(); ++i) fields_[i].copy_from(other.fields_[i]);
}

std::vector<std::shared_ptr<const Entities>> State::entities() const {
  std::vector<std::shared_ptr<const Entities>> all;
  for (const Field& field : fields_) all.push_back(field.shared_on());
  return all;
}

void State::set_entities(const std::vector<std::shared_ptr<const Entities>>& entities) {
  if (entities.size() != fields_.size())
    throw Error("a state of " + std::to_string(fields_.size()) + " fields needs one set of entities per field, got " +
                std::to_string(entities.size()));
  for (std::size_t i = 0; i < fields_.size(); ++i)
    if (entities[i]->generation() != fields_[i].on().generation())
      fields_[i] = fields_[i].like(fields_[i].name(), entities[i]);
}

void synchronise(State& state) {
  for (Field& field : state.fields()) {
    if (const Exchange* exchange = field.on().exchange()) exchange->copy_to_ghosts(field);
    if (!field.on().is_one_for_all()) continue;
    std::vector<double> values = field.to_host();
    DIFFSIM_MPI(MPI_Bcast(values.data(), static_cast<int>(values.size()), MPI_DOUBLE, 0, field.on().comm()));
    field.from_host(values);
  }
}

double local_dot(const State& x, const State& y) {
  require_same_fields(x, y);
  double sum = 0.0;
  for (std::size_t i = 0; i < x.fields().size(); ++i) sum += local_dot(x.fields()[i], y.fields()[i]);
  return sum;
}

void axpy(double a, const State& x, State& y) {
  require_same_fields(x, y);
  for (std::size_t i = 0; i < x.fields().size(); ++i) axpy(a, x.fields()[i], y.fields()[i]);
}

}  // namespace diffsim
