// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <array>
#include <cstddef>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "diffsim/core/loss.hpp"
#include "diffsim/io/trajectory.hpp"

namespace diffsim {

/// Measured quantity y(n, x[n], p) of a scene, with a few components, for example the reaction of a region or the mean
/// strain of a region. x[n] is the state after n steps, and p are the parameters of the scene. Derivatives require an
/// earlier call of `Model::prepare` for the present parameters. All functions are collective. A sensor must not outlive
/// its scene.
class Sensor {
 public:
  virtual ~Sensor() = default;
  /// Returns the name of the quantity for messages, for example "reaction of region 'foot'".
  virtual std::string name() const = 0;
  /// Returns the unit of y, for example "N".
  virtual std::string unit() const = 0;
  /// Returns the names of the components of y, for example "x", "y" and "z".
  virtual std::vector<std::string> components() const = 0;
  /// Returns the communicator of the scene's mesh.
  virtual MPI_Comm comm() const = 0;

  /// Returns y at the state x[n] = `state` and the present parameters, [components], on every rank. A prior call of
  /// `Model::prepare` is not necessary.
  virtual std::vector<double> value(int n, const State& state) = 0;
  /// Returns, on every rank, the derivative of y along the change `tangent` of the state and the change `direction` of
  /// the parameters, [components]. Requires an earlier call of `Model::prepare_tangent`.
  virtual std::vector<double> tangent(int n, const State& state, const State& tangent,
                                      const ParameterSet& direction) = 0;
  /// Adds (∂y/∂x)ᵀ w to the entries of `adjoint` at owned vertices, and this rank's contribution to (∂y/∂p)ᵀ w to
  /// `gradient`, for a vector w, [components]. Derivatives with respect to masses and to prepared quantities of force
  /// terms are added to sums in the Model, which `Model::begin_adjoint` zeroes and `Model::prepare_adjoint` adds to a
  /// gradient.
  virtual void add_adjoint(int n, const State& state, const std::vector<double>& w, State& adjoint,
                           ParameterSet& gradient) = 0;
  /// Adds the derivatives of the products (∂y/∂x)ᵀ w and (∂y/∂p)ᵀ w of `add_adjoint` along `tangent`, `direction` and
  /// dw. Requires an earlier call of `Model::begin_adjoint_tangent`.
  virtual void add_adjoint_tangent(int n, const State& state, const State& tangent, const ParameterSet& direction,
                                   const std::vector<double>& w, const std::vector<double>& dw, State& adjoint_tangent,
                                   ParameterSet& gradient_tangent) = 0;
};

/// Region or material point at which a sensor measures.
struct SensorPlace {
  std::string region = "all";  ///< name of a region of the scene's mesh
  /// Rest position (m) of a material point inside a tetrahedron. If given, `region` is not used. The point keeps its
  /// barycentric coordinates in the tetrahedron, also if the rest shape changes. The point of a body that one
  /// tetrahedron represents (affine body) may be outside the tetrahedron.
  std::optional<std::array<double, 3>> point = {};
  std::string body = {};  ///< name of the body that contains `point`; may be empty if the mesh has one body
};

/// Quantity that a sensor measures. `sensor_types` gives the unit and the components of each quantity.
enum class SensorQuantity {
  position,          ///< mean position of a region's vertices, or position of a point (m)
  displacement,      ///< mean displacement of a region's vertices, or displacement of a point (m)
  velocity,          ///< mean velocity of a region's vertices, or velocity of a point (m/s)
  distance,          ///< distance between the positions of two regions or points (m)
  center_of_mass,    ///< centre of mass of a region's vertices (m)
  momentum,          ///< Σ m v over a region's vertices with masses m and velocities v (kg m/s)
  angular_momentum,  ///< Σ m (x - o) × v over a region's vertices at x, with o = `SensorSpec::about` (kg m²/s)
  kinetic_energy,    ///< ½ Σ m v² over a region's vertices (J)
  volume,            ///< current volume of a region's tetrahedra (m³)
  strain,            ///< mean Green–Lagrange strain of a region's tetrahedra
  stress,            ///< mean Cauchy stress of the elastic laws in a region's tetrahedra (Pa)
  von_mises,         ///< power mean of the von Mises stresses of a region's tetrahedra (Pa); see `SensorSpec::power`
  work,              ///< ∫ P : ∇u dV over a region's tetrahedra, with Piola stress P and displacement u (J)
  reaction,          ///< sum of the forces that fix or move a region's vertices (N)
  moment,            ///< moment of the reaction about `SensorSpec::about` (N m)
  contact_force,     ///< contact force of `between[1]` on `between[0]` (N); see `SensorSpec::between`
  friction_force,    ///< part of `contact_force` that is due to friction (N)
  contact_pressure,  ///< mean of the pressures of the normal contact forces (Pa), weighted by these forces
  acceleration,      ///< mean acceleration f/m + g of a region's vertices, or acceleration of a point (m/s²)
};

/// Description of a sensor (`DifferentiableScene::sensor`).
struct SensorSpec {
  SensorQuantity quantity = SensorQuantity::position;  ///< quantity that the sensor measures
  SensorPlace place = {};                              ///< region or point at which the quantity is measured
  std::optional<SensorPlace> other = {};               ///< second region or point; only for the quantity `distance`
  std::array<double, 3> about{};  ///< reference point (m) of `moment` and `angular_momentum`; default: the origin
  double power = 8.0;             ///< exponent P of the mean of `von_mises`, at least 2
  /// Two sides of `contact_force`, `friction_force` and `contact_pressure`: names of bodies of the mesh ("body" if the
  /// mesh has a single body without a name), labels of obstacles, or names of regions of a body's surface (in a mesh of
  /// several bodies, BODY/REGION). The two sides must not belong to one body. `between[1]` may be "all": all bodies and
  /// obstacles except the body or obstacle of `between[0]`. Forces of a body on itself are not included.
  std::array<std::string, 2> between = {};
};

/// Description of a quantity that sensors measure: name in scenes, unit, names of the components, and meaning.
struct SensorType {
  SensorQuantity quantity{};            ///< quantity that the sensor measures
  std::string name,                     ///< name of the quantity in scenes
      unit;                             ///< SI unit; "1" if dimensionless
  std::vector<std::string> components;  ///< names of the components, for example x, y and z
  std::string meaning;                  ///< description of the quantity
};

/// Returns the descriptions of all quantities, in the order of SensorQuantity.
const std::vector<SensorType>& sensor_types();
/// Returns the description of a quantity.
const SensorType& type_of(SensorQuantity quantity);
/// Returns the quantity with a name. Throws Error (input) if no quantity has this name; the message suggests a similar
/// name.
SensorQuantity sensor_quantity_named(const std::string& name);

/// Options of a SensorLoss.
struct SensorLossOptions {
  /// Covariance matrix C of the errors of the observed components, row-major [components, components]. If empty, C is
  /// the identity matrix.
  std::vector<double> covariance = {};
  /// Limit δ of Huber's loss, in the unit of the sensor: larger errors contribute linearly instead of quadratically. If
  /// 0, all errors contribute quadratically. Must be 0 if `covariance` is not empty.
  double huber = 0.0;
};

/// Loss for observed values ŷ_n of a sensor: half the mean squared distance between ŷ_n and the sensor's values y_n at
/// the states x[n],
///
///   1/(2 |S|) Σ_{n∈S} (y_n - ŷ_n)ᵀ C⁻¹ (y_n - ŷ_n)
///
/// with the covariance matrix C. S is the set of the numbers n of states with at least one observed component.
/// Components of ŷ_n that are NaN are not observed. If some components are not observed, the sum is over the observed
/// components, and C⁻¹ is the inverse of the matrix of the rows and columns of C that belong to these components. With
/// `huber` δ > 0, each component r of y_n - ŷ_n contributes ½ r² if |r| ≤ δ, else δ (|r| - δ/2) (Huber 1964), so that
/// outliers have less influence.
class SensorLoss final : public Loss {
 public:
  /// `observed`: map from the numbers n of observed states to ŷ_n [components]. Throws Error (input) if no component is
  /// observed, for a wrong number of components, for negative n, for infinite values, and for options that
  /// SensorLossOptions excludes or a `covariance` that is not symmetric and positive definite.
  SensorLoss(std::shared_ptr<Sensor> sensor, std::map<int, std::vector<double>> observed,
             SensorLossOptions options = {});
  std::string unit() const override;
  double num_observations() const override { return static_cast<double>(observed_.size()); }
  bool multiply(double factor) override;
  bool observes(int n) const override { return observed_.count(n) > 0; }
  double value(int n, const State& state, const ParameterSet& parameters) override;
  double tangent(int n, const State& state, const ParameterSet& parameters, const State& tangent,
                 const ParameterSet& direction) override;
  void add_gradient(int n, const State& state, const ParameterSet& parameters, State& adjoint,
                    ParameterSet& gradient) override;
  void add_gradient_tangent(int n, const State& state, const ParameterSet& parameters, const State& tangent,
                            const ParameterSet& direction, State& adjoint_tangent,
                            ParameterSet& gradient_tangent) override;
  void add_gauss_newton(int n, const State& state, const ParameterSet& parameters, const State& tangent,
                        const ParameterSet& direction, State& adjoint, ParameterSet& gradient) override;

 private:
  struct Observed {
    std::vector<double> values;   // ŷ_n
    std::vector<double> weights;  // C⁻¹ with zeros for components that are not observed, [components, components]
  };
  /// Returns the difference y_n - ŷ_n between the sensor's values and the observed values, with zeros in the components
  /// that are not observed.
  std::vector<double> residual(int n, const State& state);
  /// Returns the derivative of the loss with respect to the residual `r` = y_n - ŷ_n.
  std::vector<double> slope(int n, const std::vector<double>& r) const;
  /// Returns the derivative of the result of `slope` along the change `dr` of the residual.
  std::vector<double> slope_change(int n, const std::vector<double>& r, const std::vector<double>& dr) const;
  double scale() const { return factor_ / num_observations(); }

  std::shared_ptr<Sensor> sensor_;
  std::map<int, Observed> observed_;
  SensorLossOptions options_;
  double factor_ = 1.0;
};

/// Loss 1/|S| Σ_{n∈S} w · φ(y_n), where y_n are the values of a sensor at the states x[n], S is a set of numbers n, and
/// w are weights of the components. φ(y) = y or, with a power p, φ(y) = |y|^p for each component. Intended for
/// constraints, and for objectives that are not least-squares residuals, such as a compliance. For large p, the p-th
/// root of the mean of |y|^p tends to the largest |y|.
class SensorValueLoss final : public Loss {
 public:
  /// `weights`: w, [components]. `steps`: numbers n of the states in S, each at most once. `power`: p ≥ 2; no value for
  /// φ(y) = y. Throws Error (input) for other powers, negative or repeated steps, no steps, and a wrong number of
  /// weights.
  SensorValueLoss(std::shared_ptr<Sensor> sensor, std::vector<double> weights, std::vector<int> steps,
                  std::optional<double> power = {});
  std::string unit() const override;
  double num_observations() const override { return static_cast<double>(steps_.size()); }
  bool multiply(double factor) override;
  bool observes(int n) const override;
  double value(int n, const State& state, const ParameterSet& parameters) override;
  double tangent(int n, const State& state, const ParameterSet& parameters, const State& tangent,
                 const ParameterSet& direction) override;
  void add_gradient(int n, const State& state, const ParameterSet& parameters, State& adjoint,
                    ParameterSet& gradient) override;
  void add_gradient_tangent(int n, const State& state, const ParameterSet& parameters, const State& tangent,
                            const ParameterSet& direction, State& adjoint_tangent,
                            ParameterSet& gradient_tangent) override;

 private:
  /// Returns the derivative of a state's contribution to the loss with respect to the sensor's value y. `slope_change`
  /// returns the derivative of this result along dy.
  std::vector<double> slope(const std::vector<double>& y) const;
  std::vector<double> slope_change(const std::vector<double>& y, const std::vector<double>& dy) const;

  std::shared_ptr<Sensor> sensor_;
  std::vector<double> weights_;  // w/|S|, times the factors of `multiply`
  std::vector<int> steps_;       // in ascending order
  std::optional<double> power_;
};

/// Makes the loss 1/(2N) Σ |x - x̂|² (m²) for observed positions x̂ of material points, with the positions x of the
/// points in the states. The sum is over all observed coordinates. N is the number of pairs of a point and a state with
/// at least one observed coordinate. Coordinates of x̂ that are NaN are not observed. The points keep their barycentric
/// coordinates in their tetrahedra. Every rank must pass all points. Throws Error (input) for a point outside the body,
/// a wrong number of coordinates, negative step numbers, infinite coordinates, and if nothing is observed. Collective.
std::unique_ptr<Loss> make_point_track_loss(const TetrahedralMesh& mesh, const std::vector<ObservedPoints>& observed);

/// Camera without distortion, whose image has square pixels.
struct Camera {
  std::array<double, 3> position{0.0, 0.0, 1.0};  ///< position of the camera, m
  std::array<double, 3> target = {};              ///< point at the centre of the image, m
  std::array<double, 3> up{0.0, 1.0, 0.0};        ///< direction that points upwards in the image; any length
  double field_of_view = 0.7;  ///< angle between the upper and the lower edge of the image, in (0, π), rad
  /// Distance (m) between the upper and the lower edge of the image of an orthographic camera, which does not use
  /// `field_of_view`; 0 for a pinhole camera.
  double view_height = 0.0;
  int width = 64;   ///< number of pixels in a row
  int height = 64;  ///< number of rows of pixels
};

/// Options of a silhouette loss (`make_silhouette_loss`).
struct SilhouetteOptions {
  /// Region whose faces and triangles form the silhouette. In a mesh with affine bodies: `all`, BODY/all, or a region
  /// BODY/REGION of a body that is not affine.
  std::string region = "all";
  /// Side of the square, in pixels, over which the image and the masks are averaged; an odd number. A wider square
  /// gives a gradient to silhouettes that are farther apart.
  int filter = 1;
};

/// Makes the loss 1/(2N) Σ (c(n_i) - c(m_i))² for observed masks. The sum is over the N observed pixels i of all masks.
/// n_i is the sum of the areas of the visible triangles in the image inside a square of `filter` × `filter` pixels
/// around pixel i, divided by the area of the square. m_i is the mean of the mask over the square. The function c(n) =
/// n³ (10 - 15 n + 6 n²) for n < 1, else 1, limits the effect of surfaces behind each other. Boundary faces of
/// tetrahedra are visible from outside, triangles of other bodies from both sides. Pixels whose square contains NaN, or
/// extends beyond the image, are not observed. Nothing hides the surface, and affine bodies have their own surfaces.
/// The loss has first and second derivatives with respect to positions.
///
/// `masks`: map from numbers of states to images [height, width], row 0 at the top; a pixel is the covered part of the
/// pixel, from 0 to 1, or NaN. Every rank must pass all masks. Throws Error (input) for a camera or options that Camera
/// and SilhouetteOptions exclude, a region without faces, negative numbers of states, masks of another size, other
/// values of pixels, and if no pixel is observed. `Loss::value` throws Error (run) if a vertex of the surface is behind
/// a pinhole camera, or if its position is not finite. Collective.
std::unique_ptr<Loss> make_silhouette_loss(const TetrahedralMesh& mesh, const Camera& camera,
                                           const std::map<int, std::vector<double>>& masks,
                                           const SilhouetteOptions& options = {});
/// Returns the mask of a region in `state`, [height, width], row 0 at the top, on every rank: for each pixel, the
/// smaller of 1 and the sum of the areas of the visible triangles inside the pixel. Collective.
std::vector<double> silhouette(const TetrahedralMesh& mesh, const Camera& camera, const State& state,
                               const std::string& region = "all");

}  // namespace diffsim
