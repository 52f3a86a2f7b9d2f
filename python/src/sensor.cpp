// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
//
// Python class of sensors. `DifferentiableScene.sensor` makes sensors.

#include "sensor.hpp"

#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include "bindings.hpp"

namespace diffsim::python {

void bind_sensor(nb::module_& module) {
  nb::class_<SensorHandle>(module, "Sensor", R"(Measured quantity of a scene with a few components.

Trajectory.measure returns the values of a sensor in a rollout; SensorLoss compares the values with observations.)")
      .def_prop_ro(
          "name", [](const SensorHandle& handle) { return handle.shared()->name(); },
          "Name of the measured quantity, for messages.")
      .def_prop_ro(
          "unit", [](const SensorHandle& handle) { return handle.shared()->unit(); }, "Unit of the values.")
      .def_prop_ro(
          "components", [](const SensorHandle& handle) { return handle.shared()->components(); },
          "Names of the components.")
      .def("__repr__", [](const SensorHandle& handle) {
        return nb::str("Sensor({}, {})").format(handle.shared()->name(), handle.shared()->unit());
      });
}

}  // namespace diffsim::python
