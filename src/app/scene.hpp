// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <array>
#include <filesystem>
#include <limits>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "app/yaml_value.hpp"
#include "diffsim/core/parameter_spec.hpp"
#include "diffsim/inverse/optimise.hpp"
#include "diffsim/mesh/placement.hpp"
#include "diffsim/mesh/region.hpp"
#include "diffsim/simulation/simulator.hpp"
#include "diffsim/simulation/solver.hpp"

namespace diffsim::app {

/// A dataset of an HDF5 file; `path` is already relative to the scene's folder.
struct Dataset {
  std::string path;
  std::string name;
};

/// Numbers that stand in the scene or in a file.
struct Numbers {
  std::variant<Array, Dataset> source;
  Place place;

  const Array* array() const { return std::get_if<Array>(&source); }
  const Dataset* dataset() const { return std::get_if<Dataset>(&source); }
};

/// A region by its name; whether there is such a region shows when the mesh is read.
struct RegionName {
  std::string name;
  Place place;
};

struct BoxMesh {
  std::array<double, 3> size;
  std::array<int, 3> cells;
};

struct MeshSection {
  std::variant<std::string, BoxMesh, TriangleMesh> source;  ///< a file's path, a box, or an obstacle's shape
  int order = 1;
  std::optional<int> quadrature_degree;
  double scale = 1.0;
  bool allow_coincident_vertices = false;
  std::optional<CellKind> cells;  ///< that are read from the file; default: by the kind of body
  bool boundary = false;          ///< of tetrahedra, only the triangles on the boundary
  Place place;
};

struct RegionEntry {
  std::string name;
  RegionShape shape;
  std::string body;  ///< whose vertices it takes; empty: those of all
  Place place;
};

struct MaterialEntry {
  std::string model;
  std::optional<RegionName> region;       ///< none: the whole mesh
  const CellModel* cells = nullptr;       ///< model of cells that are no tetrahedra; nullptr: `model` is a law
  std::string law;                        ///< of `cells`; empty: the first
  std::string body;                       ///< that datasets are of; empty: of the whole mesh
  std::map<std::string, Numbers> values;  ///< a number each, or one a cell; of `cells`: or one a vertex, for each step
  bool nodal_dilatation = false;
  Place place;

  std::string region_name() const { return region ? region->name : "all"; }
};

struct SolverSection {
  double dt = SolverOptions{}.dt;
  int steps = -1;  ///< -1: not given
  int substeps = SolverOptions{}.substeps;
  Numbers damping;             ///< [] or [steps]
  bool damping_given = false;  ///< by the scene, else the default
  Numbers gravity;             ///< [3] or [steps, 3]
  bool gravity_given = false;  ///< by the scene, else the default
  std::string integrator = SolverOptions{}.integrator;
  ImplicitOptions implicit;
  std::vector<std::string> unused;  ///< keys given that the integrator has no use for
  Place place;
};

struct InitialSection {
  std::optional<Numbers> velocity, displacement;          ///< [3] or [N, 3]
  std::optional<std::array<double, 3>> angular_velocity;  ///< of an affine body about its centre of mass, rad/s
  std::string from;                                       ///< path of a trajectory, instead; empty: none
  int step = -1;                                          ///< of its frame; -1: the last one
  Place place;                                            ///< of the path
};

/// Triangles in a file that a body touches by, read when the run begins; they lie where the body's mesh does.
struct SurfaceFile {
  std::string file;
  double scale = 1.0;
  Place place;
};

/// A body of a scene of several. Its materials are among the scene's, for regions BODY/….
struct BodyEntry {
  /// Solid: tetrahedra with a material. Obstacle: triangles without mass, at rest where nothing moves them. Cells:
  /// cells of a model.
  enum class Kind { solid, obstacle, cells };
  std::string name;
  Kind kind = Kind::solid;
  bool affine = false;               ///< of a solid: moves as one affine map; `mesh` gives its surface
  const CellModel* cells = nullptr;  ///< model of a body of `Kind::cells`
  MeshSection mesh;
  Placement placement;
  InitialSection initial;                         ///< instead of the scene's
  std::optional<double> thickness;                ///< in contact, m
  std::optional<std::array<double, 3>> director;  ///< of rods: a vector across all segments
  std::optional<SurfaceFile> surface;
  Place place;
};

/// A rigid motion: `axis` through `origin`; rates of one step or of all.
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
  bool clamp = false;          ///< fix: and directions
  /// traction, wind, moment: [3], [steps, 3]; pressure: [], [steps]; nodal_load: [3], [N, 3], [steps, 3], [steps, N, 3]
  Numbers load;
  double drag = 0.0;             ///< wind: kg/m³
  std::optional<RegionName> to;  ///< attach: the region that this one is attached to
  double stiffness = 0.0;        ///< attach: N/m
  MoveSection move;
  Place place;
};

/// An obstacle whose triangles are in a file, read when the run begins.
struct MeshFileObstacle {
  std::size_t obstacle = 0;  ///< in ContactOptions::meshes
  std::string file;
  double scale = 1.0;
  std::optional<bool> solid;
  Place place;
};

struct ContactSection {
  ContactOptions options;
  std::vector<std::string> labels;   ///< of all obstacles, in the scene's order
  std::vector<std::string> turning;  ///< of those that turn
  std::vector<std::string> thick;    ///< of those with a thickness
  std::vector<MeshFileObstacle> files;
  std::optional<SurfaceFile> surface;  ///< of the one body of a scene without `bodies`
  std::vector<Place> pair_places;      ///< of `options.pairs`
  Place place;
};

struct TrackObjective {
  std::string observations;               ///< path
  std::optional<std::vector<int>> steps;  ///< none: all there are
  RegionName region;
  Place place;  ///< of the path
};

struct TargetObjective {
  RegionName region;
  std::array<double, 3> target{};
  int step = -1;  ///< -1: last
};

struct ObjectiveEntry {
  std::variant<TrackObjective, TargetObjective> kind;
  double weight = 1.0;
  Place place;
};

struct ParameterEntry {
  enum class Per { global, region, cell, segment, step, vertex, vertex_step, segment_step, triangle };
  std::string name;
  std::string label;  ///< in files and messages: the name as the scene has it, which may be a key of a material
  Per per = Per::global;
  std::optional<RegionName> region;
  /// The value to begin with: shaped as the gradient, or less where one stands for all; none: as the scene says.
  std::optional<Numbers> initial;
  std::vector<std::pair<RegionName, double>> initial_by_region;  ///< instead, for `per: region`
  std::optional<Numbers> map;  ///< a dataset of modes, [M, C] or [M, N, 3], whose M factors are sought
  double lower = -std::numeric_limits<double>::infinity();
  double upper = std::numeric_limits<double>::infinity();
  Place bounds_place;
  std::optional<bool> logarithmic;  ///< none: what suits the parameter
  Place place;

  bool is_by_step() const { return per == Per::step || per == Per::vertex_step || per == Per::segment_step; }
};

struct OutputSection {
  std::string directory = "out";
  int every = 1;
  std::vector<std::string> fields{"positions", "velocities"};
  std::string log;  ///< `simulate`: file of what each step took; empty: none
  Place place;
};

/// A scene as the user wrote it, checked as far as that is possible without reading other files.
struct Scene {
  std::string file;
  MeshSection mesh;               ///< of the one body without a name
  std::vector<BodyEntry> bodies;  ///< instead; empty: there is one without a name
  std::vector<RegionEntry> regions;
  std::vector<MaterialEntry> materials;
  bool material_list = false;
  std::map<std::string, Numbers> signals;  ///< of the materials' laws: [] or [steps]
  SolverSection solver;
  InitialSection initial;
  std::vector<BoundaryEntry> boundary;
  std::optional<ContactSection> contact;
  std::vector<ObjectiveEntry> objectives;
  std::vector<ParameterEntry> parameters;
  CheckpointOptions checkpoint;
  bool measure_error = false;  ///< of a gradient that is an approximation
  Place checkpoint_place;
  OptimiserOptions optimiser;
  OutputSection output;
  std::vector<std::pair<std::string, std::string>> petsc;  ///< `-name`, value
};

/// Hashes of the sections of a scene that its results depend on, and of the files named there. Serial: for one rank.
ProblemParts problem_parts(const std::string& text, const std::string& file);

/// Name of the body that a region is of, BODY/REGION; empty where the scene has no such body.
std::string body_of_region(const Scene& scene, const std::string& region);

/// Reads a scene from its text. Throws InputError. No communication, no other file is opened.
Scene parse_scene(const std::string& text, const std::string& file);

/// Spec of a parameter, by its name with or without `:LABEL`; one of any number for a name that is not known.
ParameterSpec spec_of(const std::string& parameter);
/// Whether a parameter belongs to an entry of `boundary`, whose region it is told by.
bool is_of_boundary(const std::string& parameter);
/// "Pa"; "1" for a number without unit.
std::string unit_of(const std::string& parameter);

/// Whether a parameter is one of materials: of a law, of damping, or of a model of other cells.
bool is_of_material(const ParameterSpec& spec);
/// Choices of `per` that a parameter has in scenes; the default first.
std::vector<ParameterEntry::Per> per_of(const ParameterSpec& spec);
/// The word a scene uses: "global", "region", …
std::string to_string(ParameterEntry::Per per);

}  // namespace diffsim::app
