// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
#include "checkpoint/row_order.hpp"

#include <cmath>
#include <cstring>
#include <numeric>
#include <utility>

#include "core/file_order.hpp"
#include "core/mix_bits.hpp"
#include "diffsim/core/error.hpp"
#include "diffsim/core/runtime.hpp"

namespace diffsim {
namespace {

/// Transposes an array [steps, entries, width] to [entries, steps, width]. If `back` is true, transposes an array
/// [entries, steps, width] to [steps, entries, width].
std::vector<double> transposed(const std::vector<double>& values, std::size_t steps, std::size_t width, bool back) {
  if (steps <= 1) return values;
  std::vector<double> result(values.size());
  const std::size_t entries = values.size() / (steps * width);
  for (std::size_t s = 0; s < steps; ++s)
    for (std::size_t e = 0; e < entries; ++e)
      for (std::size_t c = 0; c < width; ++c) {
        const std::size_t by_step = (s * entries + e) * width + c, by_entry = (e * steps + s) * width + c;
        (back ? result[by_step] : result[by_entry]) = back ? values[by_entry] : values[by_step];
      }
  return result;
}

}  // namespace

FileArray RowOrder::array(const std::string& dataset, const Field& field) const {
  FileArray result{dataset, {field.components()}, field.to_host(), "SI", false};
  const FileOrder* const order = field.on().order();
  if (field.on().is_one_for_all()) result.values.resize(field.owned_size());  // only the first rank owns the entity
  if (!order) return result;
  const auto width = static_cast<std::size_t>(field.components());
  result.values.resize(field.owned_size());
  result.values = transposed(result.values, static_cast<std::size_t>(field.steps()), width, false);
  result.row_shape = {field.steps() * field.components()};
  std::vector<double> block(static_cast<std::size_t>(order->block_size() * result.row_shape[0]), 0.0);
  order->to_file(result.values, field.steps() * field.components(), block);
  result.values = std::move(block);
  return result;
}

void RowOrder::read(const Hdf5File& file, const std::string& dataset, Field& field) const {
  const FileOrder* const order = field.on().order();
  const std::int64_t width = std::int64_t{field.components()} * (order ? field.steps() : 1);
  (void)file.require(dataset, DatasetInfo::Kind::real, {-1, width});
  if (field.on().is_one_for_all()) {
    std::vector<double> values = file.read_rows<double>(dataset, static_cast<std::int64_t>(field.owned()));
    values.resize(field.size());
    DIFFSIM_MPI(MPI_Bcast(values.data(), static_cast<int>(values.size()), MPI_DOUBLE, 0, comm_));
    field.from_host(values);
    return;
  }
  if (!order) {
    const auto ranks = file.attribute("/", "ranks");
    if (ranks != AttributeValue(std::int64_t{num_ranks(comm_)}))
      throw Error(file.path() + ": " + dataset +
                      " is stored rank after rank; continue with the number of ranks that wrote the file" +
                      (ranks && std::holds_alternative<std::int64_t>(*ranks)
                           ? ", " + std::to_string(std::get<std::int64_t>(*ranks))
                           : ""),
                  ErrorKind::input);
    field.from_host(file.read_rows<double>(dataset, static_cast<std::int64_t>(field.extent())));
    return;
  }
  const std::vector<double> block = file.read_rows<double>(dataset, order->block_size());
  std::vector<double> local = order->from_file(block, static_cast<int>(width));
  if (field.steps() > 1) local.resize(field.size());
  local =
      transposed(local, static_cast<std::size_t>(field.steps()), static_cast<std::size_t>(field.components()), true);
  local.resize(field.size());
  field.from_host(local);
}

std::vector<FileArray> RowOrder::to_file(const std::string& group, const State& state, SnapshotFormat format) const {
  std::vector<FileArray> arrays;
  for (const Field& field : state.fields()) {
    arrays.push_back(array(group + "/" + field.name(), field));
    arrays.back().single = format.single;
    arrays.back().compressed = format.compressed;
  }
  return arrays;
}

void RowOrder::from_file(const Hdf5File& file, const std::string& group, State& state) const {
  for (Field& field : state.fields()) read(file, group + "/" + field.name(), field);
}

std::vector<FileArray> RowOrder::to_file(const std::string& group, const ParameterSet& gradient) const {
  std::vector<FileArray> arrays;
  for (const Parameter& parameter : gradient) {
    const std::string dataset = group + "/" + parameter.name();
    arrays.push_back(parameter.is_global() ? shares(dataset, parameter.field.to_host())
                                           : array(dataset, parameter.field));
  }
  return arrays;
}

void RowOrder::from_file(const Hdf5File& file, const std::string& group, ParameterSet& gradient) const {
  for (Parameter& parameter : gradient) {
    const std::string dataset = group + "/" + parameter.name();
    if (parameter.is_global())
      parameter.field.from_host(read_shares(file, dataset, parameter.field.size()));
    else
      read(file, dataset, parameter.field);
  }
}

FileArray RowOrder::shares(const std::string& dataset, const std::vector<double>& values) const {
  return {dataset, {static_cast<std::int64_t>(values.size())}, values, "SI", false};
}

std::vector<double> RowOrder::read_shares(const Hdf5File& file, const std::string& dataset, std::size_t count) const {
  const auto width = static_cast<std::int64_t>(count);
  const std::int64_t rows = file.require(dataset, DatasetInfo::Kind::real, {-1, width}).shape[0];
  if (rows == num_ranks(comm_)) return file.read_rows<double>(dataset, 1);
  const std::vector<double> all = file.read_rows<double>(dataset, is_first_rank(comm_) ? rows : 0);
  std::vector<double> sum(count, 0.0);
  for (std::size_t i = 0; i < all.size(); ++i) sum[i % count] += all[i];
  return sum;
}

RowOrder::Signature RowOrder::signature(const State& state, const ParameterSet& parameters) const {
  Signature result;
  std::uint64_t salt = 0;
  const auto add = [&](const Field& field) {
    std::vector<double> values = field.to_host();
    std::vector<std::int64_t> places(field.on().owned());
    std::iota(places.begin(), places.end(), std::int64_t{0});
    if (const FileOrder* order = field.on().order())
      std::copy_n(order->file_index().begin(), places.size(), places.begin());
    ++salt;
    double sums[2] = {0.0, 0.0};
    const auto width = static_cast<std::size_t>(field.components());
    for (std::size_t i = 0; i < field.owned_size() && !places.empty(); ++i) {
      const std::size_t entry = i / width;
      const std::size_t step = entry / places.size();
      const auto place = static_cast<std::uint64_t>(places[entry % places.size()]);
      const std::uint64_t key =
          mix_bits(mix_bits(salt) ^ mix_bits(place) ^ mix_bits(1'000'003 * (step * width + i % width)));
      std::uint64_t bits = 0;
      std::memcpy(&bits, &values[i], sizeof(bits));
      result.exact += mix_bits(bits ^ key);
      sums[0] += values[i] * (0.5 + 0.5 * std::ldexp(static_cast<double>(key >> 11), -53));
      sums[1] += std::abs(values[i]);
    }
    DIFFSIM_MPI(MPI_Allreduce(MPI_IN_PLACE, sums, 2, MPI_DOUBLE, MPI_SUM, comm_));
    result.sums.insert(result.sums.end(), sums, sums + 2);
  };
  for (const Field& field : state.fields()) add(field);
  for (const Parameter& parameter : parameters) add(parameter.field);
  DIFFSIM_MPI(MPI_Allreduce(MPI_IN_PLACE, &result.exact, 1, MPI_UINT64_T, MPI_SUM, comm_));
  return result;
}

bool agree(const RowOrder::Signature& a, const RowOrder::Signature& b, bool same_ranks) {
  if (a.exact == b.exact && a.sums.size() == b.sums.size()) return true;
  if (same_ranks || a.sums.size() != b.sums.size()) return false;
  for (std::size_t i = 0; i + 1 < a.sums.size(); i += 2)
    if (!(std::abs(a.sums[i] - b.sums[i]) <= 1e-12 * std::max(a.sums[i + 1], b.sums[i + 1]))) return false;
  return true;
}

}  // namespace diffsim
