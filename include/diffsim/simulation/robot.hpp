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
/// A link LINK of a robot NAME is the body NAME.LINK, and a joint JOINT of the robot has the name NAME/JOINT in the
/// scene. Links that are connected by fixed joints form one body, with the name of the link nearest to the base. The
/// coordinates of the joints determine the initial positions of the bodies.
struct Robot {
  std::string name;  ///< name of the robot, as passed to `read_robot`
  /// Affine bodies of the links, followed by the rotors of the joints with an armature (`rotor_mesh`).
  std::vector<NamedMesh> bodies;
  /// Rigid materials, one for each body that consists of links. The density of each rigid material is 1000 kg/m³; the
  /// volume of each body is such that the body has the mass in the URDF file.
  std::vector<DifferentiableMaterial> materials;
  std::vector<Joint> joints;                 ///< joints between the bodies
  std::map<std::string, JointDrive> drives;  ///< drives of joints with damping, friction or limits, by joint name
  /// Initial velocities of the bodies that consist of links, in the order of the list `bodies`: velocity of the centre
  /// of mass (m/s) and angular velocity (rad/s). The initial velocities of the bodies are computed from the joint
  /// velocities in RobotOptions.
  std::vector<std::array<std::array<double, 3>, 2>> velocities;
  /// Warnings about parts of the URDF file that have no effect, for example about collision shapes of a fixed base.
  std::vector<std::string> warnings;
};

/// Options of `read_robot`.
struct RobotOptions {
  bool fixed_base = true;  ///< true if the base link is fixed to the world
  /// Initial joint coordinates (rad or m) by name of the joint in the URDF file; 0 for joints that are not listed.
  std::map<std::string, double> coordinates;
  /// Initial joint velocities (rad/s or m/s) by name of the joint in the URDF file; 0 for joints that are not listed.
  std::map<std::string, double> velocities;
  Placement placement;         ///< rotation and translation of the base; `Placement::scale` must be 1
  bool with_surfaces = false;  ///< true if the collision shapes of links are read, for contact
  /// Armatures (kg m² or kg, > 0) of revolute, continuous and prismatic joints by name of the joint in the URDF file
  /// (`Joint::armature`); joints that are not listed have no armature. URDF files do not contain armatures.
  std::map<std::string, double> armatures = {};
};

/// Reads a robot from a URDF file with the library urdfdom. `read_robot` supports revolute, continuous, prismatic,
/// planar, floating and fixed joints; damping, friction and `mimic` of revolute, continuous and prismatic joints; and
/// position limits of revolute and prismatic joints. The force of a position limit begins at a distance of 1 % of the
/// joint's range from the limit, and exceeds the joint's `effort` at half of this distance. If the URDF file gives no
/// `effort` of a joint, 100 N m (revolute) or 100 N (prismatic) is used. `read_robot` ignores `visual` shapes, and
/// limits neither velocities nor efforts of joints.
///
/// Throws InputError if the URDF file or a collision mesh cannot be read; if diffsim was built without urdfdom; if a
/// body that moves has no mass or an impossible inertia; if a joint mimics itself, or a joint that is not revolute,
/// continuous or prismatic; or if the axis of a joint has zero length. Throws InputError if `options` contradict
/// `mimic`; if `options` contain a coordinate, a velocity or an armature of a joint that does not exist, is fixed or
/// has several coordinates; if an armature is not positive and finite; or if `Placement::scale` is not 1. The message
/// names the URDF file and, if the error is in a link or a joint, the link or the joint.
///
/// Collective.
Robot read_robot(MPI_Comm comm, const std::string& path, const std::string& name, const RobotOptions& options = {});

/// Adds the initial velocities of a robot's bodies to `velocities` [owned vertices, 3] (m/s). Collective.
void add_velocities(const TetrahedralMesh& mesh, const Robot& robot, std::vector<double>& velocities);

/// Adds the joints of a robot and the drives of the joints to a scene. The mesh of the scene must contain the robot's
/// bodies. For each joint with a drive in the map `drives`, this drive replaces the drive in `Robot::drives`.
void add_joints(DifferentiableScene& scene, const Robot& robot, const std::map<std::string, JointDrive>& drives = {});

}  // namespace diffsim
