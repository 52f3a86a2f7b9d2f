// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
#include <fmt/core.h>

#include <algorithm>
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

namespace diffsim {
namespace sensor {
namespace {

using Numbers = std::vector<double>;

/// Image of the number of visible layers of a surface, [height, width], row 0 at the top. The value n of a pixel is the
/// sum of the areas of all visible triangles inside a square of `filter` × `filter` pixels around the centre of the
/// pixel, divided by the area of the square.
class LayerImage {
 public:
  /// Throws Error (input) for invalid values of the camera. Collective.
  LayerImage(const TetrahedralMesh& mesh, const Camera& camera, const std::string& region, int filter)
      : comm_(mesh.comm()), view_(camera), surface_(mesh, region), margin_((filter - 1) / 2) {}

  MPI_Comm comm() const { return comm_; }
  std::size_t num_pixels() const {
    return static_cast<std::size_t>(view_.width()) * static_cast<std::size_t>(view_.height());
  }
  Numbers positions(const State& state) const { return surface_.positions(state); }

  /// Returns n for each pixel, at the positions `x`. Throws Error (run) for a vertex behind the camera,
  /// and for a position that is not finite. Collective.
  Numbers values(const Numbers& x) const {
    Numbers image(num_pixels(), 0.0);
    collectively(comm_, [&] {
      for (std::size_t t = 0; t < surface_.size(); ++t) {
        const auto corners = surface_.corners<double>(t, x, {});
        for (const SpacePoint<double>& corner : corners) require_in_front(view_, corner, "a silhouette");
        const ImageTriangle<double> q = images(corners);
        const double weight = weight_of(t, q);
        if (weight == 0.0) continue;
        for_each_pixel(q,
                       [&](std::size_t pixel, const PixelBox& box) { image[pixel] += weight * area_inside(q, box); });
      }
    });
    return total(std::move(image));
  }
  /// Returns the derivatives of `values` along `dx`. Collective.
  Numbers tangents(const Numbers& x, const Numbers& dx) const {
    Numbers image(num_pixels(), 0.0);
    for (std::size_t t = 0; t < surface_.size(); ++t) {
      const ImageTriangle<double> q = images(surface_.corners<double>(t, x, {}));
      const ImageTriangle<Dual<double, 1>> moved = images(surface_.corners<Dual<double, 1>>(t, x, dx));
      const double weight = weight_of(t, q);
      if (weight == 0.0) continue;
      for_each_pixel(q, [&](std::size_t pixel, const PixelBox& box) {
        ImageTriangle<double> slope{};
        add_area_gradient(q, box, weight, slope);
        for (std::size_t k = 0; k < 3; ++k)
          for (std::size_t c = 0; c < 2; ++c) image[pixel] += slope[k][c] * moved[k][c].derivative[0];
      });
    }
    return total(std::move(image));
  }
  /// Adds the derivatives of Σ w_i n_i with respect to the positions, for weights w of the pixels i, to `adjoint`.
  void add_adjoint(const Numbers& x, const Numbers& w, State& adjoint) const {
    surface_.add_adjoint(adjoints<double>(x, {}, w, {}), adjoint);
  }
  /// Adds the derivatives, along `dx` and `dw`, of the values that `add_adjoint` adds.
  void add_adjoint_tangent(const Numbers& x, const Numbers& dx, const Numbers& w, const Numbers& dw,
                           State& adjoint_tangent) const {
    surface_.add_adjoint(adjoints<Dual<double, 1>>(x, dx, w, dw), adjoint_tangent);
  }

 private:
  template <class T>
  ImageTriangle<T> images(const std::array<SpacePoint<T>, 3>& corners) const {
    return {view_.project(corners[0]), view_.project(corners[1]), view_.project(corners[2])};
  }
  /// Returns the factor of the area of triangle t inside a square: the sign of the triangle's area, divided by the area
  /// of the square. The factor is 0 for a triangle that is not visible.
  double weight_of(std::size_t t, const ImageTriangle<double>& q) const {
    const double area = signed_area(q), filter = 2.0 * margin_ + 1.0;
    return !surface_.shows(t, area) ? 0.0 : (area > 0.0 ? 1.0 : -1.0) / (filter * filter);
  }
  /// Calls visit(pixel, box) for each pixel of the image whose square may overlap the triangle.
  template <class Visit>
  void for_each_pixel(const ImageTriangle<double>& q, const Visit& visit) const {
    std::array<int, 2> first, last;
    const std::array<int, 2> size{view_.width(), view_.height()};
    for (std::size_t c = 0; c < 2; ++c) {
      const double low = std::min({q[0][c], q[1][c], q[2][c]}), high = std::max({q[0][c], q[1][c], q[2][c]});
      const auto bounded = [&](double value) { return static_cast<int>(std::clamp(value, -1.0, size[c] + 0.0)); };
      first[c] = std::max(0, bounded(std::floor(low) - margin_));
      last[c] = std::min(size[c] - 1, bounded(std::ceil(high) + margin_ - 1.0));
    }
    for (int j = first[1]; j <= last[1]; ++j)
      for (int i = first[0]; i <= last[0]; ++i) {
        const PixelBox box{{i - margin_ + 0.0, j - margin_ + 0.0}, {i + margin_ + 1.0, j + margin_ + 1.0}};
        visit(
            static_cast<std::size_t>(size[1] - 1 - j) * static_cast<std::size_t>(size[0]) + static_cast<std::size_t>(i),
            box);
      }
  }
  /// Returns this rank's contributions to the derivatives of Σ w_i n_i with respect to the positions or, with T = Dual,
  /// the derivatives of these contributions along dx and dw.
  template <class T>
  Numbers adjoints(const Numbers& x, const Numbers& dx, const Numbers& w, const Numbers& dw) const {
    Numbers bar(x.size(), 0.0);
    for (std::size_t t = 0; t < surface_.size(); ++t) {
      const auto corners = surface_.corners<T>(t, x, dx);
      const ImageTriangle<T> q = images(corners);
      const ImageTriangle<double> at = images(surface_.corners<double>(t, x, {}));
      const double weight = weight_of(t, at);
      if (weight == 0.0) continue;
      ImageTriangle<T> q_bar{};
      for_each_pixel(at, [&](std::size_t pixel, const PixelBox& box) {
        add_area_gradient(q, box, weighted<T>(weight, w, dw, pixel), q_bar);
      });
      for (std::size_t k = 0; k < 3; ++k) {
        SpacePoint<T> x_bar{};
        view_.add_adjoint(corners[k], q_bar[k], x_bar);
        for (std::size_t c = 0; c < 3; ++c) bar[surface_.index(t, k, c)] += wanted(x_bar[c]);
      }
    }
    return bar;
  }
  /// Returns the product of a factor and the weight w of a pixel; with T = Dual, also the derivative of the product.
  template <class T>
  static T weighted(double factor, const Numbers& w, const Numbers& dw, std::size_t pixel) {
    if constexpr (std::is_same_v<T, double>) {
      return factor * w[pixel];
    } else {
      T result;
      result.value = factor * w[pixel];
      result.derivative[0] = factor * dw[pixel];
      return result;
    }
  }
  static double wanted(double value) { return value; }
  static double wanted(const Dual<double, 1>& value) { return value.derivative[0]; }
  /// Returns the sum of an image over all ranks. Collective.
  Numbers total(Numbers image) const {
    DIFFSIM_MPI(MPI_Allreduce(MPI_IN_PLACE, image.data(), static_cast<int>(image.size()), MPI_DOUBLE, MPI_SUM, comm_));
    return image;
  }

  MPI_Comm comm_;
  CameraView view_;
  ImageSurface surface_;
  int margin_;  // (filter - 1)/2
};

/// Coverage c(n) of a pixel with n layers, and derivatives of c: c = n³ (10 - 15 n + 6 n²) for n < 1, else 1.
struct Coverage {
  double value, slope, curvature;
  explicit Coverage(double layers) {
    const double n = std::clamp(layers, 0.0, 1.0);
    value = n * n * n * (10.0 - 15.0 * n + 6.0 * n * n);
    slope = 30.0 * n * n * (1.0 - n) * (1.0 - n);
    curvature = 60.0 * n * (1.0 - n) * (1.0 - 2.0 * n);
  }
};

/// Loss 1/(2 N) Σ r² of the residuals r = c(n) - c(m) of all observed pixels, with the layers n of the surface and the
/// mean m of a mask over the square of the filter.
class SilhouetteLoss final : public Loss {
 public:
  SilhouetteLoss(const TetrahedralMesh& mesh, const Camera& camera, const std::map<int, Numbers>& masks,
                 const SilhouetteOptions& options)
      : image_(mesh, camera, options.region, options.filter) {
    for (const auto& [step, mask] : masks) {
      observed_[step] = coverages(mask, camera, options.filter);
      for (const double c : observed_[step]) count_ += std::isnan(c) ? 0.0 : 1.0;
    }
    if (!(count_ > 0.0)) throw Error("no pixel of a silhouette is observed", ErrorKind::input);
  }

  double num_observations() const override { return count_; }
  bool observes(int n) const override { return observed_.count(n) > 0; }
  double value(int n, const State& state, const ParameterSet&) override {
    double sum = 0.0;
    const Numbers layers = image_.values(image_.positions(state));
    const Numbers& observed = observed_.at(n);
    for (std::size_t i = 0; i < layers.size(); ++i)
      if (!std::isnan(observed[i])) sum += 0.5 * std::pow(Coverage(layers[i]).value - observed[i], 2);
    return is_first_rank(image_.comm()) ? sum / count_ : 0.0;
  }
  double tangent(int n, const State& state, const ParameterSet&, const State& tangent, const ParameterSet&) override {
    const Numbers x = image_.positions(state);
    const Numbers w = slopes(n, image_.values(x)), dn = image_.tangents(x, image_.positions(tangent));
    double sum = 0.0;
    for (std::size_t i = 0; i < w.size(); ++i) sum += w[i] * dn[i];
    return is_first_rank(image_.comm()) ? sum : 0.0;
  }
  void add_gradient(int n, const State& state, const ParameterSet&, State& adjoint, ParameterSet&) override {
    const Numbers x = image_.positions(state);
    image_.add_adjoint(x, slopes(n, image_.values(x)), adjoint);
  }
  void add_gradient_tangent(int n, const State& state, const ParameterSet&, const State& tangent, const ParameterSet&,
                            State& adjoint_tangent, ParameterSet&) override {
    const Numbers x = image_.positions(state), dx = image_.positions(tangent), layers = image_.values(x);
    image_.add_adjoint_tangent(x, dx, slopes(n, layers), slope_changes(n, layers, image_.tangents(x, dx), true),
                               adjoint_tangent);
  }
  void add_gauss_newton(int n, const State& state, const ParameterSet&, const State& tangent, const ParameterSet&,
                        State& adjoint, ParameterSet&) override {
    const Numbers x = image_.positions(state), dx = image_.positions(tangent), layers = image_.values(x);
    image_.add_adjoint(x, slope_changes(n, layers, image_.tangents(x, dx), false), adjoint);
  }

 private:
  /// Returns c(m) for each pixel of a mask; NaN if the square of the filter is not inside the image, or contains a
  /// pixel that is NaN. Throws Error (input) for a wrong number of pixels, and for values outside of [0, 1].
  static Numbers coverages(const Numbers& mask, const Camera& camera, int filter);
  /// Returns the derivative of the loss with respect to the layers of each pixel.
  Numbers slopes(int n, const Numbers& layers) const {
    const Numbers& observed = observed_.at(n);
    Numbers w(layers.size(), 0.0);
    for (std::size_t i = 0; i < w.size(); ++i) {
      const Coverage c(layers[i]);
      if (!std::isnan(observed[i])) w[i] = (c.value - observed[i]) * c.slope / count_;
    }
    return w;
  }
  /// Returns the derivative of the result of `slopes` along the change `dn` of the layers, with or without the second
  /// derivative of c.
  Numbers slope_changes(int n, const Numbers& layers, const Numbers& dn, bool with_curvature) const {
    const Numbers& observed = observed_.at(n);
    Numbers dw(layers.size(), 0.0);
    for (std::size_t i = 0; i < dw.size(); ++i) {
      const Coverage c(layers[i]);
      const double curvature = with_curvature ? (c.value - observed[i]) * c.curvature : 0.0;
      if (!std::isnan(observed[i])) dw[i] = (c.slope * c.slope + curvature) * dn[i] / count_;
    }
    return dw;
  }

  LayerImage image_;
  std::map<int, Numbers> observed_;  // by step: c(m) of each pixel, NaN if not observed
  double count_ = 0.0;               // number of observed pixels of all steps
};

Numbers SilhouetteLoss::coverages(const Numbers& mask, const Camera& camera, int filter) {
  const int width = camera.width, height = camera.height, margin = (filter - 1) / 2;
  const auto at = [&](int row, int column) {
    return mask[static_cast<std::size_t>(row) * static_cast<std::size_t>(width) + static_cast<std::size_t>(column)];
  };
  if (mask.size() != static_cast<std::size_t>(width) * static_cast<std::size_t>(height))
    throw Error(fmt::format("a mask has {} pixels; the image of the camera has {} rows of {} pixels", mask.size(),
                            height, width),
                ErrorKind::input);
  if (std::any_of(mask.begin(), mask.end(), [](double m) { return !std::isnan(m) && !(m >= 0.0 && m <= 1.0); }))
    throw Error("a pixel of a mask is outside of [0, 1]; give the covered part of each pixel, or NaN",
                ErrorKind::input);
  Numbers result(mask.size(), std::numeric_limits<double>::quiet_NaN());
  for (int row = margin; row < height - margin; ++row)
    for (int column = margin; column < width - margin; ++column) {
      double sum = 0.0;  // NaN if a pixel is not observed
      for (int i = row - margin; i <= row + margin; ++i)
        for (int j = column - margin; j <= column + margin; ++j) sum += at(i, j);
      const double mean = sum / (filter * filter);
      if (!std::isnan(mean))
        result[static_cast<std::size_t>(row) * static_cast<std::size_t>(width) + static_cast<std::size_t>(column)] =
            Coverage(mean).value;
    }
  return result;
}

}  // namespace
}  // namespace sensor

std::unique_ptr<Loss> make_silhouette_loss(const TetrahedralMesh& mesh, const Camera& camera,
                                           const std::map<int, std::vector<double>>& masks,
                                           const SilhouetteOptions& options) {
  if (options.filter < 1 || options.filter % 2 == 0)
    throw Error(fmt::format("the filter of a silhouette is {} pixels wide; give an odd number", options.filter),
                ErrorKind::input);
  if (!masks.empty() && masks.begin()->first < 0)
    throw Error(fmt::format("step {} is negative; the first step is 0", masks.begin()->first), ErrorKind::input);
  return std::make_unique<sensor::SilhouetteLoss>(mesh, camera, masks, options);
}

std::vector<double> silhouette(const TetrahedralMesh& mesh, const Camera& camera, const State& state,
                               const std::string& region) {
  const sensor::LayerImage image(mesh, camera, region, 1);
  std::vector<double> covered = image.values(image.positions(state));
  for (double& part : covered) part = std::clamp(part, 0.0, 1.0);
  return covered;
}

}  // namespace diffsim
