// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <mpi.h>

#include <array>
#include <map>
#include <string>
#include <vector>

#include "diffsim/body/joint.hpp"
#include "diffsim/mesh/construction.hpp"
#include "diffsim/mesh/tetrahedral_mesh.hpp"
#include "diffsim/simulation/material.hpp"

namespace diffsim {

class DifferentiableScene;

/// Rigid links and joints of a robot.
///
/// The link LINK of robot NAME is the body NAME.LINK, and the joint JOINT is called NAME/JOINT. Links that fixed joints
/// connect are one body, with the name of the link nearest to the base. The coordinates of the joints determine the
/// initial positions of the bodies.
struct Robot {
  std::string name;  ///< NAME, the `name` that was passed to `read_robot`
  /// Affine bodies of the links, followed by the rotors of the joints with an armature (`rotor_mesh`).
  std::vector<NamedMesh> bodies;
  /// One rigid material per link that is a body. The density is 1000 kg/m³; the volumes of the bodies are such that the
  /// masses are those in the URDF file.
  std::vector<DifferentiableMaterial> materials;
  std::vector<Joint> joints;                 ///< joints between the bodies
  std::map<std::string, JointDrive> drives;  ///< drives of joints with damping, friction or limits, by joint name
  /// Initial velocities of the links, in the order of `bodies`: velocity of the centre of mass (m/s) and angular
  /// velocity (rad/s). These velocities are computed from the joint velocities in RobotOptions.
  std::vector<std::array<std::array<double, 3>, 2>> velocities;
  /// Warnings about parts of the URDF file that have no effect, for example about collision shapes of the base.
  std::vector<std::string> warnings;
};

/// Options of `read_robot`.
struct RobotOptions {
  bool fixed_base = true;                     ///< true if the base link is part of the world
  std::map<std::string, double> coordinates;  ///< joint coordinates by names in the file, rad or m; default: 0
  std::map<std::string, double> velocities;   ///< joint velocities by names in the file, rad/s or m/s; default: 0
  Placement placement;                        ///< rotation and translation of the base; scale must be 1
  bool with_surfaces = false;                 ///< true if the collision shapes are read, for contact
  /// Armatures of revolute, continuous and prismatic joints by names in the file (`Joint::armature`), kg m² or kg, > 0;
  /// joints without a value have no armature. URDF files have no armatures.
  std::map<std::string, double> armatures = {};
};

/// Reads a robot from a URDF file with the library urdfdom. Supports the joints revolute, continuous, prismatic,
/// planar, floating and fixed. Supports damping and friction of revolute, continuous and prismatic joints, and position
/// limits of revolute and prismatic joints. The force of a limit begins at a distance of 1 % of the joint's range from
/// the limit, and exceeds the joint's `effort` at half of this distance. If the file gives no effort, 100 N m or 100 N
/// is used. Ignores `visual` shapes, and does not limit velocities and efforts.
///
/// Throws InputError in the following cases. The message names the file and, for an error of a link or a joint, the
/// link or the joint.
/// - The file cannot be read, or diffsim was built without urdfdom.
/// - A body that moves has no mass or an impossible inertia.
/// - A joint mimics another joint, or the axis of a joint has zero length.
/// - `options` contain a coordinate, a velocity or an armature of a joint that does not exist, is fixed or has several
///   coordinates, or contain an armature that is not positive and finite.
/// - `options.placement` contains a scale other than 1.
/// - A collision mesh cannot be read.
///
/// Collective.
Robot read_robot(MPI_Comm comm, const std::string& path, const std::string& name, const RobotOptions& options = {});

/// Adds the initial velocities of a robot's bodies to `velocities` [owned vertices, 3] (m/s). Collective.
void add_velocities(const TetrahedralMesh& mesh, const Robot& robot, std::vector<double>& velocities);

/// Adds the joints of a robot and the drives of the joints to a scene. The mesh of the scene must contain the robot's
/// bodies. For each joint that `drives` names, the given drive replaces the robot's own drive.
void add_joints(DifferentiableScene& scene, const Robot& robot, const std::map<std::string, JointDrive>& drives = {});

}  // namespace diffsim
