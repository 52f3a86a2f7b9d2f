// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
//
// Priors of an InverseProblem.
#include <algorithm>
#include <cmath>
#include <string>
#include <utility>

#include "diffsim/core/error.hpp"
#include "diffsim/inverse/prior.hpp"
#include "diffsim/inverse/problem.hpp"

namespace diffsim {

void InverseProblem::add_prior(std::size_t k, std::unique_ptr<Prior> prior) {
  if (k >= unknowns_.size() || !prior)
    throw Error("a prior of unknown " + std::to_string(k) + " is added to a problem with " +
                    std::to_string(unknowns_.size()) + " unknowns",
                ErrorKind::input);
  collectively(comm(), [&] {
    if (prior->size() != blocks_[k].count)
      throw Error("a prior of " + std::to_string(prior->size()) + " values is added to '" + unknowns_[k].name() +
                      "', which has " + std::to_string(blocks_[k].count),
                  ErrorKind::input);
  });
  priors_.emplace_back(k, std::move(prior));
}

void InverseProblem::set_prior_factor(double factor) {
  if (!(factor >= 0.0 && std::isfinite(factor)))
    throw Error("the factor of the priors is " + std::to_string(factor) + "; give 0 or a number above 0",
                ErrorKind::input);
  prior_factor_ = factor;
}

double InverseProblem::prior(const std::vector<double>& u) const {
  double sum = 0.0;
  for (const auto& [k, prior] : priors_) sum += prior->value(part(k, u));
  return prior_factor_ * sum;
}

bool InverseProblem::has_prior_covariance() const {
  std::vector<int> count(unknowns_.size(), 0);
  for (const auto& [k, prior] : priors_) count[k] += prior->has_covariance() ? 1 : 2;
  return prior_factor_ > 0.0 && std::all_of(count.begin(), count.end(), [](int number) { return number == 1; });
}

std::vector<double> InverseProblem::prior_covariance_product(const std::vector<double>& b) const {
  std::vector<double> product(b.size(), 0.0);
  for (const auto& [k, prior] : priors_) {
    const std::vector<double> solution = prior->covariance_product(part(k, b));
    for (std::size_t i = 0; i < solution.size(); ++i) product[offset(k) + i] = solution[i] / prior_factor_;
  }
  return product;
}

std::vector<double> InverseProblem::prior_covariance_factor_product(const std::vector<double>& z) const {
  std::vector<double> product(z.size(), 0.0);
  for (const auto& [k, prior] : priors_) {
    const std::vector<double> of_prior = prior->covariance_factor_product(part(k, z));
    for (std::size_t i = 0; i < of_prior.size(); ++i) product[offset(k) + i] = of_prior[i] / std::sqrt(prior_factor_);
  }
  return product;
}

std::vector<double> InverseProblem::prior_product(const std::vector<double>& u, const std::vector<double>& v) const {
  std::vector<double> product(v.size(), 0.0);
  add_prior_product(u, v, product);
  return product;
}

void InverseProblem::add_prior_gradient(const std::vector<double>& u, std::vector<double>& gradient) const {
  for (const auto& [k, prior] : priors_) {
    std::vector<double> added(blocks_[k].count, 0.0);
    prior->add_gradient(part(k, u), added);
    for (std::size_t i = 0; i < added.size(); ++i) gradient[blocks_[k].offset + i] += prior_factor_ * added[i];
  }
}

void InverseProblem::add_prior_product(const std::vector<double>& u, const std::vector<double>& v,
                                       std::vector<double>& product) const {
  for (const auto& [k, prior] : priors_) {
    std::vector<double> added(blocks_[k].count, 0.0);
    prior->add_product(part(k, u), part(k, v), added);
    for (std::size_t i = 0; i < added.size(); ++i) product[blocks_[k].offset + i] += prior_factor_ * added[i];
  }
}

}  // namespace diffsim
