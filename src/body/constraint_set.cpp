// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
#include "body/constraint_set.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <iterator>
#include <map>
#include <numeric>
#include <optional>
#include <utility>

#include "body/joint_constraints.hpp"
#include "body/joint_coordinate.hpp"
#include "body/joint_coupling.hpp"
#include "body/rotor.hpp"
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

/// Returns, for each joint, the index of the joint that it follows, or -1. Throws Error (input) if there is no such
/// joint, or if `require_coupling` throws.
std::vector<int> find_leaders(const std::vector<Joint>& joints) {
  std::vector<int> leaders;
  std::vector<std::string> names;
  for (const Joint& joint : joints) names.push_back(joint.name);
  for (const Joint& joint : joints) {
    leaders.push_back(-1);
    if (joint.follows.empty()) continue;
    const auto found = std::find(names.begin(), names.end(), joint.follows);
    if (found == names.end()) {
      const std::string close = nearest(joint.follows, names);
      throw Error("joint '" + joint.name + "' follows joint '" + joint.follows + "', which does not exist" +
                      (close.empty() ? "" : "; did you mean '" + close + "'?"),
                  ErrorKind::input);
    }
    if (joint.follows == joint.name)
      throw Error("joint '" + joint.name + "' follows itself; give another joint", ErrorKind::input);
    leaders.back() = static_cast<int>(found - names.begin());
    require_coupling(joint, joints[static_cast<std::size_t>(leaders.back())]);
  }
  return leaders;
}

/// Returns pairs of bodies whose constraints belong together: the bodies of each joint, and a body of each joint and a
/// body of the joint that it follows.
std::vector<Ends> find_pairs(const std::vector<Ends>& ends, const std::vector<int>& leaders) {
  std::vector<Ends> pairs = ends;
  for (std::size_t j = 0; j < leaders.size(); ++j)
    if (leaders[j] >= 0) pairs.push_back({ends[j][0], ends[static_cast<std::size_t>(leaders[j])][0]});
  return pairs;
}

/// Returns the coupling of a joint with the joint `leader`. `bodies`, `frames`: all bodies, and their frames on this
/// rank. `ends`: the bodies of the joint, then those of the joint `leader`.
CoupledJoints make_coupling(const Joint& joint, const Joint& leader, const std::vector<Body>& bodies,
                            const std::vector<Frame>& frames, const std::array<Ends, 2>& ends) {
  CoupledJoints coupled{{joint, leader}, {}, {}};
  for (std::size_t side = 0; side < 2; ++side) {
    const auto body = static_cast<std::size_t>(ends[side][0]);
    const int other = ends[side][1];
    std::optional<std::array<Vector, 4>> other_rest;
    int other_node = frames[body].first_node();  // the nodes of the world have no weight
    if (other >= 0) {
      other_rest = bodies[static_cast<std::size_t>(other)].rest;
      other_node = frames[static_cast<std::size_t>(other)].first_node();
    }
    coupled.geometry[side] = make_joint_geometry(coupled.joints[side], bodies[body].rest, other_rest);
    for (int k = 0; k < 4; ++k) {
      const std::size_t first = 8 * side + static_cast<std::size_t>(k);
      coupled.nodes[first] = frames[body].first_node() + k;
      coupled.nodes[first + 4] = other_node + k;
    }
  }
  return coupled;
}

/// Rotor of a joint (`Joint::armature`). All ranks store the same list of rotors.
struct Rotor {
  std::int64_t joint;  ///< index of the joint
  int rank;            ///< rank that owns the rotor's vertex
  int node;            ///< number of the rotor's node on the owning rank
  Vector rest;         ///< rest value of the rotor vector
};

/// Returns the rotors of all joints, in the order of the joints. Appends the vertices of this rank's rotors to
/// `vertices`. Collective.
std::vector<Rotor> find_rotors(const TetrahedralMesh& mesh, const std::vector<Joint>& joints,
                               std::vector<int>& vertices) {
  std::vector<Rotor> mine;
  for (std::size_t j = 0; j < joints.size(); ++j) {
    if (joints[j].armature == 0.0) continue;
    const int vertex = find_rotor(mesh, joints[j]);
    if (vertex < 0) continue;
    Rotor rotor{static_cast<std::int64_t>(j), rank_of(mesh.comm()), static_cast<int>(vertices.size()), {}};
    std::copy_n(&mesh.rest_positions()[3 * static_cast<std::size_t>(vertex)], 3, rotor.rest.begin());
    vertices.push_back(vertex);
    mine.push_back(rotor);
  }
  std::vector<Rotor> all = on_all_ranks(mesh.comm(), mine);
  std::sort(all.begin(), all.end(), [](const Rotor& a, const Rotor& b) { return a.joint < b.joint; });
  return all;
}

/// Returns, for each body, the lowest index among this body and the bodies that `pairs` connect with this body,
/// directly or through other bodies.
std::vector<std::size_t> find_groups(std::size_t num_bodies, const std::vector<Ends>& pairs) {
  std::vector<std::size_t> group(num_bodies);
  std::iota(group.begin(), group.end(), std::size_t{0});
  for (bool changed = true; changed;) {
    changed = false;
    for (const auto& [a, b] : pairs) {
      if (b < 0) continue;
      std::size_t &first = group[static_cast<std::size_t>(a)], &second = group[static_cast<std::size_t>(b)];
      if (first == second) continue;
      first = second = std::min(first, second);
      changed = true;
    }
  }
  return group;
}

/// Numbers the nodes of bodies and rotors on this rank. Nodes of other ranks get numbers after this rank's own nodes.
class NodeNumbers {
 public:
  /// `num_owned`: number of nodes that this rank owns.
  NodeNumbers(int rank, std::size_t num_owned) : rank_(rank), num_owned_(num_owned) {}
  /// Returns the number on this rank of the first of `count` nodes with consecutive numbers, which rank `owner` numbers
  /// from `first` on. If `owner` is another rank, adds copies of these nodes to `copies`.
  int number(int owner, int first, int count) {
    if (owner == rank_) return first;
    const auto next = static_cast<int>(num_owned_ + copies.size());
    for (int k = 0; k < count; ++k) copies.push_back({owner, first + k});
    return next;
  }
  std::vector<VertexLocation> copies;

 private:
  int rank_;
  std::size_t num_owned_;
};

/// Constraints of one assembly and the names of its bodies.
struct Parts {
  std::vector<Constraint> constraints;
  std::vector<CoupledJoints> couplings;
  std::string names;

  void add(std::vector<Constraint> more) {
    constraints.insert(constraints.end(), std::make_move_iterator(more.begin()), std::make_move_iterator(more.end()));
  }
};

/// Constraints of the assemblies for which this rank does the computations.
class Collected {
 public:
  /// Collects the constraints. Sets `vertices` to the vertices of this rank's bodies and rotors. Collective.
  Collected(const TetrahedralMesh& mesh, const std::vector<int>& cells, const std::vector<Joint>& joints,
            std::vector<int>& vertices)
      : mesh_(mesh),
        joints_(joints),
        rank_(rank_of(mesh.comm())),
        bodies_(find_bodies(mesh, cells, vertices)),
        ends_(find_ends(mesh, bodies_, joints)),
        rotors_(find_rotors(mesh, joints, vertices)),
        leaders_(find_leaders(joints)),
        group_(find_groups(bodies_.size(), find_pairs(ends_, leaders_))),
        numbers_(rank_, vertices.size()) {
    add_bodies();
    add_joints();
    add_couplings();
    add_rotors();
  }

  const std::vector<Rotor>& rotors() const { return rotors_; }
  bool has_couplings() const {
    return std::any_of(leaders_.begin(), leaders_.end(), [](int leader) { return leader >= 0; });
  }
  /// Nodes of other ranks, of which this rank has copies.
  const std::vector<VertexLocation>& copies() const { return numbers_.copies; }
  /// Moves the constraints to `assemblies`, and returns their joints.
  std::unique_ptr<PlacedJoints> move_to(std::vector<Assembly>& assemblies);

 private:
  bool is_mine(std::size_t body) const { return bodies_[group_[body]].rank == rank_; }
  Frame frame_of(int body) const { return body < 0 ? Frame() : frames_[static_cast<std::size_t>(body)]; }

  void add_bodies() {
    for (std::size_t i = 0; i < bodies_.size(); ++i) {
      const Body& body = bodies_[i];
      frames_.emplace_back(is_mine(i) ? numbers_.number(body.rank, body.first_node, 4) : body.first_node, body.rest);
      if (!is_mine(i)) continue;
      Parts& all = parts_[group_[i]];
      all.add(frames_[i].rigidity());
      all.names += (all.names.empty() ? "'" : ", '") + mesh_.bodies()[static_cast<std::size_t>(body.number)].name + "'";
    }
  }

  void add_joints() {
    for (std::size_t j = 0; j < joints_.size(); ++j) {
      const auto& [a, b] = ends_[j];
      if (!is_mine(static_cast<std::size_t>(a))) continue;
      const std::size_t group = group_[static_cast<std::size_t>(a)];
      Parts& all = parts_[group];
      places_.emplace(
          j, PlacedJoints::Place{joints_[j], frame_of(a), frame_of(b), group, all.constraints.size(), std::nullopt});
      all.add(joint_constraints(joints_[j], placement_of(joints_[j]), frame_of(a), frame_of(b)));
    }
  }

  void add_couplings() {
    for (std::size_t j = 0; j < joints_.size(); ++j) {
      const auto a = static_cast<std::size_t>(ends_[j][0]), leader = static_cast<std::size_t>(std::max(leaders_[j], 0));
      if (leaders_[j] >= 0 && is_mine(a))
        parts_[group_[a]].couplings.push_back(
            make_coupling(joints_[j], joints_[leader], bodies_, frames_, {ends_[j], ends_[leader]}));
    }
  }

  void add_rotors() {
    for (const auto& [j, owner, node, rest] : rotors_) {
      const auto& [a, b] = ends_[static_cast<std::size_t>(j)];
      if (!is_mine(static_cast<std::size_t>(a))) continue;
      const Joint& joint = joints_[static_cast<std::size_t>(j)];
      Parts& all = parts_[group_[static_cast<std::size_t>(a)]];
      PlacedJoints::Place& place = places_.at(static_cast<std::size_t>(j));
      place.rotor = LinearForm{{{numbers_.number(owner, node, 1), 1.0, rest}}, {}};
      place.first_of_rotor = all.constraints.size();
      all.add(rotor_constraints(joint, placement_of(joint), frame_of(a), frame_of(b), *place.rotor));
    }
  }

  const TetrahedralMesh& mesh_;
  const std::vector<Joint>& joints_;
  int rank_;
  std::vector<Body> bodies_;
  std::vector<Ends> ends_;
  std::vector<Rotor> rotors_;
  std::vector<int> leaders_;
  std::vector<std::size_t> group_;  // lowest body of each body's group
  NodeNumbers numbers_;
  std::vector<Frame> frames_;
  std::map<std::size_t, Parts> parts_;                 // key: lowest body of the group
  std::map<std::size_t, PlacedJoints::Place> places_;  // key: index of the joint; `assembly` is the group
};

std::unique_ptr<PlacedJoints> Collected::move_to(std::vector<Assembly>& assemblies) {
  std::map<std::size_t, std::size_t> assembly_of_group;
  std::vector<PlacedJoints::Coupling> coupled;
  for (auto& [number, of_group] : parts_) {
    assembly_of_group.emplace(number, assemblies.size());
    std::vector<JointCoupling> couplings;
    for (const CoupledJoints& joints : of_group.couplings) {
      coupled.push_back({joints, assemblies.size(), couplings.size()});
      couplings.push_back(
          joints.at(placement_of(joints.joints[0]), placement_of(joints.joints[1]), joints.joints[0].ratio));
    }
    assemblies.emplace_back((of_group.names.find(',') == std::string::npos ? "body " : "bodies ") + of_group.names,
                            std::move(of_group.constraints), std::move(couplings));
  }
  std::vector<PlacedJoints::Place> places;
  for (auto& [j, place] : places_) {
    place.assembly = assembly_of_group.at(place.assembly);
    places.push_back(std::move(place));
  }
  return std::make_unique<PlacedJoints>(std::move(places), std::move(coupled));
}

/// Returns the rest positions of the given vertices, and of the copies in `nodes`. Collective.
NodeVectors<double> rest_of_nodes(const TetrahedralMesh& mesh, const std::vector<int>& vertices,
                                  const Entities& nodes) {
  std::vector<double> rest;
  for (const int vertex : vertices)
    rest.insert(rest.end(), &mesh.rest_positions()[3 * static_cast<std::size_t>(vertex)],
                &mesh.rest_positions()[3 * static_cast<std::size_t>(vertex)] + 3);
  rest.resize(3 * nodes.local());
  nodes.exchange()->copy_to_ghosts(rest, 3);
  return to_vectors(rest);
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
  Collected collected(mesh, cells, joints, vertices_);
  has_couplings_ = collected.has_couplings();
  nodes_ = with_copies(Entities("nodes of rigid bodies", mesh.comm(), vertices_.size()), collected.copies());
  is_rotor_.assign(num_nodes(), 0);
  for (const Rotor& rotor : collected.rotors())
    if (rotor.rank == rank_of(mesh.comm())) is_rotor_[static_cast<std::size_t>(rotor.node)] = 1;
  nodes_->exchange()->copy_to_ghosts(is_rotor_);
  placed_joints_ = collected.move_to(assemblies_);
  const NodeVectors<double> x = rest_of_nodes(mesh, vertices_, *nodes_);
  const std::vector<double> ones(x.size(), 1.0);
  collectively(mesh.comm(), [&] {
    for (const Assembly& assembly : assemblies_) assembly.require_independent(x, ones);
  });
  device_->vertices = to_device("diffsim::body::constrained_vertices", vertices_);
}

void ConstraintSet::set_values(const ParameterSet& parameters) {
  collectively(comm(), [&] { placed_joints_->set_values(parameters, assemblies_); });
  int needed = placed_joints_->needs_turns(TurnsFor::step) ? 1 : 0;
  DIFFSIM_MPI(MPI_Allreduce(MPI_IN_PLACE, &needed, 1, MPI_INT, MPI_MAX, comm()));
  steps_need_turns_ = needed != 0;
}

void ConstraintSet::set_direction(const ParameterSet& direction) {
  placements_move_ = has_placements(direction);
  placed_joints_->set_direction(direction, assemblies_);
}

bool ConstraintSet::needs_turns(TurnsFor purpose) const {
  return purpose == TurnsFor::step ? steps_need_turns_ : placed_joints_->needs_turns(purpose);
}

void ConstraintSet::require_known_turns(const NodeVectors<double>& before, const NodeVectors<double>& after,
                                        TurnsFor purpose) const {
  if (needs_turns(purpose)) collectively(comm(), [&] { placed_joints_->require_known_turns(before, after, purpose); });
}

void ConstraintSet::require_known_turns(const Field& before, const Field& after, TurnsFor purpose) const {
  if (needs_turns(purpose)) require_known_turns(to_vectors(gather(before)), to_vectors(gather(after)), purpose);
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
