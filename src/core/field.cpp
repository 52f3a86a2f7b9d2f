// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
#include "diffsim/core/field.hpp"

#include <atomic>
#include <utility>

#include "core/field_pool.hpp"
#include "diffsim/core/error.hpp"
#include "diffsim/core/impl/device.hpp"
#include "diffsim/core/impl/huge_pages.hpp"

namespace diffsim {
namespace {

DeviceSpan<double> span(Field& field) { return DeviceSpan<double>(field.data(), field.size()); }
DeviceSpan<const double> span(const Field& field) { return DeviceSpan<const double>(field.data(), field.size()); }

std::uint64_t new_revision() {
  static std::atomic<std::uint64_t> last = 0;
  return ++last;
}

void require_same_size(const Field& a, const Field& b) {
  if (a.size() != b.size())
    throw Error("field '" + a.name() + "' has " + std::to_string(a.size()) + " values, '" + b.name() + "' has " +
                std::to_string(b.size()));
}

}  // namespace

void Field::Deleter::operator()(double* data) const noexcept {
  if (pool)
    pool->give_back(data, bytes);
  else
    free_on_device(data);
}

Field::Field(std::string name, std::size_t extent, int components)
    : Field(std::move(name), Entities::of_process(extent), components) {}

Field::Field(std::string name, std::shared_ptr<const Entities> on, int components, int steps)
    : Field(std::move(name), std::move(on), components, steps, nullptr) {}

Field::Field(std::string name, std::shared_ptr<const Entities> on, int components, int steps,
             std::shared_ptr<FieldPool> pool)
    : name_(std::move(name)), on_(std::move(on)), components_(components), steps_(steps) {
  if (steps_ > 1 && on_->exchange())
    throw Error("field '" + name_ + "' cannot have values for each step on " + on_->name() +
                " with copies; use the owned entities (`Entities::without_copies`)");
  if (size() == 0) return;
  // The allocated memory has one more double than the field, because SIMD loads of the last vertex read four doubles
  // (core/impl/pack.hpp).
  const std::size_t room = bytes() + sizeof(double);
  if (pool) {
    double* const data = pool->allocate(name_, room);
    data_.reset(data, Deleter{std::move(pool), room});
  } else {
    data_.reset(static_cast<double*>(allocate_on_device(name_, room)), Deleter{nullptr, room});
    if constexpr (kernels_on_host) advise_huge_pages(data_.get(), bytes());
  }
  fill(0.0);
}

Field Field::clone() const {
  if (!on_) return {};
  Field copy = like(name_);
  copy.copy_from(*this);
  return copy;
}

Field Field::like(std::string name) const { return like(std::move(name), on_); }

Field Field::like(std::string name, std::shared_ptr<const Entities> on) const {
  return Field(std::move(name), std::move(on), components_, steps_, pool());
}

std::shared_ptr<FieldPool> Field::pool() const {
  const Deleter* const deleter = std::get_deleter<Deleter>(data_);
  return deleter ? deleter->pool : nullptr;
}

double* Field::data() {
  revision_ = new_revision();
  return data_.get();
}

void Field::fill(double value) {
  const auto x = span(*this);
  Kokkos::parallel_for(
      "diffsim::core::fill", Range(0, static_cast<int>(size())), KOKKOS_LAMBDA(int i) { x(i) = value; });
  Kokkos::fence();
}

void Field::copy_from(const Field& other) {
  if (on_ && other.on_ && on_->generation() != other.on_->generation()) {
    if (on_->name() != other.on_->name())
      throw Error("field '" + other.name_ + "' is on " + other.on_->name() + ", '" + name_ + "' on " + on_->name());
    *this = Field(std::move(name_), other.on_, other.components_, other.steps_, pool());
  }
  require_same_size(*this, other);
  const auto x = span(other);
  const auto y = span(*this);
  Kokkos::parallel_for(
      "diffsim::core::copy", Range(0, static_cast<int>(size())), KOKKOS_LAMBDA(int i) { y(i) = x(i); });
  Kokkos::fence();
}

std::vector<double> Field::to_host() const {
  std::vector<double> values(size());
  Kokkos::deep_copy(HostSpan<double>(values.data(), values.size()), span(*this));
  return values;
}

void Field::from_host(const std::vector<double>& values) { from_host(values.data(), values.size()); }

void Field::from_host(const double* values, std::size_t size) {
  if (size != this->size())
    throw Error("field '" + name_ + "' takes " + std::to_string(this->size()) + " values, got " + std::to_string(size));
  Kokkos::deep_copy(span(*this), HostSpan<const double>(values, size));
}

void axpy(double a, const Field& x_field, Field& y_field) {
  require_same_size(x_field, y_field);
  const auto x = span(x_field);
  const auto y = span(y_field);
  Kokkos::parallel_for(
      "diffsim::core::axpy", Range(0, static_cast<int>(x.size())), KOKKOS_LAMBDA(int i) { y(i) += a * x(i); });
  Kokkos::fence();
}

void scale(double a, Field& field) {
  const auto x = span(field);
  Kokkos::parallel_for(
      "diffsim::core::scale", Range(0, static_cast<int>(x.size())), KOKKOS_LAMBDA(int i) { x(i) *= a; });
  Kokkos::fence();
}

double local_dot(const Field& x_field, const Field& y_field) {
  require_same_size(x_field, y_field);
  const auto x = span(x_field);
  const auto y = span(y_field);
  double result = 0.0;
  Kokkos::parallel_reduce(
      "diffsim::core::dot", Range(0, static_cast<int>(x_field.owned_size())),
      KOKKOS_LAMBDA(int i, double& sum) { sum += x(i) * y(i); }, result);
  return result;
}

std::vector<double> local_sum(const Field& field) {
  const auto x = span(field);
  const int stride = field.components();
  std::vector<double> result(static_cast<std::size_t>(stride), 0.0);
  for (int c = 0; c < stride; ++c) {
    Kokkos::parallel_reduce(
        "diffsim::core::sum", Range(0, static_cast<int>(field.owned())),
        KOKKOS_LAMBDA(int i, double& sum) { sum += x(i * stride + c); }, result[static_cast<std::size_t>(c)]);
  }
  return result;
}

}  // namespace diffsim
