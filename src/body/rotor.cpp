// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
#include "body/rotor.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <string>

#include "body/joint_drive.hpp"
#include "body/parameters.hpp"
#include "core/add_to_entries.hpp"
#include "core/file_order.hpp"
#include "diffsim/core/error.hpp"
#include "mesh/bodies.hpp"

namespace diffsim {

std::string Joint::rotor() const {
  std::string result = name + ".rotor";
  std::replace(result.begin(), result.end(), '/', '.');
  return result;
}

namespace body {
namespace {

/// Mass of the rotor of one joint. The rank that owns the rotor's vertex adds all contributions.
class RotorInertia : public Inertia {
 public:
  RotorInertia(const TetrahedralMesh& mesh, const Joint& joint)
      : joint_(joint.name),
        parameter_(std::string(JointParameters::armature.name) + ":" + joint.name),
        spec_(JointParameters::of_kind(JointParameters::armature, joint.kind)),
        vertex_(find_rotor(mesh, joint)) {}

  std::string name() const override { return "armature of joint '" + joint_ + "'"; }
  bool depends_on(const ParameterSet& set) const override { return set.find(parameter_) != nullptr; }

  void add_mass(const ParameterSet& parameters, Field& mass) const override {
    const double armature = parameters.at(parameter_).field.to_host().at(0);
    if (const std::string what = range_error(spec_, armature); !what.empty())
      throw Error(parameter_ + ": " + what, ErrorKind::input);
    add(armature, mass);
  }
  void add_mass_tangent(const ParameterSet&, const ParameterSet& direction, Field& mass_tangent) const override {
    if (const Parameter* const along = direction.find(parameter_)) add(along->field.to_host().at(0), mass_tangent);
  }
  void add_mass_adjoint(const ParameterSet&, const Field& mass_adjoint, ParameterSet& gradient) const override {
    Parameter* const sum = gradient.find(parameter_);
    if (!sum || vertex_ < 0) return;
    const std::vector<double> bar = mass_adjoint.to_host();
    const std::size_t i = 3 * static_cast<std::size_t>(vertex_);
    add_to_entries(sum->field, 0, {bar[i] + bar[i + 1] + bar[i + 2]});
  }
  void add_mass_adjoint_tangent(const ParameterSet& parameters, const ParameterSet&, const Field&,
                                const Field& mass_adjoint_tangent, ParameterSet& gradient_tangent) const override {
    add_mass_adjoint(parameters, mass_adjoint_tangent, gradient_tangent);  // the mass is linear in the parameter
  }

 private:
  void add(double mass, Field& masses) const {
    if (vertex_ >= 0) add_to_entries(masses, 3 * static_cast<std::size_t>(vertex_), {mass, mass, mass});
  }

  std::string joint_, parameter_;
  ParameterSpec spec_;
  int vertex_;  // -1 if another rank owns the vertex
};

}  // namespace

void require_rotor(const TetrahedralMesh& mesh, const Joint& joint) {
  const auto fail = [&](const std::string& what) {
    throw Error("joint '" + joint.name + "': " + what, ErrorKind::input);
  };
  const ParameterSpec spec = JointParameters::of_kind(JointParameters::armature, joint.kind);
  if (const std::string what = range_error(spec, joint.armature); !what.empty()) fail("the armature " + what);
  if (joint.kind != JointKind::revolute && joint.kind != JointKind::prismatic)
    fail("only revolute and prismatic joints can have an armature; remove the armature");
  const std::string rotor = joint.rotor();
  const bool is_there = std::any_of(mesh.bodies().begin(), mesh.bodies().end(),
                                    [&](const MeshBody& body) { return body.name == rotor && is_rotor(body); });
  if (!is_there) fail("the mesh has no rotor '" + rotor + "'; add a body with this name and the mesh `rotor_mesh`");
}

int find_rotor(const TetrahedralMesh& mesh, const Joint& joint) {
  require_rotor(mesh, joint);
  const std::int64_t number = mesh.bodies()[mesh.find_body(joint.rotor())].first_vertex;
  const auto begin = mesh.vertex_order().file_index().begin(), end = begin + mesh.num_owned_vertices();
  const auto found = std::find(begin, end, number);
  return found == end ? -1 : static_cast<int>(found - begin);
}

std::unique_ptr<Inertia> make_rotor_inertia(const TetrahedralMesh& mesh, const Joint& joint) {
  return std::make_unique<RotorInertia>(mesh, joint);
}

void turn_rotors(const TetrahedralMesh& mesh, const std::vector<Joint>& joints, std::vector<double>& positions,
                 std::vector<double>& velocities) {
  for (const Joint& joint : joints) {
    if (joint.armature == 0.0) continue;
    const JointNodes found = find_joint_nodes(mesh, joint);
    const auto [coordinate, rate] = motion_of(mesh, found, positions, velocities);
    const int vertex = find_rotor(mesh, joint);
    if (vertex < 0) continue;
    const double turn = coordinate - joint.coordinate, c = std::cos(turn), s = std::sin(turn);
    const bool is_rotation = found.geometry.is_rotation;
    const std::array<double, 3> change{is_rotation ? c - 1.0 : turn, is_rotation ? s : 0.0, 0.0},
        rates{is_rotation ? -s * rate : rate, is_rotation ? c * rate : 0.0, 0.0};
    for (std::size_t k = 0; k < 3; ++k) {
      const std::size_t i = 3 * static_cast<std::size_t>(vertex) + k;
      positions[i] = mesh.rest_positions()[i] + change[k];
      velocities[i] = rates[k];
    }
  }
}

}  // namespace body
}  // namespace diffsim
