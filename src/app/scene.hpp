// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <array>
#include <filesystem>
#include <limits>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "app/yaml_value.hpp"
#include "checkpoint/checkpoint_directory.hpp"
#include "diffsim/core/parameter_spec.hpp"
#include "diffsim/inverse/optimise.hpp"
#include "diffsim/mesh/construction.hpp"
#include "diffsim/mesh/region.hpp"
#include "diffsim/simulation/robot.hpp"
#include "diffsim/simulation/scene.hpp"
#include "diffsim/simulation/simulator.hpp"

namespace diffsim::app {

/// Dataset of an HDF5 file. `path` already includes the scene's folder.
struct Dataset {
  std::string path;
  std::string name;
};

/// Numbers written in the scene or stored in a file.
struct Numbers {
  std::variant<Array, Dataset> source;
  Place place;

  const Array* array() const { return std::get_if<Array>(&source); }
  const Dataset* dataset() const { return std::get_if<Dataset>(&source); }
};

/// Name of a region. Whether the region exists is checked when the mesh is read.
struct RegionName {
  std::string name;
  Place place;
};

struct BoxMesh {
  std::array<double, 3> size;
  std::array<int, 3> cells;
};

struct MeshSection {
  std::variant<std::string, BoxMesh, TriangleMesh> source;  ///< path of a file, a box, or triangles
  int order = 1;
  std::optional<int> quadrature_degree;
  double scale = 1.0;
  bool allow_coincident_vertices = false;
  std::optional<CellKind> cells;  ///< kind of cells read from the file; default: by the kind of body
  bool boundary = false;          ///< keep only the triangles on the boundary of the tetrahedra
  Place place;
};

struct RegionEntry {
  std::string name;
  RegionShape shape;
  std::string body;  ///< body whose vertices are selected; empty: all bodies
  Place place;
};

struct MaterialEntry {
  std::string model;
  std::optional<RegionName> region;       ///< without value: the whole mesh
  const CellModel* cells = nullptr;       ///< model of cells other than tetrahedra; nullptr: `model` is an elastic law
  std::string law;                        ///< law of `cells`; empty: the first one
  std::string body;                       ///< body to which datasets refer; empty: the whole mesh
  std::map<std::string, Numbers> values;  ///< one number or one per cell; for `cells` also one per vertex, and per step
  bool nodal_dilatation = false;
  Place place;

  std::string region_name() const { return region ? region->name : "all"; }
};

struct SolverSection {
  double dt = DifferentiableSolver{}.dt;
  int steps = -1;  ///< -1: not given
  int substeps = DifferentiableSolver{}.substeps;
  Numbers damping;             ///< [] or [steps]
  bool damping_given = false;  ///< false: the default is used
  Numbers gravity;             ///< [3] or [steps, 3]
  bool gravity_given = false;  ///< false: the default is used
  std::string integrator = DifferentiableSolver{}.integrator;
  ImplicitOptions implicit;
  std::vector<std::string> unused;  ///< given keys that the integrator does not use
  Place place;
};

struct InitialSection {
  std::optional<Numbers> velocity, displacement;          ///< [3] or [N, 3]
  std::optional<std::array<double, 3>> angular_velocity;  ///< of an affine body about its centre of mass, rad/s
  std::string from;  ///< path of a trajectory used instead of the other values; empty: none
  int step = -1;     ///< step of the trajectory's frame; -1: the last frame
  Place place;       ///< position of the path
};

/// Triangles in a file that form a body's contact surface, read when the run begins. The triangles' coordinates are
/// those of the body's mesh, before the placement.
struct SurfaceFile {
  std::string file;
  double scale = 1.0;
  Place place;
};

/// Body of a scene with several bodies. The body's materials are in Scene::materials, for regions BODY/….
struct BodyEntry {
  /// Kinds of bodies. Solid: tetrahedra with a material. Obstacle: triangles without mass, at rest unless moved by
  /// `boundary`. Cells: cells of a CellModel.
  enum class Kind { solid, obstacle, cells };
  std::string name;
  Kind kind = Kind::solid;
  bool affine = false;               ///< for a solid: moves by one affine map; `mesh` gives the surface
  bool rigid = false;                ///< for an affine solid: does not deform
  const CellModel* cells = nullptr;  ///< model of a body of kind `cells`
  MeshSection mesh;
  Placement placement;
  InitialSection initial;                         ///< used instead of the scene's section
  std::optional<double> thickness;                ///< contact thickness, m
  std::optional<std::array<double, 3>> director;  ///< for rods: a vector across all segments
  std::optional<SurfaceFile> surface;
  Place place;
};

/// Rigid motion about `axis` through `origin`; the rates are constant or given per step.
struct MoveSection {
  std::array<double, 3> axis{0.0, 0.0, 1.0}, origin{};
  Numbers angular_velocity;  ///< [] or [steps], rad/s
  Numbers velocity;          ///< [3] or [steps, 3], m/s
};

struct BoundaryEntry {
  enum class Kind { fix, traction, pressure, wind, moment, nodal_load, move, attach };
  Kind kind = Kind::fix;
  RegionName region;
  std::array<bool, 3> axes{};  ///< fix
  bool clamp = false;          ///< fix: also fix the direction of a shell's surface there
  /// Values of the load. The allowed shapes depend on `kind`: [3] or [steps, 3] for traction, wind and moment; [] or
  /// [steps] for pressure; [3], [N, 3], [steps, 3] or [steps, N, 3] for nodal_load.
  Numbers load;
  double drag = 0.0;             ///< wind: kg/m³
  std::optional<RegionName> to;  ///< attach: region to which `region` is attached
  double stiffness = 0.0;        ///< attach: N/m
  MoveSection move;
  Place place;
};

/// Joint of a rigid body, with the forces along the joint's free direction.
struct JointEntry {
  Joint joint;
  bool is_driven = false;
  Numbers torque{Array{{}, {0.0}}, {}}, target{Array{{}, {0.0}}, {}};  ///< [] or [steps]
  JointDrive drive;                                                    ///< without torque and target
  Place place;
};

/// Robot in a URDF file, which is read when the run begins.
struct RobotEntry {
  std::string name;
  std::string file;
  RobotOptions options;
  std::shared_ptr<const Robot> robot;  ///< nullptr until the file is read
  Place place;
};

/// Obstacle whose triangles are in a file, read when the run begins.
struct MeshFileObstacle {
  std::size_t obstacle = 0;  ///< index in ContactOptions::meshes
  std::string file;
  double scale = 1.0;
  std::optional<bool> solid;
  Place place;
};

struct ContactSection {
  ContactOptions options;
  std::vector<std::string> labels;   ///< labels of all obstacles, in the scene's order
  std::vector<std::string> turning;  ///< labels of rotating obstacles
  std::vector<std::string> thick;    ///< labels of obstacles with a thickness
  std::vector<MeshFileObstacle> files;
  std::optional<SurfaceFile> surface;  ///< surface of the only body of a scene without `bodies`
  std::vector<Place> pair_places;      ///< positions of `options.pairs` in the scene
  Place place;
};

struct TrackObjective {
  std::string observations;               ///< path of the observations file
  std::optional<std::vector<int>> steps;  ///< without value: all steps of the file
  RegionName region;
  Place place;  ///< position of the path
};

struct TargetObjective {
  RegionName region;
  std::array<double, 3> target{};
  int step = -1;             ///< -1: last step
  bool of_velocity = false;  ///< true: mean velocity; false: mean position
};

/// Effort of a control signal.
struct EffortObjective {
  std::string parameter;
};

/// Coordinate of a joint at one step, or at steps 1 to N.
struct JointObjective {
  std::string joint;
  Numbers target;  ///< [], or [steps] for all steps
  int step = -1;   ///< -1: last step
  bool all_steps = false;
  Place place;  ///< position of the joint's name
};

struct ReactionObjective {
  RegionName region;
  std::string observations;               ///< path of a file with the dataset /reaction; empty: `target` at `step`
  std::optional<std::vector<int>> steps;  ///< of the file; without value: all
  std::array<double, 3> target{};         ///< N
  int step = -1;                          ///< -1: last step
  Place place;                            ///< position of the path
};
struct ObjectiveEntry {
  std::variant<TrackObjective, TargetObjective, EffortObjective, JointObjective, ReactionObjective> kind;
  double weight = 1.0;
  std::optional<double> noise;  ///< standard deviation of the observations' errors; without value: not a likelihood
  Place place;
};

struct ParameterEntry {
  enum class Per { global, region, cell, segment, step, vertex, vertex_step, segment_step, triangle };
  std::string name;
  std::string label;  ///< name in files and messages, as given in the scene: the parameter or a key of a material
  Per per = Per::global;
  std::optional<RegionName> region;
  /// Start value with the shape of the gradient, or with fewer entries if one value is used for several entries. If
  /// `initial` has no value, the start value is taken from the parameter's values in the scene.
  std::optional<Numbers> initial;
  std::vector<std::pair<RegionName, double>> initial_by_region;  ///< used instead of `initial` for `per: region`
  std::optional<Numbers> direction;  ///< of `tangent`, in the forms of `initial`; without value: 1
  std::optional<Numbers> map;        ///< dataset of M modes, [M, C] or [M, N, 3]; the unknowns are the M coefficients
  double lower = -std::numeric_limits<double>::infinity();
  double upper = std::numeric_limits<double>::infinity();
  Place bounds_place;
  std::optional<bool> logarithmic;  ///< without value: the parameter's default
  Place place;

  bool is_by_step() const { return per == Per::step || per == Per::vertex_step || per == Per::segment_step; }
};

/// Prior of a parameter.
struct PriorEntry {
  enum class Type { normal, smooth, total_variation, matern };
  Type type = Type::normal;
  std::size_t parameter = 0;  ///< index in Scene::parameters
  std::optional<Numbers> mean, deviation, covariance;
  double weight = 1.0;   ///< of `smooth` and `total_variation`
  double epsilon = 0.0;  ///< of `total_variation`
  double length = 0.0;   ///< of `matern`
  Place place;
};

struct OutputSection {
  std::string directory = "out";
  int every = 1;
  std::vector<std::string> fields{"positions", "velocities"};
  bool reactions = false;       ///< write the reactions of fixed and moved regions to trajectory.h5
  bool contact_forces = false;  ///< write the contact forces between bodies and obstacles to trajectory.h5
  std::string log;              ///< `simulate`: file with a table of the steps; empty: none
  std::string adjoint_log;      ///< `gradient`, `invert`: file with a table of the adjoint's norms; empty: none
  Place place;
};

/// Scene as the user wrote it, checked as far as possible without reading other files.
struct Scene {
  std::string file;
  MeshSection mesh;               ///< mesh of the only body of a scene without `bodies`
  std::vector<BodyEntry> bodies;  ///< empty: there is one body without a name
  std::vector<RegionEntry> regions;
  std::vector<MaterialEntry> materials;
  bool material_list = false;
  std::map<std::string, Numbers> signals;  ///< control signals of the materials' laws: [] or [steps]
  SolverSection solver;
  InitialSection initial;
  std::vector<BoundaryEntry> boundary;
  std::vector<RobotEntry> robots;
  std::vector<JointEntry> joints;  ///< of the section `joints`
  /// Drives that `boundary` gives to joints of this scene or of robots. Of each `joint`, only the name is set.
  std::vector<JointEntry> drives;
  std::optional<ContactSection> contact;
  std::vector<ObjectiveEntry> objectives;
  std::vector<ParameterEntry> parameters;
  std::vector<PriorEntry> priors;
  CheckpointOptions checkpoint;
  bool measure_error = false;  ///< compute the error of an approximate gradient
  Place checkpoint_place;
  OptimiserOptions optimiser;
  std::optional<Place> uncertainty;  ///< place of optimiser.uncertainty if its value is true
  OutputSection output;
  std::vector<std::pair<std::string, std::string>> petsc;  ///< pairs of `-name` and value
  std::string experiment;                  ///< name of the experiment; empty if the scene has no `experiments`
  std::vector<Scene> further_experiments;  ///< scenes of the other experiments
};

/// Returns hashes of the scene's sections that influence results, including the contents of the files named there.
/// Sections named in `without`, and those of experiments with these names, are left out. Serial: for one rank.
ProblemParts problem_parts(const std::string& text, const std::string& file,
                           const std::vector<std::string>& without = {});
/// Converts hashes of sections to lines `SECTION HASH`, and back.
std::string to_lines(const ProblemParts& parts);
ProblemParts parts_of_lines(const std::string& lines);

/// Returns the name of the body that a region belongs to, from BODY/REGION or from the region's definition in the
/// scene; empty if there is none.
std::string body_of_region(const Scene& scene, const std::string& region);

/// Parses a scene. If the scene has `experiments`, the result is the scene of the first experiment; its
/// `further_experiments` are the scenes of the others. Throws InputError. Does not communicate and opens no other file.
Scene parse_scene(const std::string& text, const std::string& file);

/// Returns the spec of a parameter, given by its name with or without `:LABEL`; for an unknown name, a spec without
/// restrictions.
ParameterSpec spec_of(const std::string& parameter);
/// Returns whether a parameter belongs to an entry of `boundary` and is identified by the entry's region.
bool is_of_boundary(const std::string& parameter);
/// Returns the unit of a parameter, for example "Pa"; "1" for a dimensionless parameter.
std::string unit_of(const std::string& parameter);

/// Returns whether a parameter belongs to materials: to an elastic law, to damping, or to a CellModel.
bool is_of_material(const ParameterSpec& spec);
/// Returns the possible values of `per` for a parameter in scenes, the default first.
std::vector<ParameterEntry::Per> per_of(const ParameterSpec& spec);
/// Returns the word for `per` in scenes: "global", "region", …
std::string to_string(ParameterEntry::Per per);

}  // namespace diffsim::app
