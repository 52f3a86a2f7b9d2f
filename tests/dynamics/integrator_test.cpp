// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
#include "diffsim/dynamics/integrator.hpp"

#include <gtest/gtest.h>

#include <set>
#include <string>
#include <vector>

#include "diffsim/core/error.hpp"

namespace diffsim::integrator_test {
namespace {

TEST(integrator, is_found_by_its_name) {
  std::set<std::string> names;
  for (const Integrator integrator : integrators()) {
    EXPECT_EQ(integrator_named(name_of(integrator)), integrator);
    names.insert(name_of(integrator));
  }
  EXPECT_EQ(names.size(), 10u);
  EXPECT_EQ(name_of(Integrator::symplectic_euler), std::string("symplectic_euler"));
  EXPECT_EQ(name_of(Integrator::quasi_static), std::string("quasi_static"));
  EXPECT_THROW(integrator_named("euler"), Error);
}

TEST(integrator, has_its_properties) {
  const std::set<Integrator> implicit = {Integrator::implicit_euler, Integrator::bdf2, Integrator::newmark,
                                         Integrator::generalised_alpha, Integrator::quasi_static};
  for (const Integrator integrator : integrators()) {
    EXPECT_EQ(is_explicit(integrator), implicit.count(integrator) == 0) << name_of(integrator);
    EXPECT_EQ(has_damping_factor(integrator),
              integrator == Integrator::explicit_euler || integrator == Integrator::symplectic_euler)
        << name_of(integrator);
  }
  using Names = std::vector<std::string>;
  EXPECT_EQ(state_fields(Integrator::runge_kutta_4), (Names{"positions", "velocities"}));
  EXPECT_EQ(state_fields(Integrator::quasi_static), (Names{"positions", "velocities"}));
  EXPECT_EQ(state_fields(Integrator::bdf2),
            (Names{"positions", "velocities", "previous_positions", "previous_velocities"}));
  EXPECT_EQ(state_fields(Integrator::generalised_alpha),
            (Names{"positions", "velocities", "accelerations", "auxiliary_accelerations"}));
}

}  // namespace
}  // namespace diffsim::integrator_test
