// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
#include "inverse/evaluation_log.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

#include "diffsim/core/error.hpp"
#include "diffsim/core/runtime.hpp"
#include "diffsim/inverse/problem.hpp"

namespace diffsim {
namespace {

/// Largest allowed difference between the requested u and the logged u if the number of ranks has changed, relative to
/// max |u_i|.
constexpr double rounding_over_ranks = 1e-10;

/// Converts the vector `u` over all unknowns to a ParameterSet with one parameter per unknown, on the entities of the
/// unknown's field. Values shared by all ranks are stored on one global entity, which the first rank owns. All values
/// are zero if `u` is nullptr.
ParameterSet unknowns_of(const InverseProblem& problem, const std::vector<double>* u) {
  ParameterSet set;
  for (std::size_t k = 0; k < problem.unknowns().size(); ++k) {
    const Unknown& unknown = problem.unknowns()[k];
    const int width = problem.components(k);
    const bool shared = !unknown.group_names.empty() || unknown.map_numbers > 0;
    const std::size_t numbers = unknown.map_numbers > 0 ? static_cast<std::size_t>(unknown.map_numbers)
                                                        : unknown.group_names.size() * static_cast<std::size_t>(width);
    std::vector<double> values(shared ? numbers : problem.count(k));
    if (u) std::copy_n(u->begin() + static_cast<std::ptrdiff_t>(problem.offset(k)), problem.count(k), values.begin());
    const auto one = Entities::one_for_all(problem.comm());
    const Field& of = problem.field(k);
    Parameter& parameter =
        shared ? set.add(std::to_string(k), one, static_cast<int>(values.size()))
               : set.add(std::to_string(k), Entities::without_copies(of.shared_on()), of.components(), of.steps());
    parameter.field.from_host(values);
  }
  return set;
}

std::vector<double> vector_of(const InverseProblem& problem, const ParameterSet& set) {
  std::vector<double> u(problem.size());
  std::size_t k = 0;
  for (const Parameter& parameter : set) {
    const std::vector<double> values = parameter.field.to_host();
    std::copy_n(values.begin(), problem.count(k), u.begin() + static_cast<std::ptrdiff_t>(problem.offset(k)));
    ++k;
  }
  return u;
}

double largest(MPI_Comm comm, double value) {
  DIFFSIM_MPI(MPI_Allreduce(MPI_IN_PLACE, &value, 1, MPI_DOUBLE, MPI_MAX, comm));
  return value;
}

}  // namespace

EvaluationLog::EvaluationLog(std::shared_ptr<CheckpointDirectory> directory, RowOrder order)
    : directory_(std::move(directory)), order_(order) {}

void EvaluationLog::drop(const std::string& why) {
  directory_->warn(why + "; evaluations from " + std::to_string(next_) + " on are repeated");
  for (const int number : directory_->numbers(durable_kind))
    if (number >= next_) directory_->erase(durable_kind, number);
}

std::optional<EvaluationLog::Evaluation> EvaluationLog::replay(const InverseProblem& problem,
                                                               const std::vector<double>& u) {
  if (!directory_->has(durable_kind, next_)) return {};
  try {
    const Hdf5File file = directory_->open(durable_kind, next_);
    ParameterSet logged = unknowns_of(problem, nullptr);
    order_.from_file(file, "/u", logged);
    const std::vector<double> there = vector_of(problem, logged);
    double difference = 0.0, size = 0.0;
    for (std::size_t i = 0; i < u.size(); ++i) {
      difference = std::max(difference, std::abs(u[i] - there[i]));
      size = std::max(size, std::abs(u[i]));
    }
    difference = largest(problem.comm(), difference);
    size = largest(problem.comm(), size);
    const int ranks = num_ranks(problem.comm());
    const bool same_ranks = file.attribute("/", "ranks") == AttributeValue(std::int64_t{ranks});
    if (!(difference <= (same_ranks ? 0.0 : rounding_over_ranks * size))) {
      drop(file.path() + ": the optimiser requests a point that differs from the logged point");
      return {};
    }
    Evaluation evaluation;
    order_.from_file(file, "/gradient", logged);
    evaluation.gradient = vector_of(problem, logged);
    const auto loss = file.attribute("/", "loss"), failure = file.attribute("/", "failure");
    if (!loss || !std::holds_alternative<double>(*loss) || !failure || !std::holds_alternative<std::string>(*failure))
      throw Error(file.path() + ": has no loss", ErrorKind::system);
    evaluation.loss = std::get<double>(*loss);
    evaluation.failure = std::get<std::string>(*failure);
    ++next_;
    ++replayed_;
    return evaluation;
  } catch (const Error& error) {
    if (!is_damage(error)) throw;
    drop(error.what());
    return {};
  }
}

void EvaluationLog::add(const InverseProblem& problem, const std::vector<double>& u, const Evaluation& evaluation) {
  std::vector<FileArray> arrays = order_.to_file("/u", unknowns_of(problem, &u));
  const std::vector<double> none(u.size(), 0.0);
  const std::vector<double>& gradient = evaluation.gradient.size() == u.size() ? evaluation.gradient : none;
  for (FileArray& array : order_.to_file("/gradient", unknowns_of(problem, &gradient)))
    arrays.push_back(std::move(array));
  directory_->write(durable_kind, next_++, std::move(arrays),
                    {{"loss", evaluation.loss}, {"failure", evaluation.failure}});
  directory_->publish(true);
}

}  // namespace diffsim
