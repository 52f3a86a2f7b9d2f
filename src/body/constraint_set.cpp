// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
#include "body/constraint_set.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <numeric>
#include <utility>

#include "body/joint_constraints.hpp"
#include "core/exchange.hpp"
#include "core/file_order.hpp"
#include "core/nearest_word.hpp"
#include "core/on_all_ranks.hpp"
#include "core/point_map.hpp"
#include "diffsim/core/error.hpp"
#include "diffsim/core/impl/device.hpp"
#include "diffsim/core/runtime.hpp"
#include "mesh/bodies.hpp"

namespace diffsim::body {
namespace {

/// Rigid body of any rank. All ranks store the same list of bodies.
struct Body {
  std::int64_t number;  ///< index in the mesh's list of bodies
  int rank;             ///< rank that owns the body
  int first_node;       ///< number of the body's first node on the owning rank
  std::array<Vector, 4> rest;
};

std::size_t body_number(const TetrahedralMesh& mesh, int cell) {
  return static_cast<std::size_t>(
      body_of_cell(mesh.bodies(), mesh.cell_order().file_index()[static_cast<std::size_t>(cell)]));
}

/// Returns the rigid bodies of all ranks, in the order of the mesh's bodies. Sets the vertices of this rank's bodies,
/// [bodies, 4]. Collective.
std::vector<Body> find_bodies(const TetrahedralMesh& mesh, const std::vector<int>& cells, std::vector<int>& vertices) {
  std::vector<Body> mine;
  collectively(mesh.comm(), [&] {
    for (const int cell : cells) {
      if (!mesh.affine_body(cell))
        throw Error("cell " + cell_name(mesh.bodies(), mesh.cell_order().file_index()[static_cast<std::size_t>(cell)]) +
                        " is not an affine body; only bodies made from a closed surface (affine_body) can be rigid",
                    ErrorKind::input);
      Body body{static_cast<std::int64_t>(body_number(mesh, cell)),
                rank_of(mesh.comm()),
                static_cast<int>(vertices.size()),
                {}};
      for (std::size_t k = 0; k < 4; ++k) {
        const int vertex = mesh.cells()[4 * static_cast<std::size_t>(cell) + k];
        std::copy_n(&mesh.rest_positions()[3 * static_cast<std::size_t>(vertex)], 3, body.rest[k].begin());
        vertices.push_back(vertex);
      }
      mine.push_back(body);
    }
  });
  std::vector<Body> all = on_all_ranks(mesh.comm(), mine);
  std::sort(all.begin(), all.end(), [](const Body& a, const Body& b) { return a.number < b.number; });
  return all;
}

/// Returns the index in `bodies` of the body called `name`, or -1 if `name` is empty, which means the world.
int find(const TetrahedralMesh& mesh, const std::vector<Body>& bodies, const std::string& name, const Joint& joint) {
  if (name.empty()) return -1;
  const auto number = static_cast<std::int64_t>(mesh.find_body(name));
  for (std::size_t i = 0; i < bodies.size(); ++i)
    if (bodies[i].number == number) return static_cast<int>(i);
  throw Error("joint '" + joint.name + "': body '" + name +
                  "' is not rigid; joints connect rigid bodies with each other "
                  "and with the world",
              ErrorKind::input);
}

/// Indices of the two bodies of a joint; the index -1 means the world.
using Ends = std::array<int, 2>;

std::vector<Ends> find_ends(const TetrahedralMesh& mesh, const std::vector<Body>& bodies,
                            const std::vector<Joint>& joints) {
  std::vector<Ends> ends;
  for (const Joint& joint : joints) {
    if (joint.body.empty())
      throw Error("joint '" + joint.name + "' has no body; give the name of a rigid body", ErrorKind::input);
    if (joint.body == joint.other)
      throw Error("joint '" + joint.name + "' connects body '" + joint.body + "' with itself; give two bodies",
                  ErrorKind::input);
    require_axis(joint);
    ends.push_back({find(mesh, bodies, joint.body, joint), find(mesh, bodies, joint.other, joint)});
  }
  return ends;
}

/// Returns, for each body, the lowest index among this body and the bodies that joints connect with this body, directly
/// or through other bodies.
std::vector<std::size_t> find_groups(std::size_t num_bodies, const std::vector<Ends>& ends) {
  std::vector<std::size_t> group(num_bodies);
  std::iota(group.begin(), group.end(), std::size_t{0});
  for (bool changed = true; changed;) {
    changed = false;
    for (const auto& [a, b] : ends) {
      if (b < 0) continue;
      std::size_t &first = group[static_cast<std::size_t>(a)], &second = group[static_cast<std::size_t>(b)];
      if (first == second) continue;
      first = second = std::min(first, second);
      changed = true;
    }
  }
  return group;
}

}  // namespace

struct ConstraintSet::OnDevice {
  DeviceArray<int> vertices;
  std::map<int, Field> buffers;  // buffers for values at the nodes; key: number of components
};

ConstraintSet::~ConstraintSet() = default;

ConstraintSet::ConstraintSet(const TetrahedralMesh& mesh, const std::vector<int>& cells,
                             const std::vector<Joint>& joints)
    : device_(std::make_unique<OnDevice>()) {
  const std::vector<Body> bodies = find_bodies(mesh, cells, vertices_);
  const std::vector<Ends> ends = find_ends(mesh, bodies, joints);
  const std::vector<std::size_t> group = find_groups(bodies.size(), ends);
  const int rank = rank_of(mesh.comm());
  const auto is_mine = [&](std::size_t body) { return bodies[group[body]].rank == rank; };
  // Copies of the nodes of other ranks' bodies follow this rank's nodes.
  std::vector<VertexLocation> copies;
  std::vector<Frame> frames;
  for (std::size_t i = 0; i < bodies.size(); ++i) {
    const Body& body = bodies[i];
    int first = body.first_node;
    if (is_mine(i) && body.rank != rank) {
      first = static_cast<int>(vertices_.size() + copies.size());
      for (int k = 0; k < 4; ++k) copies.push_back({body.rank, body.first_node + k});
    }
    frames.emplace_back(first, body.rest);
  }
  nodes_ = with_copies(Entities("nodes of rigid bodies", mesh.comm(), vertices_.size()), copies);
  std::map<std::size_t, std::vector<Constraint>> constraints;  // key: lowest body of the group
  std::map<std::size_t, std::string> names;
  for (std::size_t i = 0; i < bodies.size(); ++i) {
    if (!is_mine(i)) continue;
    std::vector<Constraint>& all = constraints[group[i]];
    for (Constraint& constraint : frames[i].rigidity()) all.push_back(std::move(constraint));
    std::string& name = names[group[i]];
    name += (name.empty() ? "'" : ", '") + mesh.bodies()[static_cast<std::size_t>(bodies[i].number)].name + "'";
  }
  for (std::size_t j = 0; j < joints.size(); ++j) {
    const auto a = static_cast<std::size_t>(ends[j][0]);
    if (!is_mine(a)) continue;
    const Frame other = ends[j][1] < 0 ? Frame() : frames[static_cast<std::size_t>(ends[j][1])];
    for (Constraint& constraint : joint_constraints(joints[j], frames[a], other))
      constraints[group[a]].push_back(std::move(constraint));
  }
  for (auto& [number, all] : constraints)
    assemblies_.emplace_back((names[number].find(',') == std::string::npos ? "body " : "bodies ") + names[number],
                             std::move(all));
  std::vector<double> rest;
  for (const int vertex : vertices_)
    rest.insert(rest.end(), &mesh.rest_positions()[3 * static_cast<std::size_t>(vertex)],
                &mesh.rest_positions()[3 * static_cast<std::size_t>(vertex)] + 3);
  rest.resize(3 * nodes_->local());
  nodes_->exchange()->copy_to_ghosts(rest, 3);
  NodeVectors<double> x(nodes_->local());
  for (std::size_t i = 0; i < rest.size(); ++i) x[i / 3][static_cast<int>(i % 3)] = rest[i];
  const std::vector<double> ones(x.size(), 1.0);
  collectively(mesh.comm(), [&] {
    for (const Assembly& assembly : assemblies_) assembly.require_independent(x, ones);
  });
  device_->vertices = to_device("diffsim::body::constrained_vertices", vertices_);
}

std::vector<double> ConstraintSet::gather(const Field& field) const {
  const int components = field.components();
  const auto found = device_->buffers.find(components);
  Field& buffer = found != device_->buffers.end()
                      ? found->second
                      : device_->buffers.emplace(components, Field("constrained", nodes_, components)).first->second;
  const double* const from = field.data();
  double* const to = buffer.data();
  const DeviceArray<int> vertices = device_->vertices;
  Kokkos::parallel_for(
      "diffsim::body::gather", Range(0, static_cast<int>(vertices_.size()) * components), KOKKOS_LAMBDA(int i) {
        to[i] = from[vertices(static_cast<std::size_t>(i / components)) * components + i % components];
      });
  Kokkos::fence();
  nodes_->exchange()->copy_to_ghosts(buffer);
  return buffer.to_host();
}

void ConstraintSet::add(const std::vector<double>& values, Field& field) const {
  const int components = field.components();
  Field sums("constrained", nodes_, components);
  sums.from_host(values);
  nodes_->exchange()->add_to_owners(sums);
  const double* const from = sums.data();
  double* const to = field.data();
  const DeviceArray<int> vertices = device_->vertices;
  Kokkos::parallel_for(
      "diffsim::body::add_at_nodes", Range(0, static_cast<int>(vertices_.size()) * components), KOKKOS_LAMBDA(int i) {
        to[vertices(static_cast<std::size_t>(i / components)) * components + i % components] += from[i];
      });
  Kokkos::fence();
}

}  // namespace diffsim::body
