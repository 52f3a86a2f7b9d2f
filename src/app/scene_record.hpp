// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <array>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "app/mesh_record.hpp"
#include "app/yaml_value.hpp"
#include "diffsim/body/joint.hpp"
#include "diffsim/contact/contact.hpp"
#include "diffsim/dynamics/integrator.hpp"
#include "diffsim/simulation/scene.hpp"

namespace diffsim::app {

/// Record of how a DifferentiableScene was made, from which a scene file can be written. A program that adds a part to
/// a scene also calls the function of the SceneRecord for this part, or `refuse`.
///
/// A SceneRecord contains no values of parameters and no initial state: `save` takes these values from the scene.
class SceneRecord {
 public:
  /// Record of a scene that was created from the document of a scene of a single experiment. Relative paths in
  /// `document` are relative to the folder `folder`.
  SceneRecord(std::shared_ptr<MeshRecord> mesh, Value document, std::string folder);
  /// Record of a scene that was created from a mesh, materials and a solver.
  SceneRecord(std::shared_ptr<MeshRecord> mesh, const DifferentiableSolver& solver);

  const std::shared_ptr<MeshRecord>& mesh() const { return mesh_; }

  // ---- Parts of a scene, with the arguments of the functions of DifferentiableScene.

  void fix(const std::string& region, std::array<bool, 3> axes, bool clamp);
  void move(const std::string& region, const std::array<double, 3>& axis, const std::array<double, 3>& origin);
  /// A load of the type with the key `key`, or a nodal load on all vertices. `coefficient`: value of the load's
  /// coefficient, if the load has one.
  void load(const std::string& key, const std::string& region, std::optional<double> coefficient = {});
  void attach(const std::string& region, const std::string& to, double stiffness);
  void contact(const ContactOptions& options);
  void join(const Joint& joint);
  void drive(const std::string& joint, const JointDrive& drive);
  /// Notes that no scene file can describe a part of the scene. `part`: name of the part, with its kind, such as
  /// "the link of 'traction:top'".
  void refuse(const std::string& part);

  /// Writes the scene file `path`, and the files of meshes, surfaces and values that the scene file names. `num_steps`:
  /// number of steps; without a value, the number in the document, or the number of steps of parameters with a value
  /// for each step. Throws InputError, which names the part or the option, if no scene file can describe the scene.
  /// Collective.
  void save(DifferentiableScene& scene, const std::string& path, std::optional<int> num_steps) const;

 private:
  void put_bodies(Value& document, const DifferentiableScene& scene, const SideFiles& files) const;
  Value section_of_body(const BodyRecord& body, const DifferentiableScene& scene, const SideFiles& files) const;
  void put_contact(Value& document, const SideFiles& files) const;
  void put_regions(Value& document) const;

  std::shared_ptr<MeshRecord> mesh_;
  std::optional<Value> document_;
  std::string folder_;
  DifferentiableSolver solver_;
  std::vector<Value> boundary_, attachments_;
  Value joints_;
  std::optional<ContactOptions> contact_;
  std::vector<std::string> refused_;
};

}  // namespace diffsim::app
