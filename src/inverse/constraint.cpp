// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>
#include <cmath>
#include <string>
#include <utility>

#include "diffsim/core/error.hpp"
#include "diffsim/core/runtime.hpp"
#include "diffsim/inverse/optimise.hpp"

namespace diffsim {
namespace {

class LossFunction final : public ConstraintFunction {
 public:
  LossFunction(InverseProblem& problem, std::string name, double root)
      : problem_(problem), name_(std::move(name)), root_(root) {}
  std::string name() const override { return name_; }
  double gradient(const std::vector<double>& u, std::vector<double>& gradient) override {
    const double loss = problem_.gradient(u, gradient);
    // From now on, a gradient that is not finite counts as a failed rollout.
    problem_.locate_values_not_finite(false);
    if (root_ == 1.0) return loss;
    // At L = 0, where L^(1/root) has no derivative, the gradient of L is zero for the mean of |y|^root.
    const double value = std::pow(std::max(loss, 0.0), 1.0 / root_), slope = loss > 0.0 ? value / (root_ * loss) : 0.0;
    for (double& entry : gradient) entry *= slope;
    return value;
  }

 private:
  InverseProblem& problem_;
  std::string name_;
  double root_;
};

class MeanFunction final : public ConstraintFunction {
 public:
  MeanFunction(const InverseProblem& problem, std::size_t k, std::vector<double> weights)
      : problem_(problem), k_(k), weights_(std::move(weights)) {
    collectively(problem_.comm(), [&] {
      if (weights_.size() != problem_.count(k_))
        throw Error("the mean of '" + problem_.unknowns()[k_].name() + "' needs " + std::to_string(problem_.count(k_)) +
                        " weights on this rank, not " + std::to_string(weights_.size()),
                    ErrorKind::input);
      for (const double weight : weights_)
        if (!(weight >= 0.0)) throw Error("a weight of a mean is negative or not a number", ErrorKind::input);
    });
    double sum = 0.0;
    for (const double weight : weights_) sum += weight;
    DIFFSIM_MPI(MPI_Allreduce(MPI_IN_PLACE, &sum, 1, MPI_DOUBLE, MPI_SUM, problem_.comm()));
    if (!(sum > 0.0)) throw Error("all weights of a mean are zero", ErrorKind::input);
    for (double& weight : weights_) weight /= sum;
  }
  std::string name() const override { return "mean of " + problem_.unknowns()[k_].name(); }
  double gradient(const std::vector<double>& u, std::vector<double>& gradient) override {
    const std::vector<double> p = problem_.physical(k_, u);
    // `search_direction` divides by ∂p/∂u.
    const std::vector<double> du = problem_.search_direction(k_, u, std::vector<double>(p.size(), 1.0));
    gradient.assign(u.size(), 0.0);
    double mean = 0.0;
    for (std::size_t i = 0; i < weights_.size(); ++i) {
      mean += weights_[i] * p[i];
      gradient[problem_.offset(k_) + i] = weights_[i] / du[i];
    }
    DIFFSIM_MPI(MPI_Allreduce(MPI_IN_PLACE, &mean, 1, MPI_DOUBLE, MPI_SUM, problem_.comm()));
    return mean;
  }

 private:
  const InverseProblem& problem_;
  std::size_t k_;
  std::vector<double> weights_;  // with the sum 1 over all ranks
};

}  // namespace

std::shared_ptr<ConstraintFunction> make_loss_function(InverseProblem& problem, std::string name, double root) {
  if (!(root >= 1.0 && std::isfinite(root)))
    throw Error("the root of a constraint's loss is " + std::to_string(root) + "; give a number of at least 1",
                ErrorKind::input);
  return std::make_shared<LossFunction>(problem, std::move(name), root);
}

std::shared_ptr<ConstraintFunction> make_mean_function(const InverseProblem& problem, std::size_t k,
                                                       std::vector<double> weights) {
  return std::make_shared<MeanFunction>(problem, k, std::move(weights));
}

}  // namespace diffsim
