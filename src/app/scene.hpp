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

/// Dataset of an HDF5 file. A relative path in a scene file is relative to the folder of the scene file; the member
/// `path` includes this folder.
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

/// Name of a region. The existence of a region that a scene names is checked after the mesh has been created.
struct RegionName {
  std::string name;
  Place place;
};

struct BoxMesh {
  std::array<double, 3> size;
  std::array<int, 3> cells;
};

struct MeshSection {
  std::variant<std::string, BoxMesh, TriangleMesh> source;  ///< source of the mesh: path of a file, a box, or triangles
  int order = 1;
  std::optional<int> quadrature_degree;
  double scale = 1.0;
  bool allow_coincident_vertices = false;
  /// Kind of the cells that are read from a mesh file; if `cells` has no value, tetrahedra are read.
  std::optional<CellKind> cells;
  bool boundary = false;  ///< true if the body's surface is the boundary of the tetrahedra in the mesh `source`
  Place place;
};

struct RegionEntry {
  std::string name;
  RegionShape shape;
  /// Name of the body whose vertices the region contains; if empty, the region may contain vertices of all bodies.
  std::string body;
  Place place;
};

struct MaterialEntry {
  std::string model;
  /// Region with the material; if `region` has no value, the whole mesh has the material.
  std::optional<RegionName> region;
  /// Model of a body with cells other than tetrahedra; nullptr if the material's `model` is an elastic law or `rigid`.
  const CellModel* cells = nullptr;
  std::string law;  ///< name of a law of the CellModel `cells`; if empty, the first law of the CellModel is used
  /// Name of the body whose values the datasets in `values` contain; if empty, these datasets contain values for the
  /// whole mesh.
  std::string body;
  /// Values of each parameter of the material, by the parameter's name: one value, one value per cell or vertex, or one
  /// value per step and cell or vertex.
  std::map<std::string, Numbers> values;
  bool nodal_dilatation = false;
  Place place;

  std::string region_name() const { return region ? region->name : "all"; }
};

struct SolverSection {
  double dt = DifferentiableSolver{}.dt;
  int steps = -1;  ///< number of time steps; -1 if the scene does not state the number of time steps
  int substeps = DifferentiableSolver{}.substeps;
  Numbers damping;             ///< damping factor of the velocities; shape [] or [steps]
  bool damping_given = false;  ///< true if the scene has the key `damping`; if false, the default damping is used
  Numbers gravity;             ///< gravity in m/s²; shape [3] or [steps, 3]
  bool gravity_given = false;  ///< true if the scene has the key `gravity`; if false, the default gravity is used
  Integrator integrator = DifferentiableSolver{}.integrator;
  ImplicitOptions implicit;
  std::vector<std::string> unused;  ///< keys of the section `solver` that have no effect with the scene's integrator
  Place place;
};

struct InitialSection {
  /// Initial velocities in m/s and displacements in m; shape [3], or [N, 3] for N vertices.
  std::optional<Numbers> velocity, displacement;
  /// Initial angular velocity of an affine body about the centre of mass, rad/s.
  std::optional<std::array<double, 3>> angular_velocity;
  /// Path of a trajectory that contains the initial state; empty if the scene names no such trajectory.
  std::string from;
  /// Step number of the frame that is the initial state, in the trajectory `from`; -1 for the last frame.
  int step = -1;
  Place place;  ///< location of the key `from` of the section `initial` in the scene file
};

/// File that contains the triangles of a body's contact surface, and that is read when the run begins. The triangles
/// are given in the coordinate system of the body's mesh file; BodyEntry::placement is applied to the triangles and to
/// the mesh.
struct SurfaceFile {
  std::string file;
  double scale = 1.0;
  Place place;
};

/// Entry of the section `bodies` of a scene, for a body that is not a robot (RobotEntry). The body's materials are in
/// Scene::materials; the names of the materials' regions begin with BODY/, where BODY is the body's name.
struct BodyEntry {
  /// Kinds of bodies. A body of kind `solid` consists of tetrahedra with a material or, if the solid is affine, has a
  /// surface of triangles. A body of kind `obstacle` consists of triangles without mass, and is at rest unless the
  /// section `boundary` moves the obstacle. A body of kind `cells` consists of the cells of a CellModel.
  enum class Kind { solid, obstacle, cells };
  std::string name;
  Kind kind = Kind::solid;
  /// True for a solid that moves by an affine map; the mesh `mesh` defines the surface of the solid.
  bool affine = false;
  bool rigid = false;                ///< true for an affine solid that does not deform
  const CellModel* cells = nullptr;  ///< CellModel of a body of kind `cells`; nullptr for other kinds of bodies
  MeshSection mesh;
  Placement placement;
  InitialSection initial;  ///< section `initial` of the body, which takes precedence over the scene's section `initial`
  std::optional<double> thickness;  ///< contact thickness in m
  /// Vector from which the directors of all segments of a rod or beam are computed; must not be parallel to any
  /// segment.
  std::optional<std::array<double, 3>> director;
  std::optional<SurfaceFile> surface;
  Place place;
};

/// Rigid motion of a region: rotation about the line with direction `axis` through the point `origin`, and translation.
struct MoveSection {
  std::array<double, 3> axis{0.0, 0.0, 1.0}, origin{};
  Numbers angular_velocity;  ///< angular velocity about the direction `axis` in rad/s; shape [] or [steps]
  Numbers velocity;          ///< velocity of the translation in m/s; shape [3] or [steps, 3]
};

struct LoadType;

struct BoundaryEntry {
  enum class Kind { fix, load, nodal_load, move, attach };
  Kind kind = Kind::fix;
  const LoadType* type = nullptr;  ///< type of the load (app/load_types.hpp) if `kind` is `load`, otherwise nullptr
  RegionName region;
  std::array<bool, 3> axes{};  ///< true for each component (x, y, z) that is fixed, if `kind` is `fix`
  /// True if `kind` is `fix` and the vertices are clamped (DifferentiableScene::clamp). If all components are fixed,
  /// clamping also fixes the slopes of shells and the tangents of rods. If only the component along one axis is fixed,
  /// the plane normal to this axis is a plane of symmetry.
  bool clamp = false;
  /// Values of the load. If `kind` is `load`, the load's values have the shape [3] or [steps, 3] for vectors, and [] or
  /// [steps] for scalars. If `kind` is `nodal_load`, the load's values on N vertices have the shape [3], [N, 3],
  /// [steps, 3] or [steps, N, 3].
  Numbers load;
  std::vector<double> coefficients;  ///< values of the load's coefficients (LoadType::coefficients) if `kind` is `load`
  std::optional<RegionName> to;      ///< region to which the region `region` is attached if `kind` is `attach`
  double stiffness = 0.0;            ///< stiffness of the spring at each attached vertex in N/m if `kind` is `attach`
  MoveSection move;
  Place place;
};

/// Joint of a rigid body, and the drive that moves a revolute or prismatic joint.
struct JointEntry {
  Joint joint;
  bool is_driven = false;
  Numbers torque{Array{{}, {0.0}}, {}}, target{Array{{}, {0.0}}, {}};  ///< shape [] or [steps]
  JointDrive drive;  ///< data of the joint's drive other than torque and target; `drive.torque` and `drive.target` are
                     ///< not used
  Place place;
};

/// Robot that a URDF file defines; the URDF file is read when the run begins.
struct RobotEntry {
  std::string name;
  std::string file;
  RobotOptions options;
  std::shared_ptr<const Robot> robot;  ///< robot that is read from `file`; nullptr until `file` is read
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
  /// Labels of all obstacles, in the order of the scene file. The label of an obstacle is the obstacle's name, or the
  /// number of the obstacle, counted from 0, if the obstacle has no name.
  std::vector<std::string> labels;
  std::vector<std::string> turning;  ///< labels of rotating obstacles
  std::vector<std::string> thick;    ///< labels of obstacles with a thickness
  std::vector<MeshFileObstacle> files;
  std::optional<SurfaceFile> surface;  ///< contact surface of the only body of a scene without `bodies`
  std::vector<Place> pair_places;      ///< locations of the contact pairs `options.pairs` in the scene file
  Place place;
};

/// Sensor in the section `sensors` of a scene.
struct SensorEntry {
  std::string name;
  SensorSpec spec;
  std::vector<RegionName> regions;  ///< regions that `spec` names
  Place place;
};

/// Feedback in the section `feedback` of a scene.
struct FeedbackEntry {
  std::string name;
  std::vector<std::size_t> sensors;                  ///< indices in Scene::sensors
  std::vector<double> offsets, scales, frequencies;  ///< as in Feedback
  std::vector<std::string> controls;
  PerceptronOptions policy;
  /// Weights of the policy; if the scene gives no weights, the policy keeps the initial weights.
  std::optional<Numbers> weights;
  Place place;
};

/// Value of a sensor, for an objective or a constraint: the mean over steps of a component y of the sensor. If `power`
/// has a value p, the value for an objective is the mean of |y|^p, and the value for a constraint is the p-th root of
/// the mean of |y|^p.
struct SensorValueEntry {
  SensorEntry sensor;
  /// Weights of the sensor's components: 1 for the component that the scene selects, and 0 for all other components.
  std::vector<double> weights;
  /// Steps over which the mean is computed. If `steps` has no value, the sensor is evaluated at step `step` only or, if
  /// `step` has no value either, at all steps 1, 2, …
  std::optional<std::vector<int>> steps;
  std::optional<int> step = -1;  ///< number of the single step at which the sensor is evaluated; -1 for the last step
  std::optional<double> power;
  bool is_maximised = false;  ///< for an objective
};

class Objective;

struct ObjectiveEntry {
  std::shared_ptr<const Objective> function;  ///< objective without weight and noise (app/objective_types.hpp)
  double weight = 1.0;
  /// Standard deviation of the observations' errors; if given, the objective is a negative log-likelihood.
  std::optional<double> noise;
  Place place;
};

/// Constraint lower ≤ c ≤ upper of the optimisation, where c is the mean of a parameter's values, a quantity of the
/// rest shape, or the value of a sensor.
struct ConstraintEntry {
  enum class Quantity { mean, relative_volume, distortion };
  /// Parameter from which the constrained function is computed, as an index in Scene::parameters, or sensor value that
  /// is constrained.
  std::variant<std::size_t, SensorValueEntry> of;
  /// Name of the experiment in which a constraint on a sensor value holds; if the name is empty, the constraint holds
  /// in each experiment. The member `of` is set only if the name `experiment` is empty or equal to `Scene::experiment`.
  std::string experiment = {};
  Place experiment_place = {};
  /// Constrained function of a parameter's values; `relative_volume` and `distortion` are allowed only for the
  /// parameter `rest_positions`.
  Quantity quantity = Quantity::mean;
  /// Exponent of the distortion (argument `power` of make_distortion_function()) if `quantity` is `distortion`.
  double power = 16.0;
  double lower = -std::numeric_limits<double>::infinity();
  double upper = std::numeric_limits<double>::infinity();
  Place place;
};

/// Further parameter, besides the parameter of the ParameterEntry, that is computed from the densities of a material
/// distribution (DistributedParameter).
struct DistributedEntry {
  std::string name;
  double penalty = 1.0;
  double minimum = 1e-3;
  Place place;
};

/// Material densities from which a parameter is computed (MaterialDistribution).
struct DistributionEntry {
  /// Values of `MaterialDistribution::penalty`, one for each of a sequence of optimisations.
  std::vector<double> penalties{3.0};
  double minimum = 1e-3;
  double filter = 0.0;            ///< radius of the density filter, m; 0 for no filter
  std::vector<RegionName> solid;  ///< regions with the prescribed material density 1
  std::vector<RegionName> voids;  ///< regions with the prescribed material density 0
  std::vector<DistributedEntry> also;
};

/// Filter that smooths the changes of the rest shape or of the initial positions (ShapeFilter).
struct ShapeFilterEntry {
  double radius = 0.0;  ///< m
  std::vector<RegionName> fixed;
  std::array<bool, 3> moves{true, true, true};  ///< true for each axis (x, y, z) along which vertices may move
};

struct ParameterEntry {
  enum class Per { global, region, cell, segment, step, vertex, vertex_step, segment_step, triangle };
  std::string name;
  std::string label;   ///< name in files and messages: the value of the key `name` in the scene, which is a parameter's
                       ///< name or a key of a section `material`
  ParameterSpec spec;  ///< properties of the parameter
  Per per = Per::global;
  std::optional<RegionName> region;
  /// Start values of the unknown: one for each value of the unknown, or one for all values. If `initial` has no value,
  /// an unknown starts from the parameter's values in the scene, but densities of a material distribution start from 1,
  /// and coefficients of a map and changes of a shape start from 0.
  std::optional<Numbers> initial;
  /// Start values of the unknown by region, used instead of `initial`, if the scene gives {region: number, …} for `per:
  /// region`.
  std::vector<std::pair<RegionName, double>> initial_by_region;
  /// Change dp of the parameter for the command `tangent`, in one of the forms of `initial`; if `direction` has no
  /// value, all entries of dp are 1.
  std::optional<Numbers> direction;
  /// Dataset of M modes, of shape [M, C] for C cells, and [M, N] or [M, N, 3] for N vertices; the unknowns are the M
  /// coefficients of the modes.
  std::optional<Numbers> map;
  std::optional<DistributionEntry> distribution;
  std::optional<ShapeFilterEntry> filter;
  /// Names of joints whose initial coordinates or rates are the values of the unknown; empty for other unknowns.
  std::vector<std::string> joints;
  double lower = -std::numeric_limits<double>::infinity();
  double upper = std::numeric_limits<double>::infinity();
  Place bounds_place;
  /// True if the unknown is the logarithm of the parameter; if `logarithmic` has no value, `ParameterSpec::search`
  /// decides.
  std::optional<bool> logarithmic;
  Place place;

  bool is_by_step() const { return per == Per::step || per == Per::vertex_step || per == Per::segment_step; }
};

/// Prior of a parameter.
struct PriorEntry {
  enum class Type { normal, smooth, total_variation, matern };
  Type type = Type::normal;
  std::size_t parameter = 0;  ///< index in Scene::parameters
  std::optional<Numbers> mean, deviation, covariance;
  double weight = 1.0;  ///< weight of a prior of type `smooth` or `total_variation`
  /// Slope ε of a prior of type `total_variation`: argument `epsilon` of make_total_variation_prior().
  double epsilon = 0.0;
  double length = 0.0;  ///< correlation length in m or s of a prior of type `matern`
  Place place;
};

/// Factors by which all priors are multiplied, one for each of a sequence of optimisations. One of the factors is
/// chosen, by the bound `misfit` or, if `misfit` has no value, by the L-curve; the result of the run is the result of
/// the optimisation with the chosen factor.
struct PriorFactors {
  std::vector<double> values = {};  ///< in descending order
  /// Upper bound of the loss without priors: the largest factor of the priors whose result satisfies this bound is
  /// chosen. If `misfit` has no value, the factor of the priors at the corner of the L-curve is chosen.
  std::optional<double> misfit = {};
  Place place = {};
};

/// Mapping `optimiser.uncertainty` of a scene: options of the low-rank approximation of the posterior.
struct LowRankSection {
  int rank = 0;       ///< number of eigenvalues
  int samples = 200;  ///< number of samples from which posterior standard deviations are estimated
};

struct OutputSection {
  std::string directory = "out";
  int every = 1;
  std::vector<std::string> fields{"positions", "velocities"};
  bool reactions = false;       ///< true if reactions of fixed and moved regions are written to trajectory.h5
  bool contact_forces = false;  ///< true if contact forces of bodies and obstacles are written to trajectory.h5
  std::string log;  ///< file to which the command `simulate` writes a table of the steps; if empty, no table is written
  /// File to which the commands `gradient` and `invert` write a table of the norms of the adjoint ∂L/∂x[n]; if empty,
  /// no table is written.
  std::string adjoint_log;
  Place place;
};

/// Entry of the section `values` of a scene: values of a parameter or of the initial state, which replace the values
/// that follow from the other sections.
struct ValueEntry {
  std::string name;  ///< name of the parameter, `initial_positions` or `initial_velocities`
  Numbers numbers;
  Place place;
};

/// Content of a scene file, checked as far as is possible without reading other files.
struct Scene {
  std::string file;
  MeshSection mesh;  ///< mesh of the only body of a scene without `bodies`
  /// Bodies of the section `bodies`, except for robots; empty in a scene without the section `bodies`.
  std::vector<BodyEntry> bodies;
  std::vector<RegionEntry> regions;
  std::vector<MaterialEntry> materials;
  bool material_list = false;
  /// Values of the control signals of elastic laws (`ElasticLaw::signal`), by the signal's name; shape [] or [steps].
  std::map<std::string, Numbers> signals;
  SolverSection solver;
  InitialSection initial;
  std::vector<BoundaryEntry> boundary;
  std::vector<RobotEntry> robots;
  std::vector<JointEntry> joints;  ///< joints of the section `joints` of the scene
  /// Drives in the section `boundary`, for joints of the section `joints` and for joints of robots. In an entry of
  /// `drives`, the member `joint` contains the name of the joint and no other data.
  std::vector<JointEntry> drives;
  std::optional<ContactSection> contact;
  std::vector<SensorEntry> sensors;
  std::vector<FeedbackEntry> feedback;
  std::vector<ValueEntry> values;
  std::vector<ObjectiveEntry> objectives;
  std::vector<ParameterEntry> parameters;
  std::vector<PriorEntry> priors;
  std::optional<PriorFactors> prior_factors;
  Place shooting_place;  ///< location of the key `optimiser.shooting` in the scene file
  std::vector<ConstraintEntry> constraints;
  CheckpointOptions checkpoint;
  /// True if the command `gradient` computes the error of an approximate gradient by comparison with the exact
  /// gradient.
  bool measure_error = false;
  Place checkpoint_place;
  OptimiserOptions optimiser;
  /// Location of the key `optimiser.uncertainty` in the scene file; no value unless the value of the key is `true` or a
  /// mapping.
  std::optional<Place> uncertainty;
  std::optional<LowRankSection> low_rank;  ///< value of the key `optimiser.uncertainty`, if this value is a mapping
  OutputSection output;
  /// PETSc options: pairs of an option's name, with a leading `-`, and the option's value.
  std::vector<std::pair<std::string, std::string>> petsc;
  std::string experiment;                  ///< name of the experiment; empty if the scene has no `experiments`
  std::vector<Scene> further_experiments;  ///< scenes of the experiments after the first
};

/// Returns the hashes of those sections of a scene that influence results. The hash of a section includes the contents
/// of the input files that the section names. Sections of the scene and of experiments are not hashed if their names
/// are in `without`. Not collective: call `problem_parts` on one rank only.
ProblemParts problem_parts(const std::string& text, const std::string& file,
                           const std::vector<std::string>& without = {});
/// Converts the hashes of a scene's sections to lines of the form `SECTION HASH`. `parts_of_lines` is the inverse of
/// `to_lines`.
std::string to_lines(const ProblemParts& parts);
ProblemParts parts_of_lines(const std::string& lines);

/// Returns the name of the body to which a region belongs: the part BODY of a name BODY/REGION, or the body in the
/// region's definition in the scene. `body_of_region` returns an empty text if neither the region's name nor the
/// region's definition states a body.
std::string body_of_region(const Scene& scene, const std::string& region);

/// Parses a scene. If the scene has `experiments`, `parse_scene` returns the scene of the first experiment, and the
/// member `further_experiments` of this scene contains the scenes of the other experiments. Throws InputError if the
/// scene is not valid. `parse_scene` does not communicate and opens no file.
Scene parse_scene(const std::string& text, const std::string& file);
/// Overload of `parse_scene` for a scene whose YAML document is `root`.
Scene parse_scene(const Value& root, const std::string& file);

/// Returns the document of a scene of a single experiment: the YAML document `root` without the section `experiments`,
/// with the sections of the experiment `name` instead of those of the scene. If `root` has no section `experiments`,
/// returns `root`.
Value document_of_experiment(const Value& root, const std::string& name);

/// Returns the ParameterSpec of a parameter. `parameter`: name of the parameter, of the form NAME or NAME:LABEL. If no
/// parameter has the given name, `spec_of` returns a ParameterSpec without restrictions.
ParameterSpec spec_of(const std::string& parameter);
/// Returns true if scenes define a parameter for a region in the section `boundary` or `attach`: a parameter of a load
/// (LoadType), of a prescribed motion or of an attachment. `parameter`: the part NAME of the parameter's full name
/// NAME:REGION.
bool is_of_boundary(const std::string& parameter);

/// Returns whether a parameter has values on cells or belongs to a CellModel, as for example the density and the
/// parameters of elastic laws and of damping.
bool is_of_material(const ParameterSpec& spec);
/// Returns the values that the key `per` of a parameter may have in scenes; the first value is the default.
std::vector<ParameterEntry::Per> per_of(const ParameterSpec& spec);
/// Returns the text that stands for the enumerator `per` in scenes: "global", "region", …
std::string to_string(ParameterEntry::Per per);

}  // namespace diffsim::app
