// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
//
// Python classes of cameras, and of the losses that compare silhouettes and depths with images.

#include <nanobind/stl/array.h>
#include <nanobind/stl/string.h>

#include <array>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "all_ranks.hpp"
#include "arrays.hpp"
#include "bindings.hpp"
#include "diffsim/core/error.hpp"
#include "diffsim/sensor/sensor.hpp"
#include "loss.hpp"
#include "mesh.hpp"

namespace diffsim::python {
namespace {

using Vector = std::array<double, 3>;

/// Python class of the loss that compares silhouettes with masks.
class SilhouetteHandle final : public LossHandle {
 public:
  using LossHandle::LossHandle;
};

/// Python class of the loss that compares depths with observed depths.
class DepthHandle final : public LossHandle {
 public:
  using LossHandle::LossHandle;
};

/// Converts a dict from steps to images of the camera. `what`: an image, for messages.
std::map<int, std::vector<double>> to_images(const nb::dict& images, const Camera& camera, const char* what) {
  std::map<int, std::vector<double>> given;
  const std::vector<std::size_t> shape{static_cast<std::size_t>(camera.height), static_cast<std::size_t>(camera.width)};
  for (const auto [step, image] : images) given[nb::cast<int>(step)] = doubles_of_shape(image, shape, what);
  return given;
}

void bind_depth(nb::module_& module) {
  nb::class_<DepthHandle, LossHandle>(
      module, "DepthLoss",
      "Loss 1/N Σ ρ(Z - D) over the pixels of observed depths D, with the depths Z of a region's surface.")
      .def(
          "__init__",
          [](DepthHandle* self, const MeshHandle& mesh, const Camera& camera, const nb::dict& depths,
             const std::string& region, double huber) {
            const auto given =
                read_on_all_ranks(mesh.get().comm(), [&] { return to_images(depths, camera, "a depth image"); });
            std::shared_ptr<Loss> loss;
            {
              const LibraryScope scope;
              require_same_on_all_ranks(mesh.get().comm(), "region, huber", region, huber);
              loss = make_depth_loss(mesh.get(), camera, given, {.region = region, .huber = huber});
            }
            new (self) DepthHandle(std::move(loss), {mesh.shared()}, {.mesh = &mesh.get()});
          },
          nb::arg("mesh"), nb::arg("camera"), nb::arg("depths"), nb::arg("region") = "all", nb::arg("huber") = 0.0,
          nb::keep_alive<1, 2>(),
          R"(Create the loss. Every rank passes all images. Collective.

depths: dict from steps to images [height, width], row 0 at the top: distance along the direction of sight, m, or NaN.
region: region whose surface the camera sees. huber: δ of ρ(r) = ½ r² for |r| ≤ δ, else δ (|r| - ½ δ), m; 0: ρ = ½ r².
Trajectory.depth_image returns the depths of a state.)",
          nb::sig("def __init__(self, mesh: TetrahedralMesh, camera: Camera, depths: dict[int, object], "
                  "region: str = 'all', huber: float = 0.0) -> None"));
}

void bind_camera(nb::module_& module) {
  nb::class_<Camera>(module, "Camera", "Pinhole or orthographic camera whose image has square pixels.")
      .def(
          "__init__",
          [](Camera* self, Vector position, Vector target, Vector up, double field_of_view, double view_height,
             int width,
             int height) { new (self) Camera{position, target, up, field_of_view, view_height, width, height}; },
          nb::arg("position"), nb::arg("target"), nb::arg("up") = Camera{}.up,
          nb::arg("field_of_view") = Camera{}.field_of_view, nb::arg("view_height") = 0.0, nb::arg("width") = 64,
          nb::arg("height") = 64,
          R"(Create the camera.

position: position of the camera, m. target: point at the centre of the image, m. up: direction that points upwards in
the image. field_of_view: angle between the upper and the lower edge of the image of a pinhole camera, rad. view_height:
if positive, the camera is orthographic, and the image is view_height metres high. width, height: numbers of pixels.)")
      .def_rw("position", &Camera::position, "Position of the camera, m.")
      .def_rw("target", &Camera::target, "Point at the centre of the image, m.")
      .def_rw("up", &Camera::up, "Direction that points upwards in the image.")
      .def_rw("field_of_view", &Camera::field_of_view, "Vertical angle of view of a pinhole camera, rad.")
      .def_rw("view_height", &Camera::view_height, "Height of the image of an orthographic camera, m; 0 for a pinhole.")
      .def_rw("width", &Camera::width, "Number of pixels in a row.")
      .def_rw("height", &Camera::height, "Number of rows of pixels.");
}

}  // namespace

void bind_cameras(nb::module_& module) {
  bind_camera(module);
  nb::class_<SilhouetteHandle, LossHandle>(
      module, "SilhouetteLoss",
      "Loss 1/(2 N) Σ (c(n) - c(m))² over the pixels of masks m, with the image n of a region of the mesh.")
      .def(
          "__init__",
          [](SilhouetteHandle* self, const MeshHandle& mesh, const Camera& camera, const nb::dict& masks,
             const std::string& region, int filter) {
            const auto given = read_on_all_ranks(mesh.get().comm(), [&] { return to_images(masks, camera, "a mask"); });
            std::shared_ptr<Loss> loss;
            {
              const LibraryScope scope;
              require_same_on_all_ranks(mesh.get().comm(), "region, filter", region, filter);
              loss = make_silhouette_loss(mesh.get(), camera, given, {.region = region, .filter = filter});
            }
            new (self) SilhouetteHandle(std::move(loss), {mesh.shared()}, {.mesh = &mesh.get()});
          },
          nb::arg("mesh"), nb::arg("camera"), nb::arg("masks"), nb::arg("region") = "all", nb::arg("filter") = 1,
          nb::keep_alive<1, 2>(),
          R"(Create the loss. Every rank passes all masks. Collective.

masks: dict from steps to images [height, width], row 0 at the top. A pixel is the covered part of the pixel, from 0 to
1, or NaN. region: region whose faces form the silhouette. filter: odd number b; images and masks are averaged over b × b
pixels. Trajectory.silhouette returns the mask of a state.)",
          nb::sig("def __init__(self, mesh: TetrahedralMesh, camera: Camera, masks: dict[int, object], "
                  "region: str = 'all', filter: int = 1) -> None"));
  bind_depth(module);
}

}  // namespace diffsim::python
