// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <cstddef>
#include <vector>

#include "adjoint/adjoint_sweep.hpp"
#include "adjoint/curved_points.hpp"
#include "diffsim/core/error.hpp"
#include "diffsim/core/runtime.hpp"

namespace diffsim::testing_adjoint {

/// Start positions of this rank's points.
inline std::vector<double> curved_start() { return {0.1 + 0.2 * rank_of(MPI_COMM_WORLD), 0.7, -0.4, 1.1}; }

/// Derivatives of the loss of a rollout of CurvedPoints with the default parameters, with respect to the rate and to
/// the push of each of this rank's points, and the products of the Hessian and of the Gauss–Newton matrix with a
/// direction. Each derivative is computed by recursion, in forward mode.
struct CurvedDerivatives {
  double loss = 0.0, tangent = 0.0;  // tangent: derivative of the loss along the direction
  double by_rate = 0.0, hessian_rate = 0.0, gauss_newton_rate = 0.0;
  std::array<double, 4> by_push{}, hessian_push{}, gauss_newton_push{};

  CurvedDerivatives(int num_steps, double d_rate, const std::array<double, 4>& d_push) {
    constexpr double h = 0.1, a = 1.3, rate = 0.8, push = 0.3;
    for (std::size_t i = 0; i < 4; ++i) {
      double x = curved_start()[i], r = 0.0, p = 0.0, rr = 0.0, rp = 0.0, pp = 0.0;  // x and its derivatives
      for (int n = 0; n <= num_steps; ++n) {
        if (n == CurvedLoss::middle || n == num_steps) {
          const double w = CurvedLoss::weights[i], q = CurvedLoss::residual(x, rate), q_r = x * r + 0.5, q_p = x * p,
                       dq = q_r * d_rate + q_p * d_push[i];
          loss += 0.5 * w * q * q;
          tangent += w * q * dq;
          by_rate += w * q * q_r;
          by_push[i] += w * q * q_p;
          gauss_newton_rate += w * q_r * dq;
          gauss_newton_push[i] += w * q_p * dq;
          const double q_rr = r * r + x * rr, q_rp = r * p + x * rp, q_pp = p * p + x * pp;
          hessian_rate += w * (q_r * dq + q * (q_rr * d_rate + q_rp * d_push[i]));
          hessian_push[i] += w * (q_p * dq + q * (q_rp * d_rate + q_pp * d_push[i]));
        }
        const double s = std::sin(a * x), c = std::cos(a * x), f_x = 1.0 + h * rate * a * c, f_xr = h * a * c,
                     f_xx = -h * rate * a * a * s;
        rr = f_x * rr + f_xx * r * r + 2.0 * f_xr * r;
        rp = f_x * rp + f_xx * r * p + f_xr * p;
        pp = f_x * pp + f_xx * p * p;
        r = f_x * r + h * s;
        p = f_x * p + h;
        x += h * (rate * s + push);
      }
    }
    for (double* const sum : {&loss, &tangent, &by_rate, &hessian_rate, &gauss_newton_rate})
      *sum = sum_over_ranks(*sum, MPI_COMM_WORLD);
  }
};

/// Sweep with a Model M of first derivatives of CurvedPoints along a direction, and the Loss L of this Model.
template <class M, class L>
struct SweepAlong {
  SweepAlong(Schedule& schedule, int num_steps, double d_rate, const std::array<double, 4>& d_push) {
    CurvedPoints points;
    CurvedLoss curved(num_steps);
    ParameterSet direction = points.parameters().zero_like({"rate", "push"}),
                 by_parameters = direction.zero_like({"rate", "push"});
    direction.at("rate").field.fill(d_rate);
    direction.at("push").field.from_host({d_push.begin(), d_push.end()});
    M model(points, direction);
    L loss(curved, model);
    MemoryStore store;
    AdjointSweep sweep(model, loss, schedule, store);
    State state = model.make_state(), adjoint = state.zero_like();
    state["positions"].from_host(curved_start());
    tangent = sweep.forward(state, by_parameters);
    sweep.backward(adjoint);
    rate = by_parameters.at("rate").field.to_host();
    push = by_parameters.at("push").field.to_host();
    adjoint_tangent = adjoint["positions_tangent"].to_host();
    if constexpr (requires { model.sum_gradient(); }) {
      ParameterSet& gradient = model.sum_gradient();
      by_rate = gradient.at("rate").field.to_host();
      by_push = gradient.at("push").field.to_host();
    }
  }

  double tangent = 0.0;                  // derivative of the loss along the direction
  std::vector<double> rate, push;        // product of a matrix of second derivatives with the direction
  std::vector<double> adjoint_tangent;   // second half of the adjoint of the start state
  std::vector<double> by_rate, by_push;  // gradient of the loss, if M computes it
};

/// Expects the Model M of first derivatives of CurvedPoints, and the Loss L of this Model, to refuse further
/// derivatives. `states_in_record`: number of States that a record of M contains in addition to a record of
/// CurvedPoints.
template <class M, class L>
void expect_no_further_derivatives(int num_steps, std::size_t states_in_record) {
  CurvedPoints points;
  CurvedLoss curved(num_steps);
  const ParameterSet direction = points.parameters().zero_like({"rate"});
  M model(points, direction);
  L loss(curved, model);
  State state = model.make_state();
  const auto record = model.make_record();
  EXPECT_THROW(model.prepare_tangent(direction), Error);
  EXPECT_THROW(model.step_tangent(0, *record, direction, state), Error);
  EXPECT_THROW(loss.tangent(num_steps, state, points.parameters(), state, direction), Error);
  EXPECT_EQ(model.record_bytes(), points.record_bytes() + states_in_record * points.make_state().bytes());
  EXPECT_TRUE(loss.observes(CurvedLoss::middle));
  EXPECT_FALSE(loss.observes(CurvedLoss::middle + 1));
}

}  // namespace diffsim::testing_adjoint
