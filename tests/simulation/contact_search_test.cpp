// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
//
// Contact searches for pairs once per configuration, regardless of the operations that are evaluated there.

#include <gtest/gtest.h>

#include <string>

#include "diffsim/core/force_term.hpp"
#include "diffsim/core/impl/block_matrix.hpp"
#include "diffsim/core/impl/device.hpp"
#include "diffsim/dynamics/system.hpp"
#include "mesh/body_meshes.hpp"
#include "simulation/simulation_testing.hpp"

namespace diffsim::contact_search_test {
namespace {

using testing_simulation::value_of;

int searches = 0;

void note_kernel(const char* name, std::uint32_t, std::uint64_t*) {
  if (std::string(name).find("diffsim::contact::mark_within") != std::string::npos) ++searches;
}

class ContactSearch : public ::testing::Test {
 protected:
  void SetUp() override {
    const std::vector<testing_mesh::BodyBox> boxes{{"low", {1.0, 0.4, 0.6}, {3, 1, 2}},
                                                   {"high", {0.8, 0.4, 0.5}, {2, 1, 2}, {0.1, 0.405, 0.05}}};
    mesh_ = std::make_shared<TetrahedralMesh>(MPI_COMM_WORLD, testing_mesh::mesh_of_boxes(MPI_COMM_WORLD, boxes));
    DifferentiableMaterial material{"neo_hookean", {}};
    for (const std::string& name : elastic_law(material.model).parameter_names())
      material.values[name] = value_of(name);
    material.values["density"] = value_of("density");
    DifferentiableSolver options;
    options.integrator = Integrator::implicit_euler;
    solver_ = std::make_unique<DifferentiableScene>(mesh_, std::vector{material}, options);
    ContactOptions contact;
    contact.barrier_distance = 0.01;
    contact.barrier_stiffness = 1e3;
    solver_->add_contact(contact);
    solver_->model().prepare();
    term_ = solver_->system().terms().back().get();
    Kokkos::Tools::Experimental::set_begin_parallel_for_callback(note_kernel);
    searches = 0;
  }
  void TearDown() override { Kokkos::Tools::Experimental::set_begin_parallel_for_callback(nullptr); }

  /// Performs operations of a Newton iteration: energy, force, check of the sparsity pattern and, if needed, a new
  /// pattern. Returns the energy.
  double ask(const Configuration& at) {
    const double energy = term_->energy(at, solver_->parameters());
    Field force("force", mesh_->vertex_entities(), 3);
    term_->add_force(at, solver_->parameters(), force);
    Couplings couplings;
    if (!term_->pattern_covers(at)) term_->add_couplings(at, couplings);
    return energy;
  }

  std::shared_ptr<TetrahedralMesh> mesh_;
  std::unique_ptr<DifferentiableScene> solver_;
  ForceTerm* term_ = nullptr;
};

TEST_F(ContactSearch, IsDoneOnceAtAConfiguration) {
  const State state = solver_->initial_state();
  ask({state["positions"]});  // makes the lists of pairs and the sparsity pattern
  EXPECT_GT(searches, 0);
  searches = 0;
  ask({state["positions"]});
  EXPECT_EQ(searches, 0);
}

TEST_F(ContactSearch, IsDoneAnewWherePositionsOrRangesDiffer) {
  State state = solver_->initial_state();
  const double energy = ask({state["positions"]});
  // The upper body moves slightly closer, and then back.
  const std::vector<double> x = state["positions"].to_host();
  std::vector<double> moved = x;
  for (std::size_t i = 1; i < moved.size(); i += 3) moved[i] += moved[i] > 0.402 ? -1e-4 : 0.0;
  state["positions"].from_host(moved);
  searches = 0;
  const double nearer = ask({state["positions"]});
  EXPECT_GE(searches, 1);
  EXPECT_NE(nearer, energy);
  state["positions"].from_host(x);
  EXPECT_EQ(ask({state["positions"]}), energy);

  // The barrier distance is smaller than the gap. A new search must find this, not a search among the pairs that were
  // near before.
  Field& range = solver_->parameters().at("barrier_distance").field;
  range.fill(0.004);
  state["positions"].from_host(moved);
  EXPECT_EQ(ask({state["positions"]}), 0.0);
  state["positions"].from_host(x);
  EXPECT_EQ(ask({state["positions"]}), 0.0);
  range.fill(0.01);
  EXPECT_EQ(ask({state["positions"]}), energy);
}

}  // namespace
}  // namespace diffsim::contact_search_test
