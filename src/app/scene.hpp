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
#include "diffsim/sensor/feedback.hpp"
#include "diffsim/simulation/robot.hpp"
#include "diffsim/simulation/scene.hpp"
#include "diffsim/simulation/simulator.hpp"

namespace diffsim::app {

/// Dataset of an HDF5 file. A relative path in a scene file is relative to the folder of the scene file; `path`
/// includes this folder.
struct Dataset {
  std::string path;
  std::string name;
};

/// Array of values, given in the scene file or by a dataset of an HDF5 file.
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
  std::optional<CellKind> cells;  ///< kind of cells to read from the file; if absent, tetrahedra
  bool boundary = false;          ///< true: the body is the boundary of the tetrahedra in `source`
  Place place;
};

struct RegionEntry {
  std::string name;
  RegionShape shape;
  std::string body;  ///< body whose vertices are selected; if empty, all bodies
  Place place;
};

struct MaterialEntry {
  std::string model;
  std::optional<RegionName> region;  ///< region of the material; if absent, the whole mesh
  /// Model of cells other than tetrahedra; nullptr if `model` is an elastic law or `rigid`.
  const CellModel* cells = nullptr;
  std::string law;   ///< law of the model `cells`; if empty, the first law of the model
  std::string body;  ///< body whose cells or vertices datasets have values for; if empty, the whole mesh
  std::map<std::string, Numbers> values;  ///< by parameter name: one value, or one for each cell or vertex, or one for
                                          ///< each step and cell or vertex
  bool nodal_dilatation = false;
  Place place;

  std::string region_name() const { return region ? region->name : "all"; }
};

struct SolverSection {
  double dt = DifferentiableSolver{}.dt;
  int steps = -1;  ///< number of steps; -1 if the scene does not state the number
  int substeps = DifferentiableSolver{}.substeps;
  Numbers damping;             ///< damping factor; shape [] or [steps]
  bool damping_given = false;  ///< false: the default is used
  Numbers gravity;             ///< gravity in m/s²; shape [3] or [steps, 3]
  bool gravity_given = false;  ///< false: the default is used
  Integrator integrator = DifferentiableSolver{}.integrator;
  ImplicitOptions implicit;
  std::vector<std::string> unused;  ///< keys in the scene that have no effect with this integrator
  Place place;
};

struct InitialSection {
  std::optional<Numbers> velocity, displacement;          ///< in m/s and in m; shape [3], or [N, 3] for N vertices
  std::optional<std::array<double, 3>> angular_velocity;  ///< for affine bodies, about the centre of mass (rad/s)
  std::string from;  ///< path of a trajectory that contains the initial state; empty if there is none
  int step = -1;     ///< step of the frame, in the trajectory `from`, that is the initial state; -1 for the last frame
  Place place;       ///< location of the key `from` in the scene file
};

/// File with the triangles of a body's contact surface. The file is read when the run begins. The file uses the same
/// coordinate system as the body's mesh file; BodyEntry::placement applies to both.
struct SurfaceFile {
  std::string file;
  double scale = 1.0;
  Place place;
};

/// Body of a scene with several bodies. The body's materials are in Scene::materials; the names of the materials'
/// regions begin with BODY/.
struct BodyEntry {
  /// Kinds of bodies. Solid: tetrahedra with a material. Obstacle: triangles without mass, at rest unless the section
  /// `boundary` moves the obstacle. Cells: cells of a CellModel.
  enum class Kind { solid, obstacle, cells };
  std::string name;
  Kind kind = Kind::solid;
  bool affine = false;               ///< true: a solid that moves by an affine map; `mesh` is the surface
  bool rigid = false;                ///< true: an affine solid that does not deform
  const CellModel* cells = nullptr;  ///< model of a body of kind `cells`
  MeshSection mesh;
  Placement placement;
  InitialSection initial;                         ///< replaces the scene's section `initial`
  std::optional<double> thickness;                ///< contact thickness in m
  std::optional<std::array<double, 3>> director;  ///< for rods and beams: vector from which the directors of all
                                                  ///< segments are computed; parallel to no segment
  std::optional<SurfaceFile> surface;
  Place place;
};

/// Rigid motion of a region: rotation about `axis` through `origin`, and translation.
struct MoveSection {
  std::array<double, 3> axis{0.0, 0.0, 1.0}, origin{};
  Numbers angular_velocity;  ///< in rad/s; shape [] or [steps]
  Numbers velocity;          ///< in m/s; shape [3] or [steps, 3]
};

struct LoadType;

struct BoundaryEntry {
  enum class Kind { fix, load, nodal_load, move, attach };
  Kind kind = Kind::fix;
  const LoadType* type = nullptr;  ///< for `load`: type of the load (app/load_types.hpp)
  RegionName region;
  std::array<bool, 3> axes{};  ///< for `fix`: true for each fixed component
  bool clamp = false;          ///< for `fix`: true if the normal direction of a shell is fixed, too
  /// Values of the load. For `load`, the shape is [3] or [steps, 3] if the type has vectors, otherwise [] or [steps].
  /// For `nodal_load` on N vertices, the shape is [3], [N, 3], [steps, 3] or [steps, N, 3].
  Numbers load;
  std::vector<double> coefficients;  ///< for `load`: values of LoadType::coefficients
  std::optional<RegionName> to;      ///< for `attach`: region to which `region` is attached
  double stiffness = 0.0;            ///< for `attach`: stiffness of the spring at each vertex, in N/m
  MoveSection move;
  Place place;
};

/// Joint of a rigid body, and the drive that moves a revolute or prismatic joint.
struct JointEntry {
  Joint joint;
  bool is_driven = false;
  Numbers torque{Array{{}, {0.0}}, {}}, target{Array{{}, {0.0}}, {}};  ///< shape [] or [steps]
  JointDrive drive;  ///< other data of the drive; `drive.torque` and `drive.target` are not used
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

/// Obstacle whose triangles are read from a file when the run begins.
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
  std::vector<Place> pair_places;      ///< locations of the entries of `options.pairs` in the scene file
  Place place;
};

/// Sensor in the section `sensors`.
struct SensorEntry {
  std::string name;
  SensorSpec spec;
  std::vector<RegionName> regions;  ///< regions that `spec` names
  Place place;
};

/// Feedback in the section `feedback`.
struct FeedbackEntry {
  std::string name;
  std::vector<std::size_t> sensors;                  ///< indices in Scene::sensors
  std::vector<double> offsets, scales, frequencies;  ///< as in Feedback
  std::vector<std::string> controls;
  PerceptronOptions policy;
  std::optional<Numbers> weights;  ///< weights of the policy; if absent, the policy's initial weights
  Place place;
};

/// Value of a sensor, for an objective or a constraint: the mean over steps of a component y of the sensor. With a
/// power p, the value is the mean of |y|^p for an objective, and the p-th root of this mean for a constraint.
struct SensorValueEntry {
  SensorEntry sensor;
  std::vector<double> weights;            ///< [components]: 1 for the component y, 0 for others
  std::optional<std::vector<int>> steps;  ///< if absent, all steps 1, 2, … or, if `step` is given, one step
  std::optional<int> step = -1;           ///< number of the step; -1 for the last step
  std::optional<double> power;
  bool is_maximised = false;  ///< for an objective
};

class Objective;

struct ObjectiveEntry {
  std::shared_ptr<const Objective> function;  ///< the objective without weight and noise (app/objective_types.hpp)
  double weight = 1.0;
  /// Standard deviation of the observations' errors; if given, the objective is a negative log-likelihood.
  std::optional<double> noise;
  Place place;
};

/// Constraint lower ≤ c ≤ upper of the optimisation. The function c is the mean of a parameter's values, a quantity of
/// the rest shape, or the value of a sensor.
struct ConstraintEntry {
  enum class Quantity { mean, relative_volume, distortion };
  std::variant<std::size_t, SensorValueEntry> of;  ///< index in Scene::parameters, or the value of a sensor
  /// Name of the experiment in which a sensor's constraint holds; empty: the constraint holds in each experiment. If
  /// the name is not `Scene::experiment`, `of` is not set.
  std::string experiment = {};
  Place experiment_place = {};
  Quantity quantity = Quantity::mean;  ///< function of the parameter; relative_volume and distortion require the
                                       ///< parameter `rest_positions`
  double power = 16.0;                 ///< for distortion: exponent `power` of make_distortion_function()
  double lower = -std::numeric_limits<double>::infinity();
  double upper = std::numeric_limits<double>::infinity();
  Place place;
};

/// Further parameter of a distribution (DistributedParameter).
struct DistributedEntry {
  std::string name;
  double penalty = 1.0;
  double minimum = 1e-3;
  Place place;
};

/// Material densities from which a parameter is computed (MaterialDistribution).
struct DistributionEntry {
  std::vector<double> penalties{3.0};  ///< `MaterialDistribution::penalty`, for each of a sequence of optimisations
  double minimum = 1e-3;
  double filter = 0.0;            ///< radius of the filter, m; 0 for no filter
  std::vector<RegionName> solid;  ///< regions with the prescribed density 1
  std::vector<RegionName> voids;  ///< regions with the prescribed density 0
  std::vector<DistributedEntry> also;
};

/// Filter that smooths the changes of a rest shape (ShapeFilter).
struct ShapeFilterEntry {
  double radius = 0.0;  ///< m
  std::vector<RegionName> fixed;
  std::array<bool, 3> moves{true, true, true};  ///< true for each coordinate (x, y, z) that the filter may change
};

struct ParameterEntry {
  enum class Per { global, region, cell, segment, step, vertex, vertex_step, segment_step, triangle };
  std::string name;
  std::string label;  ///< name in files and messages: the value of the key `name` in the scene, which is a parameter's
                      ///< name or a key of a section `material`
  Per per = Per::global;
  std::optional<RegionName> region;
  /// Start values of the unknown: one for each value of the unknown, or one for all values. If `initial` is absent, the
  /// start values are the parameter's values in the scene.
  std::optional<Numbers> initial;
  std::vector<std::pair<RegionName, double>> initial_by_region;  ///< used instead of `initial` for `per: region`
  std::optional<Numbers> direction;  ///< for `tangent`: change dp of the parameter, in the forms of `initial`; if
                                     ///< absent, all entries are 1
  /// Dataset of M modes, [M, C] for C cells or [M, N, 3] for N vertices; the unknowns are M coefficients.
  std::optional<Numbers> map;
  std::optional<DistributionEntry> distribution;
  std::optional<ShapeFilterEntry> filter;
  double lower = -std::numeric_limits<double>::infinity();
  double upper = std::numeric_limits<double>::infinity();
  Place bounds_place;
  std::optional<bool> logarithmic;  ///< true: the unknown is the logarithm of the parameter; if absent, the default of
                                    ///< the parameter is used
  Place place;

  bool is_by_step() const { return per == Per::step || per == Per::vertex_step || per == Per::segment_step; }
};

/// Prior of a parameter.
struct PriorEntry {
  enum class Type { normal, smooth, total_variation, matern };
  Type type = Type::normal;
  std::size_t parameter = 0;  ///< index in Scene::parameters
  std::optional<Numbers> mean, deviation, covariance;
  double weight = 1.0;   ///< for `smooth` and `total_variation`
  double epsilon = 0.0;  ///< for `total_variation`: slope ε, see make_total_variation_prior()
  double length = 0.0;   ///< for `matern`: correlation length in m or s
  Place place;
};

/// Factors by which all priors are multiplied, one for each of a sequence of optimisations. The result of the run is
/// the result for one of the factors.
struct PriorFactors {
  std::vector<double> values = {};    ///< in descending order
  std::optional<double> misfit = {};  ///< the largest factor with a loss, without priors, of at most `misfit` is
                                      ///< chosen; if absent, the corner of the L-curve
  Place place = {};
};

/// Section `optimiser.uncertainty`: low-rank approximation of the posterior.
struct LowRankSection {
  int rank = 0;       ///< number of eigenvalues
  int samples = 200;  ///< number of samples from which standard deviations are estimated
};

struct OutputSection {
  std::string directory = "out";
  int every = 1;
  std::vector<std::string> fields{"positions", "velocities"};
  bool reactions = false;       ///< true: reactions of fixed and moved regions are written to trajectory.h5
  bool contact_forces = false;  ///< true: contact forces of bodies and obstacles are written to trajectory.h5
  std::string log;              ///< for `simulate`: file with a table of the steps; if empty, no table is written
  std::string adjoint_log;  ///< for `gradient`, `invert`: table of the norms of the adjoint ∂L/∂x[n]; if empty, no file
  Place place;
};

/// Scene as the user wrote it, checked as far as possible without reading other files.
struct Scene {
  std::string file;
  MeshSection mesh;               ///< mesh of the only body of a scene without `bodies`
  std::vector<BodyEntry> bodies;  ///< empty if there is one body without a name, or if all bodies are robots
  std::vector<RegionEntry> regions;
  std::vector<MaterialEntry> materials;
  bool material_list = false;
  /// Control parameters of elastic laws (`ElasticLaw::signal`), by name; shape [] or [steps].
  std::map<std::string, Numbers> signals;
  SolverSection solver;
  InitialSection initial;
  std::vector<BoundaryEntry> boundary;
  std::vector<RobotEntry> robots;
  std::vector<JointEntry> joints;  ///< joints in the section `joints`
  /// Drives in the section `boundary`, of joints of this scene or of robots. In each of these entries, `joint` contains
  /// only the name of the joint.
  std::vector<JointEntry> drives;
  std::optional<ContactSection> contact;
  std::vector<SensorEntry> sensors;
  std::vector<FeedbackEntry> feedback;
  std::vector<ObjectiveEntry> objectives;
  std::vector<ParameterEntry> parameters;
  std::vector<PriorEntry> priors;
  std::optional<PriorFactors> prior_factors;
  Place shooting_place;  ///< location of the key `optimiser.shooting` in the scene file
  std::vector<ConstraintEntry> constraints;
  CheckpointOptions checkpoint;
  /// True if the error of an approximate gradient is computed by comparison with the exact gradient.
  bool measure_error = false;
  Place checkpoint_place;
  OptimiserOptions optimiser;
  /// Location of the key `optimiser.uncertainty` in the scene file; no value unless the key is true or a mapping.
  std::optional<Place> uncertainty;
  std::optional<LowRankSection> low_rank;  ///< optimiser.uncertainty if its value is a mapping
  OutputSection output;
  std::vector<std::pair<std::string, std::string>> petsc;  ///< PETSc options: pairs of `-name` and value
  std::string experiment;                  ///< name of the experiment; empty if the scene has no `experiments`
  std::vector<Scene> further_experiments;  ///< scenes of the other experiments
};

/// Returns hashes of the scene's sections that influence results. The hashes include the contents of the input files
/// that these sections name. Sections whose names are in `without` are left out, both in the scene and in experiments.
/// Not collective: call this function on one rank only.
ProblemParts problem_parts(const std::string& text, const std::string& file,
                           const std::vector<std::string>& without = {});
/// Converts hashes of sections to lines `SECTION HASH`. `parts_of_lines` is the inverse conversion.
std::string to_lines(const ProblemParts& parts);
ProblemParts parts_of_lines(const std::string& lines);

/// Returns the name of the body to which a region belongs: the part BODY of a name BODY/REGION, or the body in the
/// region's definition in the scene. The result is empty if neither the name nor the definition states a body.
std::string body_of_region(const Scene& scene, const std::string& region);

/// Parses a scene. If the scene has `experiments`, the result is the scene of the first experiment; its
/// `further_experiments` are the scenes of the other experiments. Throws InputError if the scene is not valid. Does not
/// communicate and opens no file.
Scene parse_scene(const std::string& text, const std::string& file);
/// Parses a scene whose YAML document is `root`, in the same way.
Scene parse_scene(const Value& root, const std::string& file);

/// Returns the ParameterSpec of a parameter. `parameter`: name NAME or NAME:LABEL. For an unknown name, the result is a
/// ParameterSpec without restrictions.
ParameterSpec spec_of(const std::string& parameter);
/// Returns true if a parameter belongs to a region named in the sections `boundary` and `attach` of a scene. The full
/// name of such a parameter is NAME:REGION; `parameter` is NAME.
bool is_of_boundary(const std::string& parameter);
/// Returns the unit of a parameter, for example "Pa"; "1" for a dimensionless parameter.
std::string unit_of(const std::string& parameter);

/// Returns whether a parameter has values on cells or belongs to a CellModel. Examples are the density and the
/// parameters of elastic laws and of damping.
bool is_of_material(const ParameterSpec& spec);
/// Returns the values that the key `per` of a parameter may have in scenes; the first is the default.
std::vector<ParameterEntry::Per> per_of(const ParameterSpec& spec);
/// Returns the value of the key `per` in scenes: "global", "region", …
std::string to_string(ParameterEntry::Per per);

}  // namespace diffsim::app
