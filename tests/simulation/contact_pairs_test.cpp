// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
//
// Contact of bodies of one mesh, where pairs of bodies, or of a body and an obstacle, have laws of their own. The
// forces of a pair equal those in a scene in which all pairs have this pair's law. Also tests the Jacobian and refused
// input.

#include <gtest/gtest.h>

#include <cmath>

#include "core/file_order.hpp"
#include "diffsim/core/impl/block_matrix.hpp"
#include "diffsim/mesh/construction.hpp"
#include "mesh/bodies.hpp"
#include "simulation/contact_bodies.hpp"

namespace diffsim::contact_pairs_test {
namespace {

using namespace testing_contact;
using testing_simulation::expect_refused;

/// Velocities after a step, [owned vertices, 3].
std::vector<double> velocities_after_step(const Scene& scene) {
  DifferentiableScene solver = make_solver(scene);
  solver.model().prepare();
  State state = solver.initial_state();
  solver.step(0, state);
  return state["velocities"].to_host();
}

TEST(contact_pairs, a_body_feels_the_laws_of_its_own_pairs) {
  const Scene mixed = tower(hard_law, soft_law);
  const std::vector<double> v = velocities_after_step(mixed), soft = velocities_after_step(tower(soft_law)),
                            hard = velocities_after_step(tower(hard_law));
  const auto mesh = make_mesh(mixed.blocks, MPI_COMM_WORLD);
  std::array<int, 2> differ{};  // components with different results of the two laws, where the soft law acts and where
                                // the hard one acts
  for (std::size_t i = 0; i < v.size(); ++i) {
    // The lower vertices of the middle block touch the low block, the upper vertices the high block.
    const double y = mesh->rest_positions()[3 * (i / 3) + 1];
    const bool is_soft = y < 0.061;
    EXPECT_EQ(v[i], is_soft ? soft[i] : hard[i])
        << vertex_name(mesh->bodies(), mesh->vertex_order().file_index()[i / 3]);
    differ[is_soft ? 0 : 1] += soft[i] != hard[i];
  }
  MPI_Allreduce(MPI_IN_PLACE, differ.data(), 2, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
  EXPECT_GT(differ[0], 60);
  EXPECT_GT(differ[1], 25);
}

struct Sums {
  double energy = 0.0, friction_power = 0.0;
  std::int64_t active_pairs = 0;
};
Sums sums_of(const Scene& scene) {
  DifferentiableScene solver = make_solver(scene);
  solver.model().prepare();
  const State state = solver.initial_state();
  const ContactState contact = solver.contact_state(0, state);
  Sums sums{0.0, contact.friction_power, contact.active_pairs};
  for (const auto& term : solver.system().terms())
    if (term->limits_steps()) sums.energy += term->energy({state["positions"]}, solver.parameters());
  MPI_Allreduce(MPI_IN_PLACE, &sums.energy, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
  return sums;
}

TEST(contact_pairs, energy_power_and_pairs_are_those_of_each_law) {
  // The barrier distance of the second law is far below the gaps.
  for (const Law& law : {hard_law, Law{0.002, 4e4, 0.4, 0.05}}) {
    const Sums soft = sums_of(tower(soft_law)), hard = sums_of(tower(law)), one = sums_of(tower(law, soft_law)),
               other = sums_of(tower(soft_law, law));
    EXPECT_NEAR(one.energy + other.energy, soft.energy + hard.energy, 1e-13 * soft.energy);
    EXPECT_NEAR(one.friction_power + other.friction_power, soft.friction_power + hard.friction_power,
                1e-13 * soft.friction_power);
    EXPECT_EQ(one.active_pairs + other.active_pairs, soft.active_pairs + hard.active_pairs);
    EXPECT_GT(std::abs(one.energy - soft.energy), 0.01 * soft.energy);
    EXPECT_GT(std::abs(one.energy - hard.energy), 0.01 * soft.energy);
    EXPECT_GT(std::abs(one.friction_power - soft.friction_power), 0.01 * soft.friction_power);
    EXPECT_NE(one.active_pairs, soft.active_pairs);
    EXPECT_NE(one.active_pairs, hard.active_pairs);
  }
}

TEST(contact_pairs, vertices_near_a_plane_are_counted_by_the_law_of_their_body) {
  const Law near{0.002, 4e4, 0.4, 0.05};
  Scene scene = tower(near);
  EXPECT_EQ(sums_of(scene).active_pairs, 0);
  scene.contact.pairs = {pair_of("low", "floor", soft_law)};
  EXPECT_EQ(sums_of(scene).active_pairs, 9);  // vertices of the lower face
  scene = tower(soft_law);
  const std::int64_t all = sums_of(scene).active_pairs;
  scene.contact.pairs = {pair_of("floor", "low", near)};
  EXPECT_EQ(sums_of(scene).active_pairs, all - 9);
}

TEST(contact_pairs, bodies_touch_each_other_as_parts_of_one_body_touch_themselves) {
  const auto positions = [](const Scene& scene) {
    DifferentiableScene solver = make_solver(scene);
    solver.model().prepare();
    State state = solver.initial_state();
    for (int n = 0; n < 60; ++n) solver.step(n, state);
    return state["positions"].to_host();
  };
  Scene scene = stack(0.4, 0.3);
  const std::vector<double> as_one = positions(scene);
  scene.blocks[0].name = "low";
  scene.blocks[1].name = "high";
  scene.contact.self = false;
  EXPECT_EQ(positions(scene), as_one);
}

TEST(contact_pairs, a_body_with_itself_has_a_law_where_self_is_true) {
  // Two blocks are one body.
  Scene scene = stack(0.4, 0.3);
  scene.blocks[0].name = "both";
  scene.blocks[1].place[1] = 0.06;
  ASSERT_EQ(make_mesh(scene.blocks, MPI_COMM_WORLD)->bodies().size(), 1U);
  Scene own = scene, shared = scene;
  shared.contact.barrier_stiffness = 9e4;
  own.contact.pairs = {{{"both", "both"}, {}, 9e4}};
  EXPECT_EQ(velocities_after_step(own), velocities_after_step(shared));
  int differ = velocities_after_step(own) != velocities_after_step(scene);
  MPI_Allreduce(MPI_IN_PLACE, &differ, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
  EXPECT_GT(differ, 0);
}

ContactPair apart(const std::string& a, const std::string& b) {
  ContactPair pair{{a, b}};
  pair.touch = false;
  return pair;
}

TEST(contact_pairs, a_pair_that_does_not_touch_is_not_felt) {
  const Law near{0.002, 4e4, 0.4, 0.05};  // d̂ is smaller than the gaps
  for (const auto& [a, b] : {std::pair("low", "middle"), std::pair("floor", "low"), std::pair("high", "roof")}) {
    Scene without = tower(soft_law), far = tower(soft_law);
    without.contact.pairs = {apart(a, b)};
    far.contact.pairs = {pair_of(a, b, near)};
    const Sums sums = sums_of(without), expected = sums_of(far);
    EXPECT_EQ(sums.active_pairs, expected.active_pairs) << a;
    EXPECT_EQ(sums.energy, expected.energy) << a;
    EXPECT_EQ(velocities_after_step(without), velocities_after_step(far)) << a;
    EXPECT_LT(sums.active_pairs, sums_of(tower(soft_law)).active_pairs) << a;
  }
  // The law of a pair that names a region applies to this region.
  Scene scene = tower(soft_law);
  scene.regions = {{"low/top", {{-1.0, 0.049, -1.0}, {1.0, 0.051, 1.0}}, "low"}};
  Scene far = scene;
  scene.contact.pairs = {apart("low", "middle"), pair_of("low/top", "middle", soft_law)};
  far.contact.pairs = {pair_of("low", "middle", near), pair_of("low/top", "middle", soft_law)};
  EXPECT_EQ(sums_of(scene).active_pairs, sums_of(far).active_pairs);
  EXPECT_EQ(velocities_after_step(scene), velocities_after_step(far));
  far.contact.pairs = {apart("low", "middle")};
  EXPECT_GT(sums_of(scene).active_pairs, sums_of(far).active_pairs);
}

TEST(contact_pairs, bodies_that_do_not_touch_may_begin_within_each_other) {
  // The middle block is in the low block: first it intersects the faces, then it is completely inside. The roof is in
  // the high block.
  for (const bool is_whole : {false, true}) {
    Scene scene = tower(soft_law);
    if (is_whole) scene.blocks[1].size = {0.02, 0.01, 0.02};
    scene.blocks[1].place = {0.02, 0.02, 0.02};
    scene.contact.meshes[0].mesh.vertices = {{-0.3, 0.138, -0.3}, {0.4, 0.139, -0.3}, {0.05, 0.14, 0.5}};
    scene.contact.pairs = {apart("low", "middle"), apart("roof", "high")};
    EXPECT_NO_THROW(make_solver(scene).require_apart());
    EXPECT_EQ(sums_of(scene).active_pairs, 9) << is_whole;  // vertices of the low block's lower face, near the floor
    Scene one = scene;
    one.contact.pairs = {apart("low", "middle")};
    EXPECT_THROW(make_solver(one).require_apart(), Error);
    one.contact.pairs = {apart("roof", "high")};
    EXPECT_THROW(make_solver(one).require_apart(), Error);
  }
}

TEST(contact_pairs, do_not_depend_on_ranks) {
  if (ranks() == 1) GTEST_SKIP() << "one rank is what others are compared with";
  for (const char* integrator : {"symplectic_euler", "bdf2"}) {
    const Scene scene = tower(soft_law, hard_law, integrator);
    const int steps = scene.dt < 0.002 ? 100 : 8;
    const std::vector<double> here = digest(scene, steps, MPI_COMM_WORLD), alone = digest(scene, steps, MPI_COMM_SELF);
    double size = 0.0;
    for (const double value : alone) size = std::max(size, std::abs(value));
    EXPECT_GT(size, 0.3);
    for (std::size_t k = 0; k < alone.size(); ++k) EXPECT_NEAR(here[k], alone[k], 1e-10 * size);
  }
}

/// Product y = (a ∂f/∂x + b ∂f/∂v) d of a term, computed with the term's matrix. For meshes on one rank.
std::vector<double> jacobian_product(DifferentiableScene& solver, ForceTerm& term, const Configuration& at,
                                     const JacobianWeights& weights, const Field& d) {
  Couplings couplings;
  term.add_couplings(at, couplings);
  BlockMatrix matrix(solver.mesh()->num_vertices(), couplings);
  matrix.zero();
  term.add_jacobian(at, solver.parameters(), weights, matrix);
  Field y = d.like("product");
  matrix.multiply(d, y);
  return y.to_host();
}

TEST(contact_pairs, the_jacobian_is_the_derivative_of_the_force_with_two_laws) {
  if (ranks() > 1) GTEST_SKIP() << "the matrix of one rank; others see it through implicit steps";
  for (const auto& [shared, of_low] : {std::pair(hard_law, soft_law), std::pair(soft_law, hard_law)}) {
    int touching = 0;  // number of nonzero Jacobians: of the surfaces' term and of the low block's term with the plane
    DifferentiableScene solver = make_solver(tower(shared, of_low, "implicit_euler"));
    solver.model().prepare();
    const State start = solver.initial_state();
    const Field &x = start["positions"], &v = start["velocities"];
    Field d = x.like("direction");
    std::vector<double> way = x.to_host();
    for (std::size_t i = 0; i < way.size(); ++i) way[i] = std::sin(40.0 * way[i] + static_cast<double>(i % 3));
    d.from_host(way);
    for (const auto& term : solver.system().terms()) {
      if (!term->limits_steps()) continue;
      const auto force = [&](double along_x, double along_v) {
        Field moved_x = x.clone(), moved_v = v.clone(), f = x.like("force");
        axpy(along_x, d, moved_x);
        axpy(along_v, d, moved_v);
        term->add_force({moved_x, 0, nullptr, &moved_v, 0.0}, solver.parameters(), f);
        return f.to_host();
      };
      for (const bool by_velocity : {false, true}) {
        // Sixth-order central differences.
        const double h = by_velocity ? 1e-3 : 1e-6;
        std::vector<double> expected(way.size(), 0.0);
        for (const auto& [k, factor] : {std::pair(1, 0.75), std::pair(2, -0.15), std::pair(3, 1.0 / 60.0)})
          for (const double sign : {1.0, -1.0}) {
            const double step = sign * k * h;
            const std::vector<double> f = by_velocity ? force(0.0, step) : force(step, 0.0);
            for (std::size_t i = 0; i < f.size(); ++i) expected[i] += sign * factor * f[i] / h;
          }
        const std::vector<double> y = jacobian_product(solver, *term, {x, 0, nullptr, &v, 0.0},
                                                       {by_velocity ? 0.0 : 1.0, by_velocity ? 1.0 : 0.0}, d);
        double size = 0.0;
        for (const double value : expected) size = std::max(size, std::abs(value));
        touching += size > 1.0;
        for (std::size_t i = 0; i < y.size(); ++i)
          EXPECT_NEAR(y[i], expected[i], 1e-7 * size) << term->name() << ' ' << i;
      }
    }
    EXPECT_EQ(touching, 4);
  }
}

TEST(contact_pairs, the_jacobian_has_room_for_pairs_by_the_range_of_each) {
  if (ranks() > 1) GTEST_SKIP() << "the lists of one rank";
  // Number of vertices in the sparsity pattern, for the given barrier distances of the pairs.
  // Both gaps are at most 10 mm.
  const auto coupled = [](double shared, std::optional<double> of_low, std::optional<double> of_high) {
    Scene scene = tower({shared, 4e4, 0.0, 0.05}, "implicit_euler");
    scene.contact.planes.clear();
    scene.contact.meshes.clear();
    scene.contact.pairs = {{{"middle", "low"}, of_low}, {{"middle", "high"}, of_high}};
    DifferentiableScene solver = make_solver(scene);
    solver.model().prepare();
    const State start = solver.initial_state();
    std::size_t count = 0;
    for (const auto& term : solver.system().terms()) {
      Couplings couplings;
      if (term->limits_steps()) term->add_couplings({start["positions"]}, couplings);
      for (const auto& group : couplings.groups()) count += group.vertices.size();
    }
    return count;
  };
  EXPECT_EQ(coupled(0.00375, {}, {}), 0U);
  EXPECT_EQ(coupled(0.0053, 0.00375, 0.00375), 0U);
  EXPECT_EQ(coupled(0.00375, 0.0047, {}), 0U);
  const std::size_t lower = coupled(0.00375, 0.0053, {}), upper = coupled(0.00375, {}, 0.0053);
  EXPECT_GT(lower, 0U);
  EXPECT_GT(upper, 0U);
  EXPECT_EQ(coupled(0.0053, 0.00375, {}), upper);
  EXPECT_EQ(coupled(0.0053, {}, 0.00375), lower);
  EXPECT_EQ(coupled(0.0053, {}, {}), lower + upper);
}

TEST(contact_pairs, bodies_that_numbers_do_not_tell_apart_are_refused) {
  int rank = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MeshData data = box_mesh({0.1, 0.1, 0.1}, {2, 2, 2}, rank, ranks());
  data.bodies = {{"left", 0, 0}, {"right", 13, 24}};
  const auto mesh = std::make_shared<TetrahedralMesh>(MPI_COMM_WORLD, std::move(data));
  DifferentiableScene solver = testing_simulation::make_soft_solver(mesh, 5e4, {});
  EXPECT_EQ(expect_refused([&] { solver.add_contact(soft(false)); },
                           {"a triangle has vertices ", " of left", " of right",
                            "; give each body its own, consecutively numbered vertices"}),
            ErrorKind::input);
}

TEST(contact_pairs, messages_name_bodies) {
  Scene scene = tower(soft_law);
  scene.contact.planes.clear();
  scene.contact.meshes.clear();
  const auto start = [&] {
    DifferentiableScene solver = make_solver(scene);
    SumLoss nothing;
    DifferentiableSimulator(solver).rollout(1, 0, nothing);
  };
  scene.blocks[2].place[1] = 0.105;
  EXPECT_EQ(expect_refused(start, {"touches or intersects at the start", " of middle", " of high"}), ErrorKind::input);
  scene.blocks[2].place[1] = 0.119;
  scene.blocks[2].velocity = {0.0, -300.0, 0.0};
  EXPECT_EQ(expect_refused(start, {"contact would be passed through", " of high", " of middle"}), ErrorKind::run);
}

TEST(contact_pairs, a_body_inside_another_is_found) {
  // A small block is inside a large block, which consists of a single brick. The error does not depend on the number of
  // ranks.
  Scene scene;
  scene.contact = soft(false);
  scene.contact.barrier_distance = 1e-3;
  scene.blocks = {{{0.3, 0.3, 0.3}, {1, 1, 1}, {0.0, 0.0, 0.0}, 0.0, {}, "shell"},
                  {{0.01, 0.01, 0.01}, {1, 1, 1}, {0.05, 0.2, 0.1}, 0.0, {}, "kernel"}};
  const auto start = [&] {
    DifferentiableScene solver = make_solver(scene);
    solver.require_apart();
  };
  EXPECT_EQ(expect_refused(start, {"vertex ", " of kernel at ", " is inside body shell", "move them apart"}),
            ErrorKind::input);
  scene.blocks[1].place = {0.05, 0.31, 0.1};
  EXPECT_NO_THROW(start());
}

TEST(contact_pairs, what_makes_no_sense_is_refused) {
  const auto refused = [](const std::vector<ContactPair>& pairs, const std::vector<std::string>& words) {
    Scene scene = tower(soft_law);
    scene.contact.pairs = pairs;
    EXPECT_EQ(expect_refused([&] { make_solver(scene); }, words), ErrorKind::input);
  };
  refused({{{"low", "midle"}, {}, {}, 0.1}},
          {"contact of low with midle", "there is no body, obstacle or region 'midle'", "did you mean 'middle'?",
           "low, middle, high, floor, roof"});
  refused({{{"low", "middle"}, {}, {}, 0.1}, {{"middle", "low"}, 0.01}},
          {"contact of middle with low", "are listed in an earlier pair"});
  refused({{{"roof", "floor"}, {}, {}, 0.1}}, {"'roof' and 'floor' are obstacles"});
  ContactPair with_value = apart("low", "middle");
  with_value.friction = 0.1;
  refused({with_value}, {"'low' and 'middle' do not touch each other; remove the values, or touch: false"});
  refused({{{"roof", "roof"}, {}, {}, 0.1}}, {"'roof' and 'roof' are obstacles"});
  refused({{{"low", "low"}, {}, {}, 0.1}}, {"'low' does not touch itself", "self: true"});
  refused({{{"low", "high"}, -0.01}}, {"contact of low with high", "barrier_distance: -0.01 is not positive"});
  refused({{{"low", "high"}, {}, 0.0}}, {"barrier_stiffness: 0 is not positive"});
  refused({{{"low", "high"}, {}, {}, -0.1}}, {"friction: -0.1 is negative"});
  refused({{{"low", "high"}, {}, {}, {}, 0.0}}, {"friction_velocity: 0 is not positive"});
  Scene scene = tower(soft_law);
  scene.contact.planes[0].label = "low";
  scene.contact.pairs = {{{"low", "high"}, {}, {}, 0.1}};
  EXPECT_EQ(expect_refused([&] { make_solver(scene); }, {"several 'low'"}), ErrorKind::input);
}

TEST(contact_pairs, a_pair_has_the_parameters_that_it_gives) {
  Scene scene = tower(soft_law);
  scene.contact.pairs = {{{"middle", "low"}, {}, {}, 0.2}, {{"roof", "high"}, 0.01, {}, {}, 0.1}};
  DifferentiableScene solver = make_solver(scene);
  const ParameterSet& parameters = solver.parameters();
  for (const char* name : {"friction:middle|low", "barrier_distance:roof|high", "friction_velocity:roof|high"}) {
    ASSERT_NE(parameters.find(name), nullptr) << name;
    const auto spec = find_parameter_spec(name);
    ASSERT_TRUE(spec.has_value()) << name;
    EXPECT_EQ(spec->unit, parameters.at(name).spec.unit);
  }
  for (const char* name : {"friction:low|middle", "barrier_distance:middle|low", "friction:roof|high"})
    EXPECT_EQ(parameters.find(name), nullptr) << name;
  EXPECT_EQ(parameters.at("friction:middle|low").field.to_host(), std::vector<double>{0.2});
  EXPECT_EQ(parameters.at("friction").field.to_host(), std::vector<double>{soft_law.friction});
}

TEST(contact_pairs, a_lone_body_is_called_body) {
  Scene scene = roof(0.0);
  scene.contact.pairs = {{{"body", "0"}, {}, 9e4, 0.3}};
  Scene shared = roof(0.3);
  shared.contact.barrier_stiffness = 9e4;
  scene.blocks[0].place[1] = shared.blocks[0].place[1] = -0.012;
  EXPECT_EQ(velocities_after_step(scene), velocities_after_step(shared));
  scene.contact.pairs[0].between[0] = "block";
  expect_refused([&] { make_solver(scene); },
                 {"there is no body, obstacle or region 'block'", "give one of: body, 0, all"});
}

TEST(contact_pairs, derivatives_by_friction_that_is_not_there_are_refused) {
  Scene scene = tower({0.015, 4e4, 0.0, 0.05});
  scene.contact.pairs = {{{"low", "floor"}, {}, {}, {}, 0.1}, {{"low", "middle"}, {}, {}, {}, 0.1}};
  for (const char* name : {"friction_velocity:low|floor", "friction_velocity:low|middle"}) {
    DifferentiableScene solver = make_solver(scene);
    DifferentiableSimulator simulator(solver);
    simulator.require_gradient({name});
    TargetPositionLoss loss(*solver.mesh(), solver.mesh()->region("all"), {0.1, 0.3, -0.1}, 1);
    expect_refused(
        [&] {
          simulator.rollout(1, 0, loss);
          simulator.backward();
        },
        {"this contact term has no friction"});
  }
}

}  // namespace
}  // namespace diffsim::contact_pairs_test
