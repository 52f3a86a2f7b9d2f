// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
#include "body/joint_drive.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <numbers>
#include <utility>
#include <vector>

#include "body/joint_constraints.hpp"
#include "body/joint_coordinate.hpp"
#include "body/parameters.hpp"
#include "core/file_order.hpp"
#include "core/on_all_ranks.hpp"
#include "core/term_with_copies.hpp"
#include "diffsim/core/error.hpp"
#include "diffsim/core/impl/dual.hpp"
#include "diffsim/core/runtime.hpp"
#include "diffsim/core/stencil_term_impl.hpp"
#include "mesh/bodies.hpp"

namespace diffsim::body {
namespace {

/// Locations and rest positions of the corners of an affine body.
struct Corners {
  std::array<VertexLocation, 4> nodes;
  std::array<Vector, 4> rest;
};

Corners find_corners(const TetrahedralMesh& mesh, const std::string& body, const Joint& joint) {
  const std::size_t number = mesh.find_body(body);
  std::vector<Corners> mine;
  for (int cell = 0; mesh.bodies()[number].affine && cell < mesh.num_cells(); ++cell) {
    const std::int64_t in_file = mesh.cell_order().file_index()[static_cast<std::size_t>(cell)];
    if (static_cast<std::size_t>(body_of_cell(mesh.bodies(), in_file)) != number) continue;
    Corners& corners = mine.emplace_back();
    for (std::size_t k = 0; k < 4; ++k) {
      const int vertex = mesh.cells()[4 * static_cast<std::size_t>(cell) + k];
      corners.nodes[k] = {rank_of(mesh.comm()), vertex};
      std::copy_n(&mesh.rest_positions()[3 * static_cast<std::size_t>(vertex)], 3, corners.rest[k].begin());
    }
  }
  const std::vector<Corners> all = on_all_ranks(mesh.comm(), mine);
  if (all.empty())
    throw Error(
        "joint '" + joint.name + "': body '" + body + "' is neither rigid nor affine; only such bodies have joints",
        ErrorKind::input);
  return all.front();
}

/// Sets the constants of friction and of limits in `force`. Throws the errors that `make_joint_drive` documents.
void set_friction_and_limits(const Joint& joint, const JointDrive& drive, JointForce& force) {
  const auto require = [&](bool good, const std::string& what) {
    if (!good) throw Error("joint '" + joint.name + "': " + what, ErrorKind::input);
  };
  const auto [lower, upper] = drive.limits;
  require(drive.friction_velocity > 0.0, "friction_velocity must be positive");
  force.friction_velocity = drive.friction_velocity;
  force.lower = lower;
  force.upper = upper;
  constexpr double none = std::numeric_limits<double>::infinity();
  if (lower == -none && upper == none) return;
  const std::string q = fmt::format("{:g}", joint.coordinate), both = fmt::format("[{:g}, {:g}]", lower, upper);
  require(lower < upper, "the limits " + both + " are not in increasing order");
  require(lower < joint.coordinate && joint.coordinate < upper,
          "the initial coordinate " + q + " must be between the limits " + both +
              ", not on a limit; give another initial coordinate");
  require(joint.kind == JointKind::prismatic || are_representable(joint, drive.limits),
          "both limits " + both + " of a rotation must be within π of the initial coordinate " + q);
  require(drive.limit_stiffness > 0.0, "limits need a positive limit_stiffness");
  require(drive.limit_distance >= 0.0 && std::isfinite(drive.limit_distance) &&
              (drive.limit_distance > 0.0 || std::isfinite(upper - lower)),
          "limit_distance must be positive and finite; its default needs two finite limits");
  force.limit_distance = drive.barrier_distance();
}

}  // namespace

bool are_representable(const Joint& joint, const std::array<double, 2>& limits) {
  return limits[0] > joint.coordinate - std::numbers::pi && limits[1] < joint.coordinate + std::numbers::pi;
}

JointNodes find_joint_nodes(const TetrahedralMesh& mesh, const Joint& joint) {
  require_coordinate(joint);
  require_axis(joint);
  const Corners corners = find_corners(mesh, joint.body, joint);
  std::optional<std::array<Vector, 4>> other_rest;
  std::array<VertexLocation, 4> other_nodes = corners.nodes;
  if (!joint.other.empty()) {
    const Corners others = find_corners(mesh, joint.other, joint);
    other_rest = others.rest;
    other_nodes = others.nodes;
  }
  const JointGeometry geometry = make_joint_geometry(joint, corners.rest, other_rest);
  JointNodes found{geometry, coordinate_of(joint, geometry), {}};
  std::copy(corners.nodes.begin(), corners.nodes.end(), found.nodes.begin());
  std::copy(other_nodes.begin(), other_nodes.end(), found.nodes.begin() + 4);
  return found;
}

std::unique_ptr<ForceTerm> make_joint_drive(const TetrahedralMesh& mesh, const Joint& joint, const JointDrive& drive) {
  const JointNodes found = find_joint_nodes(mesh, joint);
  constexpr double infinity = std::numeric_limits<double>::infinity();
  JointForce force{found.geometry, 1.0, -infinity, infinity, 0.0};
  set_friction_and_limits(joint, drive, force);
  const int rank = rank_of(mesh.comm()), owned = mesh.num_owned_vertices();
  std::vector<int> vertices;
  std::vector<VertexLocation> copies;
  if (found.nodes[0].rank == rank)
    for (const VertexLocation& node : found.nodes) {
      if (node.rank == rank) {
        vertices.push_back(node.index);
        continue;
      }
      vertices.push_back(owned + static_cast<int>(copies.size()));
      copies.push_back(node);
    }
  using Parameters = JointParameters;
  std::vector<PointParameter> parameters;
  for (const ParameterSpec& spec :
       {Parameters::torque, Parameters::stiffness, Parameters::damping, Parameters::target, Parameters::friction,
        Parameters::limit_stiffness, Parameters::point, Parameters::axis})
    parameters.push_back(PointParameter::of(spec, joint.name));
  auto term = std::make_unique<StencilTerm<JointForce>>("joint_drive:" + joint.name, force, std::move(parameters),
                                                        std::move(vertices));
  return make_term_with_copies(std::move(term), *mesh.owned_vertex_entities(), copies);
}

JointMotion motion_of(const TetrahedralMesh& mesh, const JointNodes& nodes, const std::vector<double>& positions,
                      const std::vector<double>& velocities) {
  std::array<double, 48> at{};  // positions, then velocities of the joint's nodes
  for (std::size_t k = 0; k < 8; ++k)
    for (std::size_t c = 0; nodes.nodes[k].rank == rank_of(mesh.comm()) && c < 3; ++c) {
      const std::size_t i = 3 * static_cast<std::size_t>(nodes.nodes[k].index) + c;
      at[3 * k + c] = positions[i];
      at[24 + 3 * k + c] = velocities[i];
    }
  DIFFSIM_MPI(MPI_Allreduce(MPI_IN_PLACE, at.data(), 48, MPI_DOUBLE, MPI_SUM, mesh.comm()));
  Vec3<Dual<double, 1>> x[8], gradient[8];
  for (std::size_t i = 0; i < 24; ++i) {
    Dual<double, 1>& component = x[i / 3][static_cast<int>(i % 3)];
    component = Dual<double, 1>(at[i]);
    component.derivative[0] = at[24 + i];
  }
  const Dual<double, 1> q = nodes.coordinate(x, gradient);
  return {q.value, q.derivative[0]};
}

std::vector<std::optional<JointNodes>> find_joint_nodes(const TetrahedralMesh& mesh, const std::vector<Joint>& joints) {
  std::vector<std::optional<JointNodes>> nodes;
  for (const Joint& joint : joints) {
    const bool has_coordinate = joint.kind == JointKind::revolute || joint.kind == JointKind::prismatic;
    nodes.push_back(has_coordinate ? std::optional(find_joint_nodes(mesh, joint)) : std::nullopt);
  }
  return nodes;
}

std::vector<double> joint_coordinates(MPI_Comm comm, const std::vector<Joint>& joints,
                                      const std::vector<std::optional<JointNodes>>& nodes,
                                      const ParameterSet& parameters, const Field& positions) {
  const std::vector<double> x = positions.to_host();
  const int rank = rank_of(comm);
  std::vector<double> at_nodes(24 * joints.size(), 0.0);  // [joints, 8, 3], zero at nodes of other ranks
  for (std::size_t j = 0; j < joints.size(); ++j)
    for (std::size_t k = 0; nodes[j] && k < 8; ++k)
      if (const VertexLocation& node = nodes[j]->nodes[k]; node.rank == rank)
        std::copy_n(&x[3 * static_cast<std::size_t>(node.index)], 3, &at_nodes[24 * j + 3 * k]);
  DIFFSIM_MPI(
      MPI_Allreduce(MPI_IN_PLACE, at_nodes.data(), static_cast<int>(at_nodes.size()), MPI_DOUBLE, MPI_SUM, comm));
  std::vector<double> coordinates(joints.size(), std::numeric_limits<double>::quiet_NaN());
  for (std::size_t j = 0; j < joints.size(); ++j) {
    if (!nodes[j]) continue;
    Vec3<double> at[8], gradient[8];
    for (std::size_t i = 0; i < 24; ++i) at[i / 3][static_cast<int>(i % 3)] = at_nodes[24 * j + i];
    const Placement placement = read_placement(parameters, joints[j], placement_of(joints[j]));
    coordinates[j] = coordinate_at(nodes[j]->geometry, placement)(at, gradient);
  }
  return coordinates;
}

}  // namespace diffsim::body
