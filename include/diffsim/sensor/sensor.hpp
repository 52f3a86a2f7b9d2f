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

/// Measured quantity y(n, x[n], p) of a scene, for example the reaction or the mean strain of a region, where x[n] is
/// the state after n steps and p are the parameters of the scene. A measured quantity has a few components. The
/// derivatives of a sensor require an earlier call of `Model::prepare` for the current parameters. All functions are
/// collective. A sensor must not outlive its scene.
class Sensor {
 public:
  virtual ~Sensor() = default;
  /// Returns the name of the measured quantity for messages, for example "reaction of region 'foot'".
  virtual std::string name() const = 0;
  /// Returns the unit of the measured quantity, for example "N".
  virtual std::string unit() const = 0;
  /// Returns the names of the components of the measured quantity, for example "x", "y" and "z".
  virtual std::vector<std::string> components() const = 0;
  /// Returns the communicator of the scene's mesh.
  virtual MPI_Comm comm() const = 0;

  /// Returns the value y of the sensor, [components], at the state x[n] = `state` and the current parameters, on every
  /// rank. The function `value` does not require an earlier call of `Model::prepare`.
  virtual std::vector<double> value(int n, const State& state) = 0;
  /// Returns, on every rank, the derivative of the sensor's value, [components], along the changes `tangent` of the
  /// state and `direction` of the parameters. `tangent()` requires an earlier call of `Model::prepare_tangent`.
  virtual std::vector<double> tangent(int n, const State& state, const State& tangent,
                                      const ParameterSet& direction) = 0;
  /// Adds (∂y/∂x)ᵀ w to the entries of `adjoint` at owned vertices, and this rank's contribution to (∂y/∂p)ᵀ w to
  /// `gradient`, for the sensor's value y at state x and parameters p, and a vector w [components]. The Model sums the
  /// derivatives of sensors with respect to masses and other results of `Model::prepare`: `Model::begin_adjoint` zeroes
  /// these sums, and `Model::prepare_adjoint` adds the contribution of the sums to a gradient.
  virtual void add_adjoint(int n, const State& state, const std::vector<double>& w, State& adjoint,
                           ParameterSet& gradient) = 0;
  /// Adds the derivatives of (∂y/∂x)ᵀ w and (∂y/∂p)ᵀ w, which `add_adjoint` computes for the sensor's value y, along
  /// the changes `tangent` of the state, `direction` of the parameters and `dw` of the vector w, to `adjoint_tangent`
  /// and `gradient_tangent`. `add_adjoint_tangent` requires an earlier call of `Model::begin_adjoint_tangent`.
  virtual void add_adjoint_tangent(int n, const State& state, const State& tangent, const ParameterSet& direction,
                                   const std::vector<double>& w, const std::vector<double>& dw, State& adjoint_tangent,
                                   ParameterSet& gradient_tangent) = 0;
};

/// Region or material point at which a sensor measures.
struct SensorPlace {
  std::string region = "all";  ///< name of a region of the scene's mesh
  /// Rest position (m) of a material point inside a tetrahedron. If `point` has a value, `region` must be `all`. The
  /// barycentric coordinates of a sensor's point in the tetrahedron do not change, even if the rest shape changes. In
  /// an affine body, which a single tetrahedron represents, a point may be outside the tetrahedron.
  std::optional<std::array<double, 3>> point = {};
  std::string body = {};  ///< name of the body that contains `point`; may be empty if the mesh has one body
};

/// Quantity that a sensor measures. The function `sensor_types` gives the unit and the components of each quantity.
enum class SensorQuantity {
  position,          ///< mean position of a region's vertices, or position of a point (m)
  displacement,      ///< mean displacement of a region's vertices, or displacement of a point (m)
  velocity,          ///< mean velocity of a region's vertices, or velocity of a point (m/s)
  distance,          ///< distance between the positions of two regions or points (m)
  center_of_mass,    ///< centre of mass of a region's vertices (m)
  momentum,          ///< momentum Σ m v of a region's vertices with masses m and velocities v (kg m/s)
  angular_momentum,  ///< angular momentum of a region's vertices about the point `SensorSpec::about` (kg m²/s)
  kinetic_energy,    ///< kinetic energy ½ Σ m v² of a region's vertices with masses m and velocities v (J)
  volume,            ///< current volume of a region's tetrahedra (m³)
  strain,            ///< mean Green–Lagrange strain of a region's tetrahedra
  stress,            ///< mean Cauchy stress of the elastic laws in a region's tetrahedra (Pa)
  von_mises,         ///< power mean of the von Mises stresses of a region's tetrahedra (Pa); see `SensorSpec::power`
  work,              ///< ∫ P : ∇u dV over a region's tetrahedra, with Piola stress P and displacement u (J)
  reaction,          ///< sum of the constraint forces that fix or move a region's vertices (N)
  moment,            ///< moment of a region's reaction about the point `SensorSpec::about` (N m)
  contact_force,     ///< contact force that `between[1]` exerts on `between[0]` (N); see `SensorSpec::between`
  friction_force,    ///< part of the contact force that is due to friction (N); see `SensorSpec::between`
  contact_pressure,  ///< mean contact pressure (Pa), weighted by the normal contact forces at the vertices
  /// Mean acceleration f/m + g (m/s²) of a region's vertices with forces f, masses m and gravity g, or acceleration of
  /// a point.
  acceleration,
};

/// Description of a sensor (`DifferentiableScene::sensor`).
struct SensorSpec {
  SensorQuantity quantity = SensorQuantity::position;  ///< quantity that the sensor measures
  SensorPlace place = {};                              ///< region or point at which the quantity is measured
  std::optional<SensorPlace> other = {};               ///< second region or point; only for the quantity `distance`
  std::array<double, 3> about{};  ///< reference point (m) for moment and angular momentum; default: the origin
  double power = 8.0;             ///< exponent of the power mean of the quantity `von_mises`, at least 2
  /// Two surfaces in contact, for the quantities `contact_force`, `friction_force` and `contact_pressure`: names of
  /// bodies of the mesh ("body" if the mesh has a single body without a name), names of obstacles, or names of regions
  /// of a body's surface (in a mesh of several bodies, BODY/REGION). The two surfaces `between[0]` and `between[1]`
  /// must not belong to the same body. The name `between[1]` may be "all": all bodies and obstacles except the body or
  /// obstacle of `between[0]`. Sensors do not measure contact of a body with itself.
  std::array<std::string, 2> between = {};
};

/// Description of a quantity that sensors measure: name in scene files, unit, names of the components, and meaning.
struct SensorType {
  SensorQuantity quantity{};            ///< quantity that the sensor measures
  std::string name,                     ///< name of the quantity in scene files
      unit;                             ///< SI unit; "1" if dimensionless
  std::vector<std::string> components;  ///< names of the components, for example x, y and z
  std::string meaning;                  ///< description of the quantity
};

/// Returns the descriptions of all sensor quantities, in the order of SensorQuantity.
const std::vector<SensorType>& sensor_types();
/// Returns the description of a sensor quantity.
const SensorType& type_of(SensorQuantity quantity);
/// Returns the sensor quantity called `name`. Throws Error (input) if no quantity is called `name`; the message
/// suggests a similar name.
SensorQuantity sensor_quantity_named(const std::string& name);

/// Options of a SensorLoss.
struct SensorLossOptions {
  /// Covariance matrix C of the errors of the sensor's components, [components, components]; empty: identity matrix.
  std::vector<double> covariance = {};
  /// Threshold δ of Huber's loss, in the unit of the sensor: differences of at most δ between sensor and observation
  /// contribute quadratically to the loss, and larger differences linearly. If `huber` is 0, all contributions to the
  /// loss are quadratic. `huber` must be 0 if `covariance` is not empty.
  double huber = 0.0;
};

/// Loss 1/(2 |S|) Σ_{n∈S} (y_n - ŷ_n)ᵀ C⁻¹ (y_n - ŷ_n) for observed values ŷ_n of a sensor, where y_n are the sensor's
/// values at the states x[n], C is a covariance matrix, and S is the set of the numbers n of states with at least one
/// observed component.
///
/// A component of the observed value ŷ_n that is NaN counts as not observed. If some components of the observed value
/// ŷ_n are NaN, the loss sums over the other components, and C⁻¹ is the inverse of the submatrix of the covariance
/// matrix C for the other components. With the threshold `huber` = δ > 0, each component r of the difference y_n - ŷ_n
/// between sensor and observation contributes ½ r² if |r| ≤ δ, else δ (|r| - δ/2) (Huber 1964), so that outliers have
/// less influence.
class SensorLoss final : public Loss {
 public:
  /// `observed`: map from the number n of each observed state to the observed value ŷ_n of the sensor, [components], in
  /// which NaN marks components that are not observed. Throws Error (input) if no component is observed, for a wrong
  /// number of components, for a negative number of a state, for infinite values, for options that SensorLossOptions
  /// excludes, and for a `covariance` that is not symmetric and positive definite.
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
  /// Returns the derivative of the loss with respect to the sensor's residual `r` at state n.
  std::vector<double> slope(int n, const std::vector<double>& r) const;
  /// Returns the derivative of the result of `slope` along the change `dr` of the residual.
  std::vector<double> slope_change(int n, const std::vector<double>& r, const std::vector<double>& dr) const;
  double scale() const { return factor_ / num_observations(); }

  std::shared_ptr<Sensor> sensor_;
  std::map<int, Observed> observed_;
  SensorLossOptions options_;
  double factor_ = 1.0;
};

/// Loss 1/|S| Σ_{n∈S} w · φ(y_n), where y_n are the values of a sensor at the states x[n], S is a set of numbers n, w
/// are weights of the components, and φ(y) is y or, with a power p, |y|^p for each component y. A SensorValueLoss suits
/// optimisation constraints, and objectives that are not least-squares residuals, such as a compliance. For large
/// powers p, the p-th root of the mean of |y|^p over the states tends to the largest |y| of the sensor's values y.
class SensorValueLoss final : public Loss {
 public:
  /// `weights`: weight of each component of the sensor. `steps`: numbers n of the states x[n] over which the loss
  /// averages, each at most once. `power`: exponent p ≥ 2 of φ(y) = |y|^p for the sensor's values y; no exponent means
  /// φ(y) = y. Throws Error (input) for a power that is below 2 or not finite, for an empty list `steps`, for negative
  /// or repeated steps, and for a wrong number of weights.
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
  /// returns the derivative of the result of `slope` along the change `dy` of the sensor's value.
  std::vector<double> slope(const std::vector<double>& y) const;
  std::vector<double> slope_change(const std::vector<double>& y, const std::vector<double>& dy) const;

  std::shared_ptr<Sensor> sensor_;
  std::vector<double> weights_;  // w/|S|, times the factors of `multiply`
  std::vector<int> steps_;       // in ascending order
  std::optional<double> power_;
};

/// Makes the loss 1/(2N) Σ |x - x̂|² (m²), where x̂ are observed positions of material points, and x are the positions
/// of the points in the simulated states. The sum Σ |x - x̂|² is over all observed coordinates of all points and
/// states. The number N in the loss 1/(2N) Σ |x - x̂|² is the number of pairs (point, state) with at least one observed
/// coordinate. A coordinate of an observed position that is NaN counts as not observed. The barycentric coordinates of
/// each material point in its tetrahedron do not change, even if the rest shape changes. Every rank must pass all
/// observed points. Throws Error (input) for a point outside its body unless the body is affine, a wrong number of
/// coordinates, negative step numbers, infinite coordinates, and if no coordinate is observed. Collective.
std::unique_ptr<Loss> make_point_track_loss(const TetrahedralMesh& mesh, const std::vector<ObservedPoints>& observed);

/// Camera without distortion, whose image has square pixels.
struct Camera {
  std::array<double, 3> position{0.0, 0.0, 1.0};  ///< position of the camera, m
  std::array<double, 3> target = {};              ///< point at the centre of the image, m
  std::array<double, 3> up{0.0, 1.0, 0.0};        ///< vector, of any length, that points upwards in the image
  double field_of_view = 0.7;  ///< angle between the upper and the lower edge of the image, in (0, π), rad
  /// Distance (m) between the upper and the lower edge of the image of an orthographic camera, which does not use
  /// `field_of_view`; 0 for a pinhole camera.
  double view_height = 0.0;
  int width = 64;   ///< number of pixels in a row of the image
  int height = 64;  ///< number of rows of pixels in the image
};

/// Options of a silhouette loss (`make_silhouette_loss`).
struct SilhouetteOptions {
  /// Region whose boundary faces and triangles form the silhouette. In a mesh with affine bodies, the region must be
  /// `all`, BODY/all, or a region BODY/REGION of a body that is not affine.
  std::string region = "all";
  /// Odd side length, in pixels, of the square around each pixel over which image and masks are averaged. With a larger
  /// `filter`, the gradient of the loss remains nonzero for silhouettes that are farther apart in image and mask.
  int filter = 1;
};

/// Makes the loss 1/(2N) Σ_i (c(n_i) - c(m_i))², which compares the image n_i of a surface with observed masks m_i
/// through a function c; the sum is over the N observed pixels i of all masks. In the silhouette loss, the value n_i of
/// pixel i is the sum of the areas of the visible triangles inside a square of `filter` × `filter` pixels around pixel
/// i, divided by the area of the square. The value m_i is the mean of the mask over the same square. The function c(n)
/// = n³ (10 - 15 n + 6 n²) for n < 1, and c(n) = 1 for n ≥ 1, limits the effect of surfaces that overlap in the image.
/// In the image, boundary faces of tetrahedra and surfaces of affine bodies are visible from outside only; triangles of
/// other bodies are visible from both sides. A pixel is not observed if the square of `filter` × `filter` pixels around
/// the pixel contains a mask value NaN or extends beyond the image. Occlusion is not modelled: no surface hides another
/// surface. The image of an affine body shows its surface (AffineBody::surface), not the tetrahedron that represents
/// the body. The silhouette loss has first and second derivatives with respect to positions.
///
/// `masks`: map from the number of each observed state to an image [height, width] with row 0 at the top. The value of
/// a pixel is the covered fraction of the pixel, from 0 to 1, or NaN if the pixel is not observed. Every rank must pass
/// the masks of all observed states. Throws Error (input) for a camera or options that Camera and SilhouetteOptions
/// exclude, a region without faces, negative numbers of states, masks of another size than the image, values of pixels
/// outside [0, 1], and if no pixel is observed. `Loss::value` of the silhouette loss throws Error (run) if a vertex of
/// the surface is behind a pinhole camera or has a position that is not finite. Collective.
std::unique_ptr<Loss> make_silhouette_loss(const TetrahedralMesh& mesh, const Camera& camera,
                                           const std::map<int, std::vector<double>>& masks,
                                           const SilhouetteOptions& options = {});
/// Returns the mask of a region in `state`, [height, width], row 0 at the top, on every rank. The value of a pixel is
/// the smaller of 1 and the sum of the areas of the visible triangles inside the pixel, divided by the pixel's area.
/// Collective.
std::vector<double> silhouette(const TetrahedralMesh& mesh, const Camera& camera, const State& state,
                               const std::string& region = "all");

/// Options of a depth loss (`make_depth_loss`).
struct DepthOptions {
  std::string region = "all";  ///< region whose surface the camera sees; as in SilhouetteOptions
  double huber = 0.0;  ///< threshold δ (m) of Huber's loss ρ, which limits the effect of outliers; 0: ρ(r) = ½ r²
};

/// Makes the loss 1/N Σ_i ρ(Z_i - D_i), which compares the depths Z_i that a camera sees with observed depths D_i; the
/// sum is over the N observed pixels i of all images. The depth of a pixel is the distance (m) from the camera to the
/// first surface of the region on the line of sight through the pixel's centre, measured along the viewing direction of
/// the camera. As in a silhouette loss (`make_silhouette_loss`), boundary faces of tetrahedra and surfaces of affine
/// bodies are visible from outside only. A surface hides the surfaces behind it. Pixels at which the camera sees no
/// surface of the region do not contribute. With δ = `DepthOptions::huber` > 0, ρ(r) = ½ r² for |r| ≤ δ, and δ (|r| - ½
/// δ) otherwise.
///
/// The derivatives of the depth loss are those of the depths of the triangles that the pixels show. The loss jumps if a
/// pixel begins to show another surface; the derivatives do not include these jumps. A silhouette loss, in contrast,
/// has derivatives with respect to the outline of a surface. The depth loss has first and second derivatives with
/// respect to positions.
///
/// `depths`: map from the number of each observed state to an image [height, width] with row 0 at the top, in m; NaN if
/// a pixel is not observed. Every rank must pass the images of all observed states. Throws Error (input) for a camera
/// that Camera excludes, a negative or infinite `huber`, a region without faces, negative numbers of states, images of
/// another size, infinite depths, and if no pixel is observed. `Loss::value` of the depth loss throws Error (run) in
/// the same cases as `Loss::value` of a silhouette loss. Collective.
std::unique_ptr<Loss> make_depth_loss(const TetrahedralMesh& mesh, const Camera& camera,
                                      const std::map<int, std::vector<double>>& depths,
                                      const DepthOptions& options = {});
/// Returns the depths (m) of a region in `state`, [height, width], row 0 at the top, on every rank; NaN for pixels at
/// which the camera sees no surface of the region. Collective.
std::vector<double> depth_image(const TetrahedralMesh& mesh, const Camera& camera, const State& state,
                                const std::string& region = "all");

}  // namespace diffsim
