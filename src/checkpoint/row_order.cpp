// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
#include "diffsim/checkpoint/row_order.hpp"

#include <cmath>
#include <cstring>
#include <numeric>
#include <utility>

#include "diffsim/core/error.hpp"
#include "diffsim/core/ranks.hpp"

namespace diffsim {
namespace {

/// [steps, entries, width] → [entries, steps, width], or back.
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

std::uint64_t mix(std::uint64_t x) {  // the finaliser of splitmix64
  x += 0x9e3779b97f4a7c15ull;
  x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9ull;
  x = (x ^ (x >> 27)) * 0x94d049bb133111ebull;
  return x ^ (x >> 31);
}

}  // namespace

RowOrder::Kind RowOrder::kind_of(const Field& field, int steps) const {
  if (!mesh_) return Kind::ranks;
  const auto count = static_cast<std::size_t>(std::max(steps, 1));
  const auto vertices = static_cast<std::size_t>(mesh_->num_vertices());
  const auto owned = static_cast<std::size_t>(mesh_->num_owned_vertices());
  const auto cells = static_cast<std::size_t>(mesh_->num_cells());
  int fits[2] = {field.owned() == owned * count && (field.extent() == owned * count || field.extent() == vertices),
                 field.owned() == cells * count && field.extent() == cells * count};
  DIFFSIM_MPI(MPI_Allreduce(MPI_IN_PLACE, fits, 2, MPI_INT, MPI_MIN, comm_));
  return fits[0] ? Kind::vertices : fits[1] ? Kind::cells : Kind::ranks;
}

const FileOrder& RowOrder::order(Kind kind) const {
  return kind == Kind::vertices ? mesh_->vertex_order() : mesh_->cell_order();
}

FileArray RowOrder::array(const std::string& dataset, const Field& field, int steps) const {
  const Kind kind = kind_of(field, steps);
  FileArray result{dataset, {field.components()}, field.to_host(), "SI", false};
  if (kind == Kind::ranks) return result;
  const auto width = static_cast<std::size_t>(field.components());
  result.values.resize(field.owned_size());
  result.values = transposed(result.values, static_cast<std::size_t>(steps), width, false);
  result.row_shape = {steps * field.components()};
  std::vector<double> block(static_cast<std::size_t>(order(kind).block_size() * result.row_shape[0]), 0.0);
  order(kind).to_file(result.values, steps * field.components(), block);
  result.values = std::move(block);
  return result;
}

void RowOrder::read(const Hdf5File& file, const std::string& dataset, Field& field, int steps) const {
  const Kind kind = kind_of(field, steps);
  const std::int64_t width = std::int64_t{field.components()} * (kind == Kind::ranks ? 1 : steps);
  (void)file.require(dataset, DatasetInfo::Kind::real, {-1, width});
  if (kind == Kind::ranks) {
    const auto ranks = file.attribute("/", "ranks");
    if (ranks != AttributeValue(std::int64_t{num_ranks(comm_)}))
      throw Error(file.path() + ": " + dataset +
                      " stands rank after rank; go on with the number of ranks that wrote it" +
                      (ranks && std::holds_alternative<std::int64_t>(*ranks)
                           ? ", " + std::to_string(std::get<std::int64_t>(*ranks))
                           : ""),
                  ErrorKind::input);
    field.from_host(file.read_rows<double>(dataset, static_cast<std::int64_t>(field.extent())));
    return;
  }
  const std::vector<double> block = file.read_rows<double>(dataset, order(kind).block_size());
  std::vector<double> local = order(kind).from_file(block, static_cast<int>(width));
  if (steps > 1) local.resize(field.size());
  local = transposed(local, static_cast<std::size_t>(steps), static_cast<std::size_t>(field.components()), true);
  local.resize(field.size());
  field.from_host(local);
}

std::vector<FileArray> RowOrder::to_file(const std::string& group, const State& state, SnapshotFormat format) const {
  std::vector<FileArray> arrays;
  for (const Field& field : state.fields()) {
    arrays.push_back(array(group + "/" + field.name(), field, 1));
    arrays.back().single = format.single;
    arrays.back().compressed = format.compressed;
  }
  return arrays;
}

void RowOrder::from_file(const Hdf5File& file, const std::string& group, State& state) const {
  for (Field& field : state.fields()) read(file, group + "/" + field.name(), field, 1);
}

std::vector<FileArray> RowOrder::to_file(const std::string& group, const ParameterSet& gradient) const {
  std::vector<FileArray> arrays;
  for (const Parameter& parameter : gradient) {
    const std::string dataset = group + "/" + parameter.name();
    arrays.push_back(parameter.site == Site::global ? shares(dataset, parameter.field.to_host())
                                                    : array(dataset, parameter.field, parameter.steps));
  }
  return arrays;
}

void RowOrder::from_file(const Hdf5File& file, const std::string& group, ParameterSet& gradient) const {
  for (Parameter& parameter : gradient) {
    const std::string dataset = group + "/" + parameter.name();
    if (parameter.site == Site::global)
      parameter.field.from_host(read_shares(file, dataset, parameter.field.size()));
    else
      read(file, dataset, parameter.field, parameter.steps);
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
  const auto add = [&](const Field& field, int steps, bool global) {
    const Kind kind = global ? Kind::ranks : kind_of(field, steps);
    std::vector<double> values = field.to_host();
    std::vector<std::int64_t> places(field.owned() / static_cast<std::size_t>(std::max(steps, 1)));
    std::iota(places.begin(), places.end(), std::int64_t{0});
    if (kind != Kind::ranks)
      for (std::size_t e = 0; e < places.size(); ++e) places[e] = order(kind).file_index()[e];
    ++salt;
    double sums[2] = {0.0, 0.0};
    if (!global || is_first_rank(comm_)) {
      const auto width = static_cast<std::size_t>(field.components());
      for (std::size_t i = 0; i < field.owned_size() && !places.empty(); ++i) {
        const std::size_t entry = i / width;
        const std::size_t step = entry / places.size();
        const auto place = static_cast<std::uint64_t>(places[entry % places.size()]);
        const std::uint64_t key = mix(mix(salt) ^ mix(place) ^ mix(1'000'003 * (step * width + i % width)));
        std::uint64_t bits = 0;
        std::memcpy(&bits, &values[i], sizeof(bits));
        result.exact += mix(bits ^ key);
        sums[0] += values[i] * (0.5 + 0.5 * std::ldexp(static_cast<double>(key >> 11), -53));
        sums[1] += std::abs(values[i]);
      }
    }
    DIFFSIM_MPI(MPI_Allreduce(MPI_IN_PLACE, sums, 2, MPI_DOUBLE, MPI_SUM, comm_));
    result.sums.insert(result.sums.end(), sums, sums + 2);
  };
  for (const Field& field : state.fields()) add(field, 1, false);
  for (const Parameter& parameter : parameters) add(parameter.field, parameter.steps, parameter.site == Site::global);
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
