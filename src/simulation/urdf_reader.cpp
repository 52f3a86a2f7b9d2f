// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
#include "diffsim/core/error.hpp"
#include "diffsim/simulation/robot.hpp"

#ifdef DIFFSIM_READS_URDF

#include <console_bridge/console.h>
#include <urdf_model/model.h>
#include <urdf_parser/urdf_parser.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <utility>

#include "body/joint_drive.hpp"
#include "contact/obstacles.hpp"
#include "core/nearest_word.hpp"
#include "diffsim/core/impl/small_tensor.hpp"
#include "diffsim/io/read_mesh.hpp"

namespace diffsim {
namespace {

using Vector = Vec3<double>;
using Matrix = Mat3<double>;

/// Rigid map x ↦ R x + t.
struct Pose {
  Matrix R = Matrix::identity();
  Vector t{{0.0, 0.0, 0.0}};

  Vector operator()(const Vector& x) const { return R * x + t; }
  Pose operator*(const Pose& inner) const { return {R * inner.R, R * inner.t + t}; }
};

Pose to_pose(const urdf::Pose& pose) {
  double x = 0.0, y = 0.0, z = 0.0, w = 0.0;
  pose.rotation.getQuaternion(x, y, z, w);
  const Matrix R{{{1 - 2 * (y * y + z * z), 2 * (x * y - z * w), 2 * (x * z + y * w)},
                  {2 * (x * y + z * w), 1 - 2 * (x * x + z * z), 2 * (y * z - x * w)},
                  {2 * (x * z - y * w), 2 * (y * z + x * w), 1 - 2 * (x * x + y * y)}}};
  return {R, {{pose.position.x, pose.position.y, pose.position.z}}};
}

/// Returns the rotation by `angle` about the unit vector `axis` (Rodrigues' formula).
Pose rotation(const Vector& axis, double angle) {
  const double c = std::cos(angle), s = std::sin(angle);
  Pose pose;
  for (int i = 0; i < 3; ++i)
    for (int j = 0; j < 3; ++j) pose.R(i, j) = (i == j ? c : 0.0) + (1.0 - c) * axis[i] * axis[j];
  for (int i = 0; i < 3; ++i) {
    const int a = (i + 1) % 3, b = (i + 2) % 3;
    pose.R(b, a) += s * axis[i];
    pose.R(a, b) -= s * axis[i];
  }
  return pose;
}

/// Velocity field of a rigid body: the velocity v at the point `origin`, and the angular velocity w.
struct Twist {
  Vector origin{{0.0, 0.0, 0.0}}, v{{0.0, 0.0, 0.0}}, w{{0.0, 0.0, 0.0}};

  /// Returns the same field with the velocity at another point.
  Twist at(const Vector& point) const { return {point, v + cross(w, point - origin), w}; }
};

std::array<double, 3> to_array(const Vector& v) { return {v[0], v[1], v[2]}; }

/// Collects the error messages of urdfdom, which otherwise appear on stderr.
class Messages : public console_bridge::OutputHandler {
 public:
  Messages() { console_bridge::useOutputHandler(this); }
  ~Messages() override { console_bridge::restorePreviousOutputHandler(); }
  Messages(const Messages&) = delete;
  Messages& operator=(const Messages&) = delete;
  void log(const std::string& text, console_bridge::LogLevel level, const char*, int) override {
    if (level >= console_bridge::CONSOLE_BRIDGE_LOG_ERROR) text_ += (text_.empty() ? "" : "; ") + text;
  }
  const std::string& text() const { return text_; }

 private:
  std::string text_;
};

std::string text_of(const std::string& path) {
  std::ifstream file(path);
  std::ostringstream text;
  text << file.rdbuf();
  if (!file) throw InputError(path + ": cannot be read");
  return text.str();
}

/// Body that consists of a link and of the links that fixed joints connect with it.
struct Body {
  std::string link;                ///< the link nearest to the base
  Vector origin{{0.0, 0.0, 0.0}};  ///< origin of `link`; reference point of the moments, to avoid cancellation
  Twist twist;
  double mass = 0.0;
  Vector first_moment{{0.0, 0.0, 0.0}};   ///< Σ m c, with the centres of mass c relative to `origin`
  Matrix second_moment = Matrix::zero();  ///< Σ ∫ x xᵀ dm about `origin`
  TriangleMesh surface;
};

class Reader {
 public:
  Reader(MPI_Comm comm, const std::string& path, const std::string& name, const RobotOptions& options)
      : comm_(comm), path_(path), options_(options) {
    robot_.name = name;
    const Messages messages;
    model_ = urdf::parseURDF(text_of(path));
    if (!model_) fail(messages.text().empty() ? "is not a URDF file" : messages.text());
  }

  Robot read() {
    check_names(options_.coordinates, "initial values");
    check_names(options_.velocities, "initial values");
    check_names(options_.armatures, "armatures");
    if (options_.placement.scale != std::array{1.0, 1.0, 1.0}) fail("a robot cannot be scaled; remove `scale`");
    const auto& [x, y, z] = options_.placement.axis;
    const double length = std::hypot(x, y, z);
    Pose base = length > 0.0 ? rotation({{x / length, y / length, z / length}}, options_.placement.angle) : Pose();
    const auto& t = options_.placement.translate;
    base.t = {{t[0], t[1], t[2]}};
    add_link(*model_->getRoot(), base, {}, -1, options_.fixed_base);
    for (Body& body : bodies_) add_body(std::move(body));
    for (const Joint& joint : robot_.joints)
      if (joint.armature > 0.0) robot_.bodies.push_back({joint.rotor(), rotor_mesh(comm_)});
    warn();
    return std::move(robot_);
  }

 private:
  [[noreturn]] void fail(const std::string& what) const { throw InputError(path_ + ": " + what); }

  /// Throws InputError if a key of `values` is not the name of a joint that moves. `list`: description of the values.
  void check_names(const std::map<std::string, double>& values, const std::string& list) const {
    std::vector<std::string> names;
    for (const auto& [name, joint] : model_->joints_) names.push_back(name);
    for (const auto& [name, value] : values)
      if (model_->joints_.count(name) == 0) {
        const std::string close = nearest(name, names);
        fail("there is no joint '" + name + "'" + (close.empty() ? "" : "; did you mean '" + close + "'?"));
      } else if (model_->joints_.at(name)->type == urdf::Joint::FIXED) {
        fail("joint '" + name + "' is fixed; remove it from the " + list);
      }
  }

  std::string body_name(const std::string& link) const { return robot_.name + "." + link; }

  /// Adds a link at `pose` to body `body`, or as the first link of a new body if `body` is -1. `in_world`: true if the
  /// link does not move.
  void add_link(const urdf::Link& link, const Pose& pose, const Twist& twist, int body, bool in_world) {
    if (!in_world) {
      if (body < 0) {
        body = static_cast<int>(bodies_.size());
        bodies_.emplace_back().link = link.name;
        bodies_.back().origin = pose.t;
        bodies_.back().twist = twist;
      }
      add_mass(link, pose, bodies_[static_cast<std::size_t>(body)]);
      if (options_.with_surfaces) add_shapes(link, pose, bodies_[static_cast<std::size_t>(body)].surface);
    } else if (options_.with_surfaces && !link.collision_array.empty()) {
      base_shapes_ += (base_shapes_.empty() ? "" : ", ") + link.name;
    }
    for (const auto& joint : link.child_joints) {
      const auto child = model_->links_.at(joint->child_link_name);
      const Pose at = pose * to_pose(joint->parent_to_joint_origin_transform);
      if (joint->type == urdf::Joint::FIXED) {
        add_link(*child, at, twist, body, in_world);
        continue;
      }
      const Pose moved = add_joint(*joint, at, in_world ? "" : bodies_[static_cast<std::size_t>(body)].link);
      add_link(*child, moved, twist_after(*joint, at, twist), -1, false);
    }
  }

  /// Returns the joint that a joint with `mimic` follows. Throws InputError unless both joints are revolute, continuous
  /// or prismatic.
  const urdf::Joint& leader_of(const urdf::Joint& joint) const {
    const std::string says = "joint '" + joint.name + "' mimics joint '" + joint.mimic->joint_name + "'";
    const auto has_coordinate = [](const urdf::Joint& any) {
      return any.type == urdf::Joint::REVOLUTE || any.type == urdf::Joint::CONTINUOUS ||
             any.type == urdf::Joint::PRISMATIC;
    };
    const auto leader = model_->joints_.find(joint.mimic->joint_name);
    if (leader == model_->joints_.end()) fail(says + ", which does not exist");
    if (!has_coordinate(joint) || !has_coordinate(*leader->second))
      fail(says + "; both must be revolute, continuous or prismatic");
    if (!(std::isfinite(joint.mimic->multiplier) && joint.mimic->multiplier != 0.0))
      fail(says + " with the multiplier " + std::to_string(joint.mimic->multiplier) + "; it must not be zero");
    return *leader->second;
  }

  /// Returns the initial coordinate of a joint, or the initial velocity unless `with_offset`: the value in `given`, or
  /// 0; for a joint with `mimic` the value that follows from the other joint. Throws InputError if `given` contradicts
  /// `mimic`, or if joints mimic each other in a circle.
  double initial_value(const urdf::Joint& joint, const std::map<std::string, double>& given, bool with_offset) const {
    double factor = 1.0, offset = 0.0;
    const urdf::Joint* leader = &joint;
    for (std::size_t count = 0; leader->mimic; ++count) {
      if (count > model_->joints_.size()) fail("joint '" + joint.name + "' mimics itself through other joints");
      if (with_offset) offset += factor * leader->mimic->offset;
      factor *= leader->mimic->multiplier;
      leader = &leader_of(*leader);
    }
    const auto found = given.find(leader->name), own = given.find(joint.name);
    const double value = offset + (found == given.end() ? 0.0 : factor * found->second);
    if (joint.mimic && own != given.end() && std::abs(own->second - value) > 1e-9 * std::max(1.0, std::abs(value)))
      fail("joint '" + joint.name + "' mimics joint '" + joint.mimic->joint_name + "', so its initial value must be " +
           std::to_string(value) + ", not " + std::to_string(own->second) + "; remove it");
    return value;
  }

  /// Adds the joint between the body of the link `parent` and the body that begins at the joint's child. An empty name
  /// `parent` means the world. Returns the pose of the child.
  Pose add_joint(const urdf::Joint& joint, const Pose& at, const std::string& parent) {
    const double q = initial_value(joint, options_.coordinates, true);
    Vector axis{{joint.axis.x, joint.axis.y, joint.axis.z}};
    const double length = std::sqrt(dot(axis, axis));
    const bool has_axis = joint.type != urdf::Joint::FLOATING;
    if (has_axis && !(length > 0.0)) fail("joint '" + joint.name + "' has an axis of zero length; give a direction");
    if (has_axis) axis = 1.0 / length * axis;
    Joint added{.name = robot_.name + "/" + joint.name,
                .body = body_name(joint.child_link_name),
                .other = parent.empty() ? "" : body_name(parent),
                .point = to_array(at.t),
                .axis = to_array(at.R * axis),
                .coordinate = q};
    Pose motion;
    switch (joint.type) {
      case urdf::Joint::REVOLUTE:
      case urdf::Joint::CONTINUOUS:
        added.kind = JointKind::revolute;
        motion = rotation(axis, q);
        break;
      case urdf::Joint::PRISMATIC:
        added.kind = JointKind::prismatic;
        motion.t = q * axis;
        break;
      case urdf::Joint::PLANAR:
      case urdf::Joint::FLOATING:
        if (q != 0.0 || options_.velocities.count(joint.name) > 0)
          fail("joint '" + joint.name + "' has several coordinates; remove it from the initial values");
        added.kind = JointKind::planar;
        break;
      default:
        fail("joint '" + joint.name + "' has an unknown type");
    }
    if (joint.mimic) {
      added.follows = robot_.name + "/" + leader_of(joint).name;
      added.ratio = joint.mimic->multiplier;
    }
    set_armature(joint, added);
    if (joint.type != urdf::Joint::FLOATING) robot_.joints.push_back(added);
    if (added.kind == JointKind::revolute || added.kind == JointKind::prismatic)
      add_drive(joint, added);
    else if (joint.dynamics && (joint.dynamics->damping != 0.0 || joint.dynamics->friction != 0.0))
      undamped_ += (undamped_.empty() ? "" : ", ") + joint.name;
    return at * motion;
  }

  /// Sets the armature of `added`, the joint `joint` of the file, if the options have an armature for this joint.
  void set_armature(const urdf::Joint& joint, Joint& added) const {
    const auto given = options_.armatures.find(joint.name);
    if (given == options_.armatures.end()) return;
    if (added.kind != JointKind::revolute && added.kind != JointKind::prismatic)
      fail("joint '" + joint.name + "' has several coordinates; remove it from the armatures");
    if (!(given->second > 0.0 && std::isfinite(given->second)))
      fail("joint '" + joint.name + "' has the armature " + std::to_string(given->second) + "; it must be positive");
    added.armature = given->second;
  }

  /// Returns true if a joint has limits that a drive can enforce. Limits that exclude the initial coordinate also count
  /// if the user chose this coordinate; `DifferentiableScene::drive` then throws Error (input).
  bool has_usable_limits(const urdf::Joint& joint, const Joint& added) const {
    if (joint.type == urdf::Joint::CONTINUOUS || !joint.limits || !(joint.limits->lower < joint.limits->upper))
      return false;
    const std::array<double, 2> limits{joint.limits->lower, joint.limits->upper};
    const bool is_chosen = options_.coordinates.count(joint.name) > 0;
    const bool is_between = limits[0] < added.coordinate && added.coordinate < limits[1];
    return (is_between || is_chosen) && (added.kind == JointKind::prismatic || body::are_representable(added, limits));
  }

  /// Adds the drive of a joint that has damping, friction or limits.
  void add_drive(const urdf::Joint& joint, const Joint& added) {
    JointDrive drive;
    if (joint.dynamics) {
      drive.damping = joint.dynamics->damping;
      drive.friction = joint.dynamics->friction;
    }
    if (has_usable_limits(joint, added)) {
      drive.limits = {joint.limits->lower, joint.limits->upper};
      // At half of the barrier's distance from the limit, the force of the barrier exceeds the joint's `effort`.
      drive.limit_stiffness = (joint.limits->effort > 0.0 ? joint.limits->effort : 100.0) / drive.barrier_distance();
    } else if (joint.type != urdf::Joint::CONTINUOUS) {
      unlimited_ += (unlimited_.empty() ? "" : ", ") + joint.name;
    }
    if (drive.damping != 0.0 || drive.friction != 0.0 || drive.limit_stiffness > 0.0)
      robot_.drives.emplace(added.name, drive);
  }

  /// Returns the velocity field of the body that begins at the child of a joint.
  Twist twist_after(const urdf::Joint& joint, const Pose& at, const Twist& before) const {
    Twist twist = before.at(at.t);
    const double velocity = initial_value(joint, options_.velocities, false);
    if (velocity == 0.0) return twist;
    const Vector axis{{joint.axis.x, joint.axis.y, joint.axis.z}};
    const Vector rate = velocity / std::sqrt(dot(axis, axis)) * (at.R * axis);
    if (joint.type == urdf::Joint::PRISMATIC)
      twist.v = twist.v + rate;
    else
      twist.w = twist.w + rate;
    return twist;
  }

  void add_mass(const urdf::Link& link, const Pose& pose, Body& body) const {
    if (!link.inertial) return;
    const urdf::Inertial& inertial = *link.inertial;
    if (!(inertial.mass > 0.0 && std::isfinite(inertial.mass))) {
      if (inertial.mass == 0.0) return;
      fail("link '" + link.name + "' has the mass " + std::to_string(inertial.mass) + "; it must be positive");
    }
    const Pose at = pose * to_pose(inertial.origin);
    const Matrix I{{{inertial.ixx, inertial.ixy, inertial.ixz},
                    {inertial.ixy, inertial.iyy, inertial.iyz},
                    {inertial.ixz, inertial.iyz, inertial.izz}}};
    // Second moment about the centre of mass: ∫ x xᵀ dm = ½ tr(I) 1 - I, with the tensor of inertia I and the unit
    // matrix 1.
    Matrix second = -1.0 * I;
    for (int i = 0; i < 3; ++i) second(i, i) += 0.5 * trace(I);
    second = at.R * times_transpose(second, at.R);
    const Vector c = at.t - body.origin;
    for (int i = 0; i < 3; ++i)
      for (int j = 0; j < 3; ++j) body.second_moment(i, j) += second(i, j) + inertial.mass * c[i] * c[j];
    body.first_moment = body.first_moment + inertial.mass * c;
    body.mass += inertial.mass;
  }

  std::string resolve(const std::string& file, const urdf::Link& link) const {
    const std::filesystem::path folder = std::filesystem::absolute(path_).parent_path();
    constexpr std::string_view package = "package://", local = "file://";
    if (file.starts_with(local)) return file.substr(local.size());
    if (!file.starts_with(package)) return (folder / file).string();
    // The package's folder is in the folder of the URDF file, or in one of the folders above that folder.
    const std::string inside = file.substr(package.size());
    for (std::filesystem::path above = folder;; above = above.parent_path()) {
      if (std::filesystem::exists(above / inside)) return (above / inside).string();
      if (above == above.parent_path()) break;
    }
    fail("link '" + link.name + "': there is no '" + file + "' in the folders above this file");
  }

  void add_shapes(const urdf::Link& link, const Pose& pose, TriangleMesh& surface) const {
    for (const auto& collision : link.collision_array) {
      if (!collision->geometry) continue;
      TriangleMesh shape;
      if (const auto* box = dynamic_cast<const urdf::Box*>(collision->geometry.get())) {
        const double a = 0.5 * box->dim.x, b = 0.5 * box->dim.y, c = 0.5 * box->dim.z;
        shape = contact::box_triangles({-a, -b, -c}, {a, b, c});
      } else if (const auto* sphere = dynamic_cast<const urdf::Sphere*>(collision->geometry.get())) {
        shape = contact::sphere_triangles({0.0, 0.0, 0.0}, sphere->radius);
      } else if (const auto* cylinder = dynamic_cast<const urdf::Cylinder*>(collision->geometry.get())) {
        shape = contact::cylinder_triangles({0.0, 0.0, -0.5 * cylinder->length}, {0.0, 0.0, 0.5 * cylinder->length},
                                            cylinder->radius);
      } else if (const auto* mesh = dynamic_cast<const urdf::Mesh*>(collision->geometry.get())) {
        try {
          shape = read_surface(resolve(mesh->filename, link));
        } catch (const Error& error) {
          fail("link '" + link.name + "': " + error.what());
        }
        for (auto& x : shape.vertices) x = {x[0] * mesh->scale.x, x[1] * mesh->scale.y, x[2] * mesh->scale.z};
      }
      const Pose at = pose * to_pose(collision->origin);
      const int first = static_cast<int>(surface.vertices.size());
      for (const auto& x : shape.vertices) surface.vertices.push_back(to_array(at({{x[0], x[1], x[2]}})));
      for (const auto& t : shape.triangles) surface.triangles.push_back({t[0] + first, t[1] + first, t[2] + first});
    }
  }

  void add_body(Body body) {
    if (!(body.mass > 0.0))
      fail("link '" + body.link + "' moves but has no mass; give it an <inertial>, or connect it by a fixed joint");
    MassProperties properties;
    properties.mass = body.mass;
    const Vector centre = 1.0 / body.mass * body.first_moment;
    properties.centre = to_array(body.origin + centre);
    for (int i = 0; i < 3; ++i)
      for (int j = 0; j < 3; ++j)
        properties.covariance[i][j] = body.second_moment(i, j) / body.mass - centre[i] * centre[j];
    MeshData data;
    try {
      data = affine_body(comm_, properties, std::move(body.surface));
    } catch (const Error& error) {
      fail("link '" + body.link + "': " + error.what());
    }
    const Twist twist = body.twist.at(body.origin + centre);
    robot_.velocities.push_back({to_array(twist.v), to_array(twist.w)});
    robot_.bodies.push_back({body_name(body.link), std::move(data)});
    robot_.materials.push_back({rigid_model, {{"density", MassProperties::density}}, body_name(body.link) + "/all"});
  }

  void warn() {
    if (!unlimited_.empty())
      robot_.warnings.push_back(
          "limits of position are not enforced at the joints " + unlimited_ +
          "; these limits are not in increasing order, do not contain the initial coordinate 0, or are more than half "
          "a turn from the initial coordinate");
    if (!undamped_.empty())
      robot_.warnings.push_back("damping and friction have no effect at the planar and floating joints " + undamped_);
    if (!base_shapes_.empty())
      robot_.warnings.push_back("collision shapes of the fixed base have no effect, at the links " + base_shapes_);
  }

  MPI_Comm comm_;
  std::string path_;
  const RobotOptions& options_;
  urdf::ModelInterfaceSharedPtr model_;
  Robot robot_;
  std::vector<Body> bodies_;
  std::string unlimited_, undamped_, base_shapes_;
};

}  // namespace

Robot read_robot(MPI_Comm comm, const std::string& path, const std::string& name, const RobotOptions& options) {
  Robot robot;
  collectively(comm, [&] { robot = Reader(comm, path, name, options).read(); });
  return robot;
}

}  // namespace diffsim

#else

namespace diffsim {

Robot read_robot(MPI_Comm, const std::string& path, const std::string&, const RobotOptions&) {
  throw InputError(path + ": this build of diffsim does not read URDF files; install liburdfdom-dev and build again");
}

}  // namespace diffsim

#endif
