// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
//
// Contact between surfaces of triangles, segments and points.

#include <gtest/gtest.h>

#include <cmath>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "contact/barrier.hpp"
#include "contact/surface_contact.hpp"
#include "core/exchange.hpp"
#include "core/file_order.hpp"
#include "diffsim/core/runtime.hpp"
#include "diffsim/mesh/construction.hpp"
#include "mesh/body_meshes.hpp"
#include "simulation/whole_gradient_testing.hpp"

namespace diffsim::surface_pieces_test {
namespace {

using testing_mesh::grid_of_triangles;
using testing_mesh::whole_on_first_rank;
using Places = std::vector<std::array<double, 3>>;

/// Makes a mesh whose vertices form a chain of segments, or separate points.
MeshData mesh_of(const Places& places, CellKind kind) {
  MeshData data;
  data.num_vertices = static_cast<std::int64_t>(places.size());
  for (const auto& x : places) data.coordinates.insert(data.coordinates.end(), x.begin(), x.end());
  MeshData::LowerCells& cells = data.lower(kind);
  const std::int64_t corners = corners_of(kind);
  for (std::int64_t first = 0; first + corners <= data.num_vertices; ++first, ++cells.num)
    for (std::int64_t k = 0; k < corners; ++k) cells.nodes.push_back(first + k);
  return data;
}

/// Returns points along a line between two positions, optionally bent.
Places line(const std::array<double, 3>& from, const std::array<double, 3>& to, int segments, double bend = 0.0) {
  Places places;
  for (int k = 0; k <= segments; ++k) {
    const double t = static_cast<double>(k) / segments;
    places.push_back({from[0] + t * (to[0] - from[0]), from[1] + t * (to[1] - from[1]),
                      from[2] + t * (to[2] - from[2]) + bend * std::sin(7.0 * t)});
  }
  return places;
}

/// Bodies without fixed vertices, and their contact.
struct Bodies {
  MPI_Comm comm;
  std::shared_ptr<TetrahedralMesh> mesh;
  ParameterSet parameters;
  std::unique_ptr<SurfaceContact> contact;
  Field x, v;

  Bodies(MPI_Comm the_comm, std::vector<NamedMesh> bodies, double range, bool friction = false,
         std::optional<double> thickness = {}, bool self = true)
      : comm(the_comm) {
    for (NamedMesh& body : bodies) body.data = whole_on_first_rank(comm, std::move(body.data));
    mesh = std::make_shared<TetrahedralMesh>(comm, join_bodies(comm, std::move(bodies)));
    const auto add = [&](const ParameterSpec& spec, double value) {
      parameters.add(spec, Entities::one_for_all(comm)).field.from_host({value});
    };
    add(ContactParameters::barrier_distance, range);
    add(ContactParameters::barrier_stiffness, 3e4);
    add(ContactParameters::friction, 0.3);
    add(ContactParameters::friction_velocity, 0.7);
    if (thickness) add(ContactParameters::thickness, *thickness);
    parameters.add("rest_positions", mesh->vertex_entities(), 3).field.from_host(mesh->rest_positions());
    contact = std::make_unique<SurfaceContact>(
        mesh, SurfaceContactOptions{.self = self,
                                    .forces = friction ? ContactForces::barrier_and_friction : ContactForces::barrier});
    contact->prepare(parameters);
    x = Field("positions", mesh->vertex_entities(), 3);
    x.from_host(mesh->rest_positions());
    v = x.like("velocities");
    v.from_host(wave(1.0));
  }
  /// Returns vectors at the vertices that depend on the vertices' numbers in the file only.
  std::vector<double> wave(double phase) const {
    std::vector<double> values;
    for (std::size_t i = 0; i < static_cast<std::size_t>(mesh->num_vertices()); ++i)
      for (int c = 0; c < 3; ++c)
        values.push_back(std::sin(phase + 1.3 * static_cast<double>(mesh->vertex_order().file_index()[i]) + 0.8 * c));
    return values;
  }
  Field wave_field(double phase) const {
    Field field = x.like("wave");
    field.from_host(wave(phase));
    return field;
  }
  Configuration at() const { return {x, 0, nullptr, contact->uses_velocities() ? &v : nullptr, 0.0}; }
  double over_ranks(double share) const {
    MPI_Allreduce(MPI_IN_PLACE, &share, 1, MPI_DOUBLE, MPI_SUM, comm);
    return share;
  }
  /// Returns the sum over owned vertices of the product of two fields.
  double product(const Field& a, const Field& b) const {
    const std::vector<double> p = a.to_host(), q = b.to_host();
    double sum = 0.0;
    for (std::size_t i = 0; i < 3 * static_cast<std::size_t>(mesh->num_owned_vertices()); ++i) sum += p[i] * q[i];
    return over_ranks(sum);
  }
  double energy() const { return over_ranks(contact->energy(at(), parameters)); }
  double power(const Field& w) const {
    Field force = x.like("force");
    contact->add_force(at(), parameters, force);
    return product(force, w);
  }
};

/// Returns a sheet, two crossing wires above the sheet, and points near all of them.
std::vector<NamedMesh> mixture() {
  MeshData sheet = grid_of_triangles({3, 3}, {0.1, 0.1}, 0.0);
  for (std::size_t i = 0; i < sheet.coordinates.size(); i += 3)
    sheet.coordinates[i + 2] = 0.02 * sheet.coordinates[i] - 0.013 * sheet.coordinates[i + 1];
  std::vector<NamedMesh> bodies;
  bodies.push_back({"sheet", sheet});
  bodies.push_back({"wire", mesh_of(line({-0.02, 0.031, 0.006}, {0.12, 0.067, 0.0075}, 6, 0.001), CellKind::segment)});
  bodies.push_back(
      {"cross", mesh_of(line({0.033, -0.01, 0.013}, {0.061, 0.12, 0.0115}, 9, -0.001), CellKind::segment)});
  bodies.push_back({"cloud", mesh_of({{0.071, 0.022, 0.0053},
                                      {0.0435, 0.041, 0.0186},
                                      {0.0772, 0.0231, 0.0102},
                                      {0.012, 0.0402, 0.0121},
                                      {0.05, 0.05, 0.5}},
                                     CellKind::point)});
  return bodies;
}

const std::vector<std::string> parameter_names{"barrier_distance",  "barrier_stiffness", "friction",
                                               "friction_velocity", "thickness",         "rest_positions"};

TEST(surface_pieces, force_is_minus_the_slope_of_the_energy) {
  for (const std::optional<double> thickness : {std::optional<double>(), std::optional<double>(1e-3)}) {
    Bodies bodies(MPI_COMM_WORLD, mixture(), 0.009, false, thickness);
    const std::vector<double> start = bodies.x.to_host(), way = bodies.wave(0.3);
    const auto energy = [&](double h) {
      std::vector<double> moved = start;
      for (std::size_t i = 0; i < moved.size(); ++i) moved[i] += h * 1e-3 * way[i];
      bodies.x.from_host(moved);
      return bodies.energy();
    };
    const testing_gradient::Difference slope = testing_gradient::differentiate(energy);
    EXPECT_GT(energy(0.0), 0.0);
    EXPECT_NEAR(-1e-3 * bodies.power(bodies.wave_field(0.3)), slope.value, 1e-8 * std::abs(slope.value));
    EXPECT_EQ(bodies.contact->state(bodies.at(), bodies.parameters).intersections, 0);
  }
}

/// Returns zeroed gradients of the parameters.
ParameterSet gradients(const Bodies& bodies, bool friction) {
  ParameterSet gradient;
  for (const std::string& name : parameter_names) {
    if (!friction && name.starts_with("friction")) continue;
    const Parameter& values = bodies.parameters.at(name);
    gradient.add(name, values.is_global() ? Entities::one_for_all(bodies.comm) : bodies.mesh->vertex_entities(),
                 values.field.components());
  }
  return gradient;
}

/// Returns the derivative of w·f by differences, with respect to the input `moved` along `way`.
testing_gradient::Difference slope_of_power(Bodies& bodies, const Field& w, Field& moved,
                                            const std::vector<double>& way) {
  const std::vector<double> start = moved.to_host();
  const testing_gradient::Difference slope = testing_gradient::differentiate([&](double h) {
    std::vector<double> values = start;
    for (std::size_t i = 0; i < values.size(); ++i) values[i] += h * way[i];
    moved.from_host(values);
    bodies.contact->prepare(bodies.parameters);
    return bodies.power(w);
  });
  moved.from_host(start);
  bodies.contact->prepare(bodies.parameters);
  return slope;
}

/// Compares the derivatives of w·f with respect to one input along a wave: by the tangent, by the adjoint and by
/// differences.
TEST(surface_pieces, tangents_and_adjoints_have_the_slopes_that_differences_have) {
  for (const bool friction : {false, true}) {
    Bodies bodies(MPI_COMM_WORLD, mixture(), 0.009, friction, 1e-3);
    const Field w = bodies.wave_field(2.1);
    std::vector<std::string> names = parameter_names;
    names.insert(names.end(), {"positions", "velocities"});
    ParameterSet gradient = gradients(bodies, friction);
    Field x_bar = w.like("x_bar"), v_bar = w.like("v_bar");
    bodies.contact->begin_adjoint(gradient);
    bodies.contact->add_force_adjoint(bodies.at(), w, {x_bar, friction ? &v_bar : nullptr}, gradient);
    bodies.contact->prepare_adjoint(bodies.parameters, gradient);
    bodies.mesh->vertex_exchange().add_to_owners(gradient.at("rest_positions").field);
    for (const std::string& name : names) {
      if (!friction && (name.starts_with("friction") || name == "velocities")) continue;
      SCOPED_TRACE(name + (friction ? " with friction" : ""));
      const bool is_place = name == "positions", is_rate = name == "velocities";
      Field& moved = is_place ? bodies.x : is_rate ? bodies.v : bodies.parameters.at(name).field;
      const std::vector<double> start = moved.to_host();
      std::vector<double> way = start.size() == 1 ? std::vector<double>{0.5 * start[0]} : bodies.wave(0.7);
      if (is_place || name == "rest_positions")
        for (double& component : way) component *= 1e-3;
      const testing_gradient::Difference slope = slope_of_power(bodies, w, moved, way);
      // Derivatives along the direction. The copies of vector fields have all components of the direction, too.
      Field dx = w.like("dx"), dv = w.like("dv"), tangent = w.like("tangent");
      ParameterSet direction;
      if (is_place) {
        dx.from_host(way);
      } else if (is_rate) {
        dv.from_host(way);
      } else {
        direction
            .add(name, start.size() == 1 ? Entities::one_for_all(bodies.comm) : bodies.mesh->vertex_entities(),
                 moved.components())
            .field.from_host(way);
      }
      bodies.contact->prepare_tangent(bodies.parameters, direction);
      bodies.contact->add_force_tangent(bodies.at(), {dx, friction ? &dv : nullptr}, direction, tangent);
      EXPECT_GT(std::abs(slope.value), 0.0);
      EXPECT_NEAR(bodies.product(tangent, w), slope.value, 1e-8 * std::abs(slope.value) + 10.0 * slope.error);
      double by_adjoint = 0.0;
      if (is_place || is_rate) {
        by_adjoint = bodies.product(is_place ? x_bar : v_bar, is_place ? dx : dv);
      } else if (start.size() == 1) {
        by_adjoint = bodies.over_ranks(gradient.at(name).field.to_host().at(0)) * way[0];
      } else {
        by_adjoint = bodies.product(gradient.at(name).field, direction.at(name).field);
      }
      EXPECT_NEAR(by_adjoint, bodies.product(tangent, w), 1e-12 * std::abs(slope.value));
    }
  }
}

TEST(surface_pieces, forces_do_not_depend_on_ranks) {
  if (num_ranks(MPI_COMM_WORLD) == 1) GTEST_SKIP() << "one rank is what others are compared with";
  Bodies all(MPI_COMM_WORLD, mixture(), 0.009, true, 1e-3), alone(MPI_COMM_SELF, mixture(), 0.009, true, 1e-3);
  for (const double phase : {0.1, 1.7, 3.1}) {
    const double expected = alone.power(alone.wave_field(phase));
    EXPECT_NEAR(all.power(all.wave_field(phase)), expected, 1e-12 * std::abs(expected));
  }
  const ContactState here = all.contact->state(all.at(), all.parameters),
                     there = alone.contact->state(alone.at(), alone.parameters);
  EXPECT_EQ(here.active_pairs, there.active_pairs);
  EXPECT_EQ(here.min_distance, there.min_distance);
}

/// The energy is κ ψ times the area of a strip of width d̂/2 along parallel wires, regardless of the number of
/// segments. For two points it is κ ψ times the area of a patch of d̂/2 by d̂/2.
TEST(surface_pieces, energy_is_by_length_of_segments_and_by_number_of_points) {
  const double range = 0.01, height = 0.004, length = 0.3;
  const double psi = 3e4 * contact::Barrier(height * height, range).value, half = 0.5 * range;
  for (const int segments : {3, 20, 80}) {
    std::vector<NamedMesh> wires;
    wires.push_back({"low", mesh_of(line({0, 0, 0}, {length, 0, 0}, segments), CellKind::segment)});
    wires.push_back({"high", mesh_of(line({0, 0, height}, {length, 0, height}, segments), CellKind::segment)});
    const Bodies bodies(MPI_COMM_WORLD, std::move(wires), range, false, {}, false);
    EXPECT_NEAR(bodies.energy(), half * length * psi, 1e-12 * psi);
  }
  std::vector<NamedMesh> points;
  points.push_back({"one", mesh_of({{0, 0, 0}, {5, 0, 0}}, CellKind::point)});
  points.push_back({"other", mesh_of({{0, 0, height}, {0, 5, 0}}, CellKind::point)});
  EXPECT_NEAR(Bodies(MPI_COMM_WORLD, std::move(points), range).energy(), half * half * psi, 1e-12 * half * half * psi);
  // A point above a wire's bend, and a point above a sheet, touch the nearest point only.
  std::vector<NamedMesh> bend;
  bend.push_back({"wire", mesh_of({{-0.1, 0.1, 0}, {0, 0, 0}, {0.1, 0.1, 0}}, CellKind::segment)});
  bend.push_back({"point", mesh_of({{0, 0, height}, {5, 5, 5}}, CellKind::point)});
  EXPECT_NEAR(Bodies(MPI_COMM_WORLD, std::move(bend), range).energy(), half * half * psi, 1e-12 * half * half * psi);
  std::vector<NamedMesh> over;
  over.push_back({"sheet", grid_of_triangles({4, 4}, {0.1, 0.1}, 0.0)});
  over.push_back({"point", mesh_of({{0.05, 0.05, height}, {5, 5, 5}}, CellKind::point)});
  EXPECT_NEAR(Bodies(MPI_COMM_WORLD, std::move(over), range).energy(), half * half * psi, 1e-12 * half * half * psi);
}

/// The energy of crossing wires belongs to the crossing. Segments longer or shorter than d̂ change the energy by
/// less than a factor of 8.
TEST(surface_pieces, energy_of_crossing_wires_does_not_grow_with_their_segments) {
  double least = 1e300, most = 0.0;
  for (const int segments : {1, 3, 11, 41, 161, 641}) {
    std::vector<NamedMesh> wires;
    wires.push_back({"low", mesh_of(line({-0.1, 0, 0}, {0.1, 0, 0}, segments), CellKind::segment)});
    wires.push_back({"high", mesh_of(line({0, -0.1, 0.004}, {0, 0.1, 0.004}, segments), CellKind::segment)});
    const double energy = Bodies(MPI_COMM_SELF, std::move(wires), 0.01, false, {}, false).energy();
    least = std::min(least, energy);
    most = std::max(most, energy);
    std::printf("%d segments: %.4g J\n", segments, energy);
  }
  EXPECT_GT(least, 0.0);
  EXPECT_LT(most, 8.0 * least);
}

TEST(surface_pieces, motions_through_each_other_are_cut) {
  const auto part = [](MeshData falling, MeshData lying, std::optional<double> thickness = {}) {
    std::vector<NamedMesh> both;
    const std::int64_t first = lying.num_vertices;
    both.push_back({"lying", std::move(lying)});
    both.push_back({"falling", std::move(falling)});
    Bodies bodies(MPI_COMM_WORLD, std::move(both), 0.01, false, thickness);
    Field to = bodies.x.clone();
    std::vector<double> places = to.to_host();
    for (std::size_t i = 0; i < places.size(); i += 3)
      if (bodies.mesh->vertex_order().file_index()[i / 3] >= first) places[i + 2] -= 1.0;
    to.from_host(places);
    const double step = bodies.contact->max_step(bodies.at(), {to}, bodies.parameters);
    double least = step;
    MPI_Allreduce(MPI_IN_PLACE, &least, 1, MPI_DOUBLE, MPI_MIN, MPI_COMM_WORLD);
    return least;
  };
  const auto wire = [](double height) {
    return mesh_of(line({-1, 0.02, height}, {1, 0.03, height + 0.001}, 3), CellKind::segment);
  };
  const auto other = [](double height) {
    return mesh_of(line({0.01, -1, height}, {-0.03, 1, height}, 4), CellKind::segment);
  };
  const MeshData points = mesh_of({{0.0, 0.025, 0.5}, {3, 3, 3}}, CellKind::point),
                 below = mesh_of({{0.0, 0.025, 0.0}, {3, 3, -9}}, CellKind::point);
  const auto expect_cut = [](double step) {
    EXPECT_GT(step, 0.3);
    EXPECT_LT(step, 0.5);
  };
  expect_cut(part(wire(0.5), other(0.0)));
  MeshData sheet = grid_of_triangles({2, 2}, {0.1, 0.1}, 0.0);
  expect_cut(part(wire(0.5), sheet));
  expect_cut(part(points, sheet));
  MeshData straight = mesh_of({{-1, 0.025, 0.0}, {1, 0.025, 0.0}}, CellKind::segment);
  expect_cut(part(points, straight));
  expect_cut(part(points, below));
  EXPECT_LT(part(wire(0.5), other(0.0), 0.2), 0.3);  // the distance stays above the thickness 0.2
  EXPECT_LT(part(points, below, 0.2), 0.3);
}

TEST(surface_pieces, wires_through_triangles_intersect) {
  std::vector<NamedMesh> bodies;
  bodies.push_back({"sheet", grid_of_triangles({2, 2}, {0.1, 0.1}, 0.0)});
  bodies.push_back({"wire", mesh_of({{0.02, 0.03, -1}, {0.021, 0.033, 1}}, CellKind::segment)});
  const Bodies both(MPI_COMM_WORLD, std::move(bodies), 0.01);
  EXPECT_EQ(both.contact->state(both.at(), both.parameters).intersections, 1);
}

}  // namespace
}  // namespace diffsim::surface_pieces_test
