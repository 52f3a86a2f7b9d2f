// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
//
// A step, its tangent and its adjoint allocate no array once each has run and the lists of contact have settled.

#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <cmath>
#include <cstdlib>
#include <new>

#include "contact/obstacles.hpp"
#include "diffsim/core/impl/block_matrix.hpp"
#include "diffsim/core/impl/device.hpp"
#include "mesh/body_meshes.hpp"
#include "simulation/contact_pieces.hpp"
#include "simulation/simulation_testing.hpp"

namespace {

/// Smallest counted allocation, bytes. Smaller ones are names of kernels and a few scalars. An array of the meshes
/// below has at least one value per vertex.
constexpr std::size_t smallest_array = 512;

std::atomic<bool> counting{false};
std::atomic<int> arrays{0};
char last_label[100];

void note(const char* label, std::size_t bytes) {
  if (!counting || bytes < smallest_array) return;
  ++arrays;
  std::snprintf(last_label, sizeof(last_label), "%s, %zu bytes", label, bytes);
}

/// Callback that Kokkos invokes for every allocation in any memory space.
void note_kokkos(Kokkos::Profiling::SpaceHandle, const char* label, const void*, std::uint64_t bytes) {
  note(label, bytes);
}

}  // namespace

// Counts the allocations of containers of the standard library.
void* operator new(std::size_t bytes, const std::nothrow_t&) noexcept {
  note("operator new", bytes);
  return std::malloc(bytes > 0 ? bytes : 1);
}
void* operator new(std::size_t bytes) {
  if (void* const memory = operator new(bytes, std::nothrow)) return memory;
  throw std::bad_alloc();
}
// Not inlined: a compiler that sees `free` next to `operator new` warns that the two do not match.
[[gnu::noinline]] void operator delete(void* memory) noexcept { std::free(memory); }
[[gnu::noinline]] void operator delete(void* memory, std::size_t) noexcept { std::free(memory); }

namespace diffsim::allocation_test {
namespace {

using testing_simulation::value_of;

/// Number of arrays that three rounds allocate after two uncounted rounds. A round is a step, a recording step, its
/// tangent and its adjoint.
int arrays_of_steps(DifferentiableScene& solver, const std::vector<std::string>& names) {
  Model& model = solver.model();
  model.prepare();
  ParameterSet direction = solver.parameters().zero_like(names), gradient = direction.zero_like(names);
  direction.fill(1e-3);
  model.prepare_tangent(direction);
  model.begin_adjoint(gradient);
  State state = solver.initial_state(), tangent = state.zero_like(), adjoint = state.zero_like();
  for (Field& field : adjoint.fields()) field.fill(1.0);
  const std::unique_ptr<Record> record = model.make_record();
  Kokkos::Tools::Experimental::set_allocate_data_callback(note_kokkos);
  for (int round = 0; round < 5; ++round) {
    counting = round >= 2;
    model.step(0, state, nullptr);
    model.step(0, state, record.get());
    model.step_tangent(0, *record, direction, tangent);
    model.step_adjoint(0, *record, adjoint, gradient);
  }
  counting = false;
  Kokkos::Tools::Experimental::set_allocate_data_callback(nullptr);
  return arrays.exchange(0);
}

int substeps_of(Integrator integrator) { return is_explicit(integrator) ? 2 : 1; }

DifferentiableScene make_solver(int order, DifferentiableMaterial material,
                                Integrator integrator = DifferentiableSolver{}.integrator,
                                int factored = ImplicitOptions{}.linear.direct_below) {
  for (const std::string& name : elastic_law(material.model).parameter_names()) material.values[name] = value_of(name);
  material.values["density"] = value_of("density");
  DifferentiableSolver options{.dt = 1e-3, .substeps = substeps_of(integrator), .integrator = integrator};
  options.implicit.linear.direct_below = factored;
  DifferentiableScene solver(TetrahedralMesh::box(MPI_COMM_WORLD, {1.0, 0.7, 0.6}, {6, 5, 4}, order), {material},
                             options);
  solver.fix("x_min");
  solver.add_traction("x_max", {20.0, -10.0, 5.0});
  return solver;
}

const std::vector<std::string> common{"youngs_modulus", "density",        "gravity",
                                      "damping",        "traction:x_max", "rest_positions"};

std::vector<std::string> with(std::vector<std::string> names, const std::vector<std::string>& more) {
  names.insert(names.end(), more.begin(), more.end());
  return names;
}

TEST(allocation, the_count_sees_arrays) {
  Kokkos::Tools::Experimental::set_allocate_data_callback(note_kokkos);
  counting = true;
  const Field field("field", 1000);
  EXPECT_EQ(arrays.exchange(0), 1);
  const std::vector<double> values = field.to_host();
  EXPECT_EQ(arrays.exchange(0), 1);
  counting = false;
  Kokkos::Tools::Experimental::set_allocate_data_callback(nullptr);
  EXPECT_EQ(values.size(), 1000u);
}

TEST(allocation, steps_of_linear_cells_allocate_nothing) {
  DifferentiableScene solver = make_solver(1, {"neo_hookean", {}});
  EXPECT_EQ(arrays_of_steps(solver, common), 0) << last_label;
}

TEST(allocation, steps_of_second_order_cells_with_damping_allocate_nothing) {
  DifferentiableMaterial material{"st_venant_kirchhoff", {}};
  const std::vector<std::string> damping{"viscosity", "bulk_viscosity", "rayleigh_damping", "drag"};
  for (const std::string& name : damping) material.values[name] = value_of(name);
  DifferentiableScene solver = make_solver(2, material);
  EXPECT_EQ(arrays_of_steps(solver, with(common, damping)), 0) << last_label;
}

TEST(allocation, steps_of_several_stages_allocate_nothing) {
  for (const Integrator integrator : {Integrator::velocity_verlet, Integrator::runge_kutta_4}) {
    DifferentiableScene solver = make_solver(1, {"neo_hookean", {}}, integrator);
    solver.mesh()->define_region("end", BoxShape{{0.99, -1.0, -1.0}, {2.0, 1.0, 1.0}});
    solver.move("end", {1.0, 0.0, 0.0}, {1.0, 0.3, 0.3}, {1.0}, {0.1, 0.0, 0.0});
    EXPECT_EQ(arrays_of_steps(solver, {"youngs_modulus", "density", "gravity", "traction:x_max", "rest_positions"}), 0)
        << name_of(integrator) << ": " << last_label;
  }
}

TEST(allocation, steps_with_a_signal_allocate_nothing) {
  DifferentiableScene solver = make_solver(1, {"active_fibre", {}});
  EXPECT_EQ(arrays_of_steps(solver, {"active_tension", "activation", "activation_signal", "density"}), 0) << last_label;
}

TEST(allocation, steps_with_nodal_dilatation_allocate_nothing) {
  DifferentiableMaterial material{"neo_hookean", {}, "all", true};
  DifferentiableScene solver = make_solver(1, material);
  EXPECT_EQ(arrays_of_steps(solver, common), 0) << last_label;
}

/// Scene of two bodies, a plane and a lid with gaps smaller than d̂, with friction and a separate law for one pair. The
/// upper body may touch itself, and has a contact surface of its own if `own_surface` is true. With `thick`, bodies
/// have a thickness, and a moving sheet, which is a body without a material, touches the side of the upper body. Steps
/// move the bodies little, so that lists of pairs remain valid.
DifferentiableScene make_touching(Integrator integrator = DifferentiableSolver{}.integrator, bool own_surface = false,
                                  bool thick = false) {
  using namespace testing_mesh;
  std::vector<NamedMesh> bodies;
  bodies.push_back({"low", box_body(MPI_COMM_WORLD, {"low", {1.0, 0.4, 0.6}, {10, 2, 9}})});
  bodies.push_back({"high", box_body(MPI_COMM_WORLD, {"high", {0.8, 0.4, 0.5}, {8, 2, 8}, {0.1, 0.405, 0.05}})});
  if (thick) {
    MeshData sheet = grid_of_triangles({6, 6}, {0.8, 0.3}, 0.0);
    for (std::size_t i = 0; i < sheet.coordinates.size(); i += 3) {  // upright, below the upper body's side
      sheet.coordinates[i] += 0.1;
      sheet.coordinates[i + 1] += 0.45;
      sheet.coordinates[i + 2] = 0.043;
    }
    bodies.push_back({"sheet", whole_on_first_rank(MPI_COMM_WORLD, std::move(sheet))});
  }
  const auto mesh = std::make_shared<TetrahedralMesh>(MPI_COMM_WORLD, join_bodies(MPI_COMM_WORLD, std::move(bodies)));
  DifferentiableMaterial material{"neo_hookean", {}};
  for (const std::string& name : elastic_law(material.model).parameter_names()) material.values[name] = value_of(name);
  material.values["density"] = value_of("density");
  DifferentiableScene solver(mesh, {material},
                             {.dt = 1e-5, .substeps = substeps_of(integrator), .integrator = integrator});
  ContactOptions contact;
  contact.barrier_distance = 0.01;
  contact.barrier_stiffness = 1e3;
  contact.friction = 0.3;
  contact.friction_velocity = 0.1;
  contact.self = true;
  contact.planes = {{{0.0, -0.005, 0.0}, {0.0, 1.0, 0.0}, {}, "floor", {}}};
  MeshObstacle ball;
  ball.mesh = contact::box_triangles({-0.5, 0.81, -0.5}, {1.5, 1.0, 1.5});
  ball.label = "lid";
  contact.meshes = {ball};
  contact.pairs = {{{"low", "high"}, {}, {}, 0.5, {}}};
  if (thick) {
    contact.thickness = 1e-3;
    solver.move("sheet/all", {0.0, 0.0, 1.0}, {0.0, 0.0, 0.0}, {0.01}, {0.0, 0.0, 1e-3});
  }
  if (own_surface) {
    const testing_scenes::Piece upper = testing_scenes::block({0.8, 0.4, 0.5}, {4, 1, 4}).moved({0.5, 0.605, 0.3});
    contact.surfaces = {{"high", testing_scenes::divided_boundary({upper}, 1.0)}};
  }
  solver.add_contact(contact);
  return solver;
}

TEST(allocation, contact_allocates_nothing_for_implicit_steps_but_the_couplings_it_names) {
  DifferentiableScene solver = make_touching();
  solver.model().prepare();
  const State state = solver.initial_state();
  const Field &start = state["positions"], &v = state["velocities"];
  const TetrahedralMesh& mesh = *solver.mesh();
  // The rounds alternate between two configurations, as iterates of Newton's method do.
  std::vector<double> moved = start.to_host();
  for (std::size_t i = 0; i < moved.size(); ++i)
    moved[i] += 1e-5 * std::sin(40.0 * moved[i] + static_cast<double>(i % 3));
  Field other = start.clone();
  other.from_host(moved);
  const Field* const ends[2] = {&start, &other};
  for (const auto& term : solver.system().terms()) {
    if (!term->limits_steps()) continue;
    Field force = start.like("force");
    std::unique_ptr<BlockMatrix> matrix;
    Kokkos::Tools::Experimental::set_allocate_data_callback(note_kokkos);
    for (int round = 0; round < 6; ++round) {
      const Configuration at{*ends[round % 2], 0, nullptr, &v, 0.0}, next{*ends[1 - round % 2], 0, nullptr, &v, 0.0};
      int named = 0;
      counting = round >= 3;
      {
        Couplings couplings;
        term->add_couplings(at, couplings);
        for (const Couplings::Group& group : couplings.groups()) named += 4 * group.vertices.size() >= smallest_array;
        named += couplings.copies().size() * sizeof(VertexLocation) >= smallest_array;
        counting = false;
        if (!matrix)
          matrix = std::make_unique<BlockMatrix>(
              std::max(mesh.num_vertices(), mesh.num_owned_vertices() + static_cast<int>(couplings.copies().size())),
              couplings);
      }
      EXPECT_EQ(arrays.exchange(0), round >= 3 ? named : 0) << term->name() << ": " << last_label;
      counting = round >= 3;
      term->pattern_covers(at);
      term->energy(at, solver.parameters());
      term->add_force(at, solver.parameters(), force);
      for (const bool project : {false, true})
        term->add_jacobian(at, solver.parameters(), {1.0, 2.0, project}, *matrix);
      term->max_step(at, next, solver.parameters());
      counting = false;
      EXPECT_EQ(arrays.exchange(0), 0) << term->name() << ": " << last_label;
    }
    Kokkos::Tools::Experimental::set_allocate_data_callback(nullptr);
  }
}

TEST(allocation, steps_with_contact_allocate_nothing) {
  DifferentiableScene solver = make_touching();
  solver.model().prepare();
  EXPECT_GT(solver.contact_state(0, solver.initial_state()).active_pairs, 10);
  EXPECT_EQ(arrays_of_steps(
                solver, {"density", "gravity", "friction", "friction:low|high", "barrier_stiffness", "barrier_distance",
                         "friction_velocity", "obstacle_velocity:lid", "obstacle_position:floor", "rest_positions"}),
            0)
      << last_label;
}

TEST(allocation, steps_with_contact_of_an_own_surface_allocate_nothing) {
  for (const Integrator integrator : {Integrator::symplectic_euler, Integrator::implicit_euler}) {
    DifferentiableScene solver = make_touching(integrator, true);
    solver.model().prepare();
    EXPECT_GT(solver.contact_state(0, solver.initial_state()).active_pairs, 10);
    EXPECT_EQ(arrays_of_steps(solver, {"density", "gravity", "friction", "friction:low|high", "barrier_stiffness",
                                       "barrier_distance", "friction_velocity", "rest_positions"}),
              0)
        << name_of(integrator) << ": " << last_label;
  }
}

TEST(allocation, steps_with_thick_bodies_and_a_moving_body_allocate_nothing) {
  for (const Integrator integrator : {Integrator::symplectic_euler, Integrator::implicit_euler}) {
    DifferentiableScene solver = make_touching(integrator, false, true);
    solver.model().prepare();
    const State start = solver.initial_state();
    EXPECT_GT(solver.contact_state(0, start).active_pairs, 10);
    double on_sheet = 0.0;
    for (const ContactForce& of : solver.contact_forces(0, start))
      if (of.between == std::array<std::string, 2>{"high", "sheet"}) on_sheet = of.force[2];
    EXPECT_GT(on_sheet, 0.0);
    EXPECT_EQ(arrays_of_steps(solver, {"density", "gravity", "friction", "barrier_stiffness", "barrier_distance",
                                       "thickness", "velocity:sheet/all"}),
              0)
        << name_of(integrator) << ": " << last_label;
  }
}

TEST(allocation, implicit_steps_allocate_nothing) {
  for (const int factored : {0, 100000})
    for (const Integrator integrator : {Integrator::implicit_euler, Integrator::bdf2, Integrator::generalised_alpha}) {
      DifferentiableScene solver = make_solver(1, {"neo_hookean", {}}, integrator, factored);
      EXPECT_EQ(arrays_of_steps(solver, {"youngs_modulus", "density", "gravity", "traction:x_max", "rest_positions"}),
                0)
          << name_of(integrator) << ", " << factored << ": " << last_label;
    }
}

TEST(allocation, implicit_steps_with_contact_allocate_nothing) {
  DifferentiableScene solver = make_touching(Integrator::implicit_euler);
  solver.model().prepare();
  EXPECT_GT(solver.contact_state(0, solver.initial_state()).active_pairs, 10);
  EXPECT_EQ(arrays_of_steps(solver, {"density", "gravity", "friction", "friction:low|high", "barrier_stiffness",
                                     "barrier_distance", "friction_velocity", "rest_positions"}),
            0)
      << last_label;
}

}  // namespace
}  // namespace diffsim::allocation_test
