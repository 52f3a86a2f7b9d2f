// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <random>
#include <vector>

#include "diffsim/inverse/problem.hpp"

// What the checks of first and of second derivatives share.

namespace diffsim::inverse {

double sum_over_ranks(double share, MPI_Comm comm);
double inner_product(const std::vector<double>& a, const std::vector<double>& b, MPI_Comm comm);
/// Random numbers that differ from rank to rank and repeat from run to run.
std::mt19937_64 generator(unsigned seed, MPI_Comm comm);
/// A direction in unknown k alone: its size ([½, 1½] times) where it is not zero, else ones; logarithms move by about
/// one.
std::vector<double> random_direction(const InverseProblem& problem, std::size_t k, const std::vector<double>& u,
                                     unsigned seed);

/// L(u + ε v) = value + ε slope + ε²/2 curvature + remainder.
struct Expansion {
  double value = 0.0;
  double slope = 0.0;
  double curvature = 0.0;
};

struct TaylorTestOptions {
  int halvings = 4;  ///< that a window has
  int max_halvings = 26;
  double enough = 0.01;  ///< how close orders are that end the search
};

struct TaylorTest {
  std::vector<double> orders;  ///< log2(R(ε)/R(ε/2)) over successive halvings, of the window closest to what is wanted
  double first_step = 0.0;     ///< ε at which that window begins
  bool exact = false;          ///< the expansion is exact to rounding: no remainder to measure
};

/// The order of the remainder. Collective.
TaylorTest taylor_test(InverseProblem& problem, const std::vector<double>& u, const std::vector<double>& v,
                       const Expansion& expansion, int order, const TaylorTestOptions& options);

}  // namespace diffsim::inverse
