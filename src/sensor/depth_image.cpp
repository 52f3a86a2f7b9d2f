// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <type_traits>
#include <utility>

#include "diffsim/core/error.hpp"
#include "diffsim/core/runtime.hpp"
#include "diffsim/sensor/sensor.hpp"
#include "sensor/camera_view.hpp"
#include "sensor/evaluation.hpp"
#include "sensor/image_surface.hpp"
#include "sensor/pixel_area.hpp"
#include "sensor/plane_depth.hpp"

namespace diffsim {
namespace sensor {
namespace {

using Numbers = std::vector<double>;
using Along = Dual<double, 1>;

constexpr double nothing = std::numeric_limits<double>::infinity();

/// Depth of the first surface on the line of sight through the centre of each pixel, [height, width], row 0 at the top.
class DepthImage {
 public:
  /// Throws Error (input) for invalid values of the camera. Collective.
  DepthImage(const TetrahedralMesh& mesh, const Camera& camera, const std::string& region)
      : comm_(mesh.comm()), view_(camera), surface_(mesh, region) {}

  MPI_Comm comm() const { return comm_; }
  std::size_t num_pixels() const {
    return static_cast<std::size_t>(view_.width()) * static_cast<std::size_t>(view_.height());
  }
  Numbers positions(const State& state) const { return surface_.positions(state); }

  /// First surface of each pixel.
  struct First {
    Numbers depth;              ///< Z, m; infinite if the pixel shows no surface; the same on all ranks
    std::vector<int> triangle;  ///< number of the triangle on this rank; -1 if another rank owns it, or there is none
  };
  /// Returns the first surface of each pixel at the positions `x`. Throws Error (run) for a vertex behind the camera,
  /// and for a position that is not finite. Collective.
  First first(const Numbers& x) const {
    First found{Numbers(num_pixels(), nothing), std::vector<int>(num_pixels(), -1)};
    collectively(comm_, [&] {
      for (std::size_t t = 0; t < surface_.size(); ++t) add_triangle(t, x, found);
    });
    struct Place {
      double depth;
      int rank;
    };
    std::vector<Place> places;
    for (const double depth : found.depth) places.push_back({depth, rank_of(comm_)});
    DIFFSIM_MPI(
        MPI_Allreduce(MPI_IN_PLACE, places.data(), static_cast<int>(places.size()), MPI_DOUBLE_INT, MPI_MINLOC, comm_));
    for (std::size_t i = 0; i < places.size(); ++i) {
      found.depth[i] = places[i].depth;
      if (places[i].rank != rank_of(comm_)) found.triangle[i] = -1;
    }
    return found;
  }
  /// Returns, for each pixel whose triangle is on this rank, the derivative of the depth along `dx`; 0 for others.
  Numbers tangents(const First& found, const Numbers& x, const Numbers& dx) const {
    Numbers result(num_pixels(), 0.0);
    for (std::size_t i = 0; i < result.size(); ++i)
      if (found.triangle[i] >= 0)
        result[i] = depth_at<Along>(i, static_cast<std::size_t>(found.triangle[i]), x, dx).depth.derivative[0];
    return result;
  }
  /// Adds Σ_i w_i ∂Z_i/∂x to `adjoint`, with the depths Z_i and the weights w of the pixels.
  void add_adjoint(const First& found, const Numbers& x, const Numbers& w, State& adjoint) const {
    surface_.add_adjoint(adjoints<double>(found, x, {}, w, {}), adjoint);
  }
  /// Adds the derivatives, along `dx` and `dw`, of the values that `add_adjoint` adds.
  void add_adjoint_tangent(const First& found, const Numbers& x, const Numbers& dx, const Numbers& w, const Numbers& dw,
                           State& adjoint_tangent) const {
    surface_.add_adjoint(adjoints<Along>(found, x, dx, w, dw), adjoint_tangent);
  }

 private:
  /// Returns the centre of pixel i in the image plane.
  ImagePoint<double> centre(std::size_t i) const {
    const auto width = static_cast<std::size_t>(view_.width());
    return {static_cast<double>(i % width) + 0.5,
            static_cast<double>(view_.height() - 1) - static_cast<double>(i / width) + 0.5};
  }
  template <class T>
  PlaneDepth<T> depth_at(std::size_t pixel, std::size_t t, const Numbers& x, const Numbers& dx) const {
    const std::array<SpacePoint<T>, 3> corners = surface_.corners<T>(t, x, dx);
    return plane_depth<T>({view_.coordinates(corners[0]), view_.coordinates(corners[1]), view_.coordinates(corners[2])},
                          view_.line_through(centre(pixel)));
  }
  /// Returns true if the point p of the image plane is inside the image q of a triangle, or on its border.
  static bool is_inside(const ImageTriangle<double>& q, const ImagePoint<double>& p) {
    const double sign = signed_area(q) > 0.0 ? 1.0 : -1.0;
    for (std::size_t k = 0; k < 3; ++k)
      if (sign * signed_area(ImageTriangle<double>{q[k], q[(k + 1) % 3], p}) < 0.0) return false;
    return true;
  }
  /// Enters the depth of triangle t at all pixels at which the triangle is before the surfaces found so far.
  void add_triangle(std::size_t t, const Numbers& x, First& found) const {
    const auto corners = surface_.corners<double>(t, x, {});
    for (const SpacePoint<double>& corner : corners) require_in_front(view_, corner, "a depth image");
    const ImageTriangle<double> q{view_.project(corners[0]), view_.project(corners[1]), view_.project(corners[2])};
    if (!surface_.shows(t, signed_area(q))) return;
    const std::array<int, 2> size{view_.width(), view_.height()};
    std::array<int, 2> begin, end;  // pixels whose centres may be inside the triangle
    for (std::size_t c = 0; c < 2; ++c) {
      const auto bounded = [&](double value) { return static_cast<int>(std::clamp(value, 0.0, size[c] + 0.0)); };
      begin[c] = bounded(std::ceil(std::min({q[0][c], q[1][c], q[2][c]}) - 0.5));
      end[c] = bounded(std::floor(std::max({q[0][c], q[1][c], q[2][c]}) - 0.5) + 1.0);
    }
    for (int j = begin[1]; j < end[1]; ++j)
      for (int i = begin[0]; i < end[0]; ++i) {
        const std::size_t pixel =
            static_cast<std::size_t>(size[1] - 1 - j) * static_cast<std::size_t>(size[0]) + static_cast<std::size_t>(i);
        if (!is_inside(q, centre(pixel))) continue;
        const double depth = depth_at<double>(pixel, t, x, {}).depth;
        if (!(depth < found.depth[pixel])) continue;
        found.depth[pixel] = depth;
        found.triangle[pixel] = static_cast<int>(t);
      }
  }
  /// Returns this rank's contributions to Σ_i w_i ∂Z_i/∂x or, with T = Dual, the derivatives of these contributions
  /// along dx and dw.
  template <class T>
  Numbers adjoints(const First& found, const Numbers& x, const Numbers& dx, const Numbers& w, const Numbers& dw) const {
    Numbers bar(x.size(), 0.0);
    for (std::size_t i = 0; i < found.triangle.size(); ++i) {
      if (found.triangle[i] < 0) continue;
      const auto t = static_cast<std::size_t>(found.triangle[i]);
      const PlaneDepth<T> at = depth_at<T>(i, t, x, dx);
      T weight(w[i]);
      if constexpr (!std::is_same_v<T, double>) weight.derivative[0] = dw[i];
      for (std::size_t k = 0; k < 3; ++k) {
        SpacePoint<T> of_coordinates, x_bar{T(0.0), T(0.0), T(0.0)};
        for (std::size_t c = 0; c < 3; ++c) of_coordinates[c] = weight * at.gradient[k][c];
        view_.add_coordinates_adjoint(of_coordinates, x_bar);
        for (std::size_t c = 0; c < 3; ++c) bar[surface_.index(t, k, c)] += wanted(x_bar[c]);
      }
    }
    return bar;
  }
  static double wanted(double value) { return value; }
  static double wanted(const Along& value) { return value.derivative[0]; }

  MPI_Comm comm_;
  CameraView view_;
  ImageSurface surface_;
};

/// Loss 1/N Σ ρ(Z - D) of all observed pixels that show a surface, with the observed depths D.
class DepthLoss final : public Loss {
 public:
  DepthLoss(const TetrahedralMesh& mesh, const Camera& camera, std::map<int, Numbers> depths,
            const DepthOptions& options)
      : image_(mesh, camera, options.region), huber_(options.huber), observed_(std::move(depths)) {
    for (const auto& [step, depth] : observed_)
      for (const double D : depth) count_ += std::isnan(D) ? 0.0 : 1.0;
    if (!(count_ > 0.0)) throw Error("no pixel of a depth image is observed", ErrorKind::input);
  }

  std::string unit() const override { return "m²"; }
  double num_observations() const override { return count_; }
  bool observes(int n) const override { return observed_.count(n) > 0; }
  double value(int n, const State& state, const ParameterSet&) override {
    const DepthImage::First found = image_.first(image_.positions(state));
    double sum = 0.0;
    for (std::size_t i = 0; i < found.depth.size(); ++i)
      if (const double r = residual(n, found, i); std::abs(r) <= huber_ || huber_ == 0.0)
        sum += 0.5 * r * r;
      else
        sum += huber_ * (std::abs(r) - 0.5 * huber_);
    return is_first_rank(image_.comm()) ? sum / count_ : 0.0;
  }
  double tangent(int n, const State& state, const ParameterSet&, const State& tangent, const ParameterSet&) override {
    const Numbers x = image_.positions(state), dx = image_.positions(tangent);
    const DepthImage::First found = image_.first(x);
    const Numbers dZ = image_.tangents(found, x, dx), w = slopes(n, found);
    double sum = 0.0;
    for (std::size_t i = 0; i < w.size(); ++i) sum += w[i] * dZ[i];
    return sum;
  }
  void add_gradient(int n, const State& state, const ParameterSet&, State& adjoint, ParameterSet&) override {
    const Numbers x = image_.positions(state);
    const DepthImage::First found = image_.first(x);
    image_.add_adjoint(found, x, slopes(n, found), adjoint);
  }
  void add_gradient_tangent(int n, const State& state, const ParameterSet&, const State& tangent, const ParameterSet&,
                            State& adjoint_tangent, ParameterSet&) override {
    const Numbers x = image_.positions(state), dx = image_.positions(tangent);
    const DepthImage::First found = image_.first(x);
    image_.add_adjoint_tangent(found, x, dx, slopes(n, found), slope_changes(n, found, image_.tangents(found, x, dx)),
                               adjoint_tangent);
  }
  void add_gauss_newton(int n, const State& state, const ParameterSet&, const State& tangent, const ParameterSet&,
                        State& adjoint, ParameterSet&) override {
    const Numbers x = image_.positions(state), dx = image_.positions(tangent);
    const DepthImage::First found = image_.first(x);
    image_.add_adjoint(found, x, slope_changes(n, found, image_.tangents(found, x, dx)), adjoint);
  }

 private:
  /// Returns Z - D of pixel i; 0 if the depth of the pixel is not observed, or the pixel shows no surface.
  double residual(int n, const DepthImage::First& found, std::size_t i) const {
    const double D = observed_.at(n)[i];
    return std::isnan(D) || found.depth[i] == nothing ? 0.0 : found.depth[i] - D;
  }
  /// Returns the derivative of the loss with respect to the depth of each pixel.
  Numbers slopes(int n, const DepthImage::First& found) const {
    Numbers w(found.depth.size());
    for (std::size_t i = 0; i < w.size(); ++i) {
      const double r = residual(n, found, i);
      w[i] = (huber_ > 0.0 ? std::clamp(r, -huber_, huber_) : r) / count_;
    }
    return w;
  }
  /// Returns the derivative of the result of `slopes` along the changes dZ of the depths.
  Numbers slope_changes(int n, const DepthImage::First& found, const Numbers& dZ) const {
    Numbers dw(dZ.size(), 0.0);
    for (std::size_t i = 0; i < dw.size(); ++i) {
      const bool is_linear = huber_ > 0.0 && std::abs(residual(n, found, i)) > huber_;
      if (!is_linear && !std::isnan(observed_.at(n)[i])) dw[i] = dZ[i] / count_;
    }
    return dw;
  }

  DepthImage image_;
  double huber_;
  std::map<int, Numbers> observed_;  // by step: D of each pixel, NaN if not observed
  double count_ = 0.0;               // number of observed pixels of all steps
};

}  // namespace
}  // namespace sensor

std::unique_ptr<Loss> make_depth_loss(const TetrahedralMesh& mesh, const Camera& camera,
                                      const std::map<int, std::vector<double>>& depths, const DepthOptions& options) {
  if (!(options.huber >= 0.0) || !std::isfinite(options.huber))
    throw Error(fmt::format("huber of a depth loss is {}; give a length in m, or 0", options.huber), ErrorKind::input);
  if (!depths.empty() && depths.begin()->first < 0)
    throw Error(fmt::format("step {} is negative; the first step is 0", depths.begin()->first), ErrorKind::input);
  const auto pixels = static_cast<std::size_t>(camera.width) * static_cast<std::size_t>(camera.height);
  for (const auto& [step, depth] : depths) {
    if (depth.size() != pixels)
      throw Error(fmt::format("a depth image has {} pixels; the image of the camera has {} rows of {} pixels",
                              depth.size(), camera.height, camera.width),
                  ErrorKind::input);
    if (std::any_of(depth.begin(), depth.end(), [](double D) { return std::isinf(D); }))
      throw Error("a pixel of a depth image is infinite; give a depth in m, or NaN", ErrorKind::input);
  }
  return std::make_unique<sensor::DepthLoss>(mesh, camera, depths, options);
}

std::vector<double> depth_image(const TetrahedralMesh& mesh, const Camera& camera, const State& state,
                                const std::string& region) {
  const sensor::DepthImage image(mesh, camera, region);
  std::vector<double> depth = image.first(image.positions(state)).depth;
  for (double& Z : depth)
    if (Z == sensor::nothing) Z = std::numeric_limits<double>::quiet_NaN();
  return depth;
}

}  // namespace diffsim
