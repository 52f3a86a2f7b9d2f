// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
#include "trajectory.hpp"

#include <nanobind/stl/string.h>

#include <cstddef>
#include <string>
#include <utility>
#include <vector>

#include "arrays.hpp"
#include "bindings.hpp"
#include "sensor.hpp"
#include "state.hpp"
#include "view.hpp"

namespace diffsim::python {
namespace {

using MakeImage = std::vector<double> (*)(const TetrahedralMesh&, const Camera&, const State&, const std::string&);

/// Binds a method that returns an image [height, width] of a region in the state after n steps.
void bind_image(nb::class_<TrajectoryHandle>& trajectory, const char* name, MakeImage make, const char* text,
                const char* signature) {
  trajectory.def(
      name,
      [make](const TrajectoryHandle& handle, const Camera& camera, int n, const std::string& region) {
        std::vector<double> image;
        {
          const LibraryScope scope;
          image = make(*handle.scene()->get().mesh(), camera, handle.state(n), region);
        }
        return to_numpy(std::move(image),
                        {static_cast<std::size_t>(camera.height), static_cast<std::size_t>(camera.width)});
      },
      nb::arg("camera"), nb::arg("n"), nb::arg("region") = "all", text, nb::sig(signature));
}

void bind_view_of_states(nb::class_<TrajectoryHandle>& trajectory) {
  trajectory.def(
      "view",
      [](const TrajectoryHandle& handle, const std::string& name, int n) {
        return view_of([&]() -> const Field& { return handle.state(n)[name]; });
      },
      nb::arg("name"), nb::arg("n"),
      "Return a view of the library's memory of a field in the state after n steps. Collective.",
      nb::sig("def view(self, name: str, n: int) -> ArrayView"));
}

void bind_images(nb::class_<TrajectoryHandle>& trajectory) {
  bind_image(trajectory, "silhouette", &silhouette,
             "Return the covered part of each pixel of a region's image in the state after n steps, [height, width], "
             "row 0 at the top. Collective.",
             "def silhouette(self, camera: Camera, n: int, region: str = 'all') -> numpy.ndarray");
  bind_image(trajectory, "depth_image", &depth_image,
             "Return the depth (m) of a region's surface at each pixel in the state after n steps, [height, width], "
             "row 0 at the top; NaN where the camera sees no surface. Collective.",
             "def depth_image(self, camera: Camera, n: int, region: str = 'all') -> numpy.ndarray");
}

nb::object measure(const TrajectoryHandle& handle, const SensorHandle& sensor) {
  std::vector<double> values;
  const auto frames = static_cast<std::size_t>(handle.get().num_steps() + 1);
  {
    const LibraryScope scope;
    handle.require_scene(*sensor.scene());
    const StepRange steps = handle.get().steps();
    for (int n = steps.begin; n <= steps.end; ++n) {
      const State& state = handle.state(n);
      const Sweep sweep(*handle.scene());
      const std::vector<double> y = sensor.shared()->value(n, state);
      values.insert(values.end(), y.begin(), y.end());
    }
  }
  const std::size_t columns = values.size() / frames;
  return to_numpy(std::move(values), {frames, columns});
}

}  // namespace

void bind_trajectory(nb::module_& module) {
  nb::class_<TrajectoryHandle> trajectory(module, "Trajectory", R"(States of a rollout.

Checkpoints are in memory; every other state is computed on demand from the nearest earlier checkpoint. After a change
of the scene or its parameters, the states are no longer available.)");
  trajectory
      .def_prop_ro(
          "num_steps", [](const TrajectoryHandle& handle) { return handle.get().num_steps(); }, "Number of steps.")
      .def_prop_ro(
          "first_step", [](const TrajectoryHandle& handle) { return handle.get().steps().begin; },
          "Number of the first state: 0, unless the rollout was a part of a longer rollout.")
      .def_prop_ro(
          "scene", [](const TrajectoryHandle& handle) { return new SceneHandle(handle.scene()); },
          nb::rv_policy::take_ownership, nb::keep_alive<0, 1>(), "Scene of the rollout.")
      .def(
          "time", [](const TrajectoryHandle& handle, int n) { return handle.get().time(n); }, nb::arg("n"),
          "Return the time after n steps, s.")
      .def(
          "state",
          [](const TrajectoryHandle& handle, int n) {
            const State* state = nullptr;
            {
              const LibraryScope scope;
              state = &handle.state(n);
            }
            return copy_of(*state, handle.get().time(n));
          },
          nb::arg("n"),
          "Return a copy of the state after n steps, first_step ≤ n ≤ first_step + num_steps. Collective.",
          nb::sig("def state(self, n: int) -> State"))
      .def(
          "positions",
          [](const TrajectoryHandle& handle, int n) {
            return read_values([&]() -> const Field& { return handle.state(n)["positions"]; });
          },
          nb::arg("n"), "Return the positions after n steps, [local vertices, 3], in m. Collective.",
          nb::sig("def positions(self, n: int) -> numpy.ndarray"))
      .def("measure", &measure, nb::arg("sensor"),
           "Return the values of a sensor in all states, [num_steps + 1, components]. Collective.",
           nb::sig("def measure(self, sensor: Sensor) -> numpy.ndarray"))
      .def("__len__", [](const TrajectoryHandle& handle) { return handle.get().num_steps() + 1; })
      .def("__repr__", [](const TrajectoryHandle& handle) {
        return nb::str("Trajectory({} steps)").format(handle.get().num_steps());
      });
  bind_view_of_states(trajectory);
  bind_images(trajectory);
}

}  // namespace diffsim::python
