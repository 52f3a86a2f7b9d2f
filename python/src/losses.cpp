// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
//
// Python classes of the losses of the library.

#include "diffsim/inverse/losses.hpp"

#include <nanobind/stl/array.h>
#include <nanobind/stl/map.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <array>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "all_ranks.hpp"
#include "arrays.hpp"
#include "bindings.hpp"
#include "diffsim/body/joint.hpp"
#include "diffsim/core/error.hpp"
#include "loss.hpp"
#include "mesh.hpp"
#include "scene.hpp"
#include "sensor.hpp"

namespace diffsim::python {
namespace {

using Vector = std::array<double, 3>;

/// Python class of a TargetPositionLoss. Each class of losses has a Python class.
class TargetPositionHandle final : public LossHandle {
 public:
  using LossHandle::LossHandle;
};
class TargetVelocityHandle final : public LossHandle {
 public:
  using LossHandle::LossHandle;
};
class EffortHandle final : public LossHandle {
 public:
  using LossHandle::LossHandle;
};
class JointLossHandle final : public LossHandle {
 public:
  using LossHandle::LossHandle;
};
class TrackHandle final : public LossHandle {
 public:
  using LossHandle::LossHandle;
};
class PointTrackHandle final : public LossHandle {
 public:
  using LossHandle::LossHandle;
};
class SensorLossHandle final : public LossHandle {
 public:
  using LossHandle::LossHandle;
};
class SensorValueHandle final : public LossHandle {
 public:
  using LossHandle::LossHandle;
};
class SumHandle final : public LossHandle {
 public:
  using LossHandle::LossHandle;
};

/// Calls make() in a LibraryScope, and constructs a handle of the loss that make() returns. `arguments`: arguments of
/// the caller, which must be the same on all ranks; `names`: their names.
template <class H, class Make, class... Arguments>
void construct(H* self, std::vector<std::shared_ptr<const void>> owners, LossHandle::Subject subject, const Make& make,
               const char* names, const Arguments&... arguments) {
  std::shared_ptr<Loss> loss;
  {
    const LibraryScope scope;
    require_same_on_all_ranks(subject.mesh->comm(), names, arguments...);
    loss = make();
  }
  new (self) H(std::move(loss), std::move(owners), subject);
}

/// Binds a loss L of the mean of a field over a region.
template <class L, class H>
void bind_target(nb::module_& module, const char* name, const char* text, const char* unit) {
  const std::string doc =
      std::string("Create the loss. target: [3], in ") + unit + ". step: number of the state, from 0 on. Collective.";
  nb::class_<H, LossHandle>(module, name, text)
      .def(
          "__init__",
          [](H* self, const MeshHandle& mesh, const std::string& region, Vector target, int step) {
            construct(
                self, {mesh.shared()}, {.mesh = &mesh.get()},
                [&] { return std::make_shared<L>(mesh.get(), mesh.get().region(region), target, step); },
                "region, target, step", region, target, step);
          },
          nb::arg("mesh"), nb::arg("region"), nb::arg("target"), nb::arg("step"), nb::keep_alive<1, 2>(), doc.c_str());
}

void bind_targets(nb::module_& module) {
  bind_target<TargetPositionLoss, TargetPositionHandle>(
      module, "TargetPositionLoss",
      "Loss ½ |x̄ - target|² (m²), where x̄ is the mean position of a region's vertices after `step` steps.", "m");
  bind_target<TargetVelocityLoss, TargetVelocityHandle>(
      module, "TargetVelocityLoss",
      "Loss ½ |v̄ - target|² (m²/s²), where v̄ is the mean velocity of a region's vertices after `step` steps.", "m/s");
}

void bind_effort(nb::module_& module) {
  nb::class_<EffortHandle, LossHandle>(
      module, "EffortLoss", "Loss ½ Σ dt |u|² of the values u of a global parameter in the steps of a rollout.")
      .def(
          "__init__",
          [](EffortHandle* self, const SceneHandle& scene, const std::string& parameter, int num_steps) {
            const DifferentiableScene& of = scene.shared()->get();
            const Parameter* const found = const_cast<DifferentiableScene&>(of).parameters().find(parameter);
            const std::string unit(found ? found->spec.unit : "1");  // the loss refuses an unknown parameter
            construct(
                self, {scene.shared()}, {.mesh = of.mesh().get(), .scene = &of},
                [&] { return std::make_shared<EffortLoss>(of.mesh()->comm(), parameter, of.dt(), num_steps, unit); },
                "parameter, num_steps", parameter, num_steps);
          },
          nb::arg("scene"), nb::arg("parameter"), nb::arg("num_steps"), nb::keep_alive<1, 2>(),
          R"(Create the loss. Collective.

parameter: name of a parameter with one value for the whole model, for all steps or for each step (set_control), that no
link or feedback computes. num_steps: number of steps of the rollout.)");
}

void bind_joint_loss(nb::module_& module) {
  nb::class_<JointLossHandle, LossHandle>(
      module, "JointLoss", "Mean of ½ (q - target)² (rad² or m²) over steps, where q is the coordinate of a joint.")
      .def(
          "__init__",
          [](JointLossHandle* self, const MeshHandle& mesh, const Joint& joint, std::map<int, double> targets) {
            construct(
                self, {mesh.shared()}, {.mesh = &mesh.get()},
                [&] { return std::make_shared<JointLoss>(mesh.get(), joint, targets); }, "name of the joint, targets",
                joint.name, targets);
          },
          nb::arg("mesh"), nb::arg("joint"), nb::arg("targets"), nb::keep_alive<1, 2>(),
          R"(Create the loss of a revolute or prismatic joint. Collective.

targets: dict from steps to coordinates, rad or m. Differences of angles are reduced to (-π, π].)");
}

/// Returns the positions of the owned vertices at each observed step.
std::map<int, std::vector<double>> observed_positions(const TetrahedralMesh& mesh, const nb::dict& observed) {
  std::map<int, std::vector<double>> positions;
  const auto owned = static_cast<std::size_t>(mesh.num_owned_vertices());
  for (const auto [step, values] : observed) {
    ArrayOf<double> array = doubles(values, "observed positions");
    if (array.values.size() != 3 * owned && array.values.size() != mesh.rest_positions().size())
      throw InputError("observed positions must have the shape [owned vertices, 3] or [local vertices, 3]");
    array.values.resize(3 * owned);
    positions[nb::cast<int>(step)] = std::move(array.values);
  }
  return positions;
}

std::vector<int> keys(const std::map<int, std::vector<double>>& values) {
  std::vector<int> result;
  for (const auto& [key, value] : values) result.push_back(key);
  return result;
}

void bind_track(nb::module_& module) {
  nb::class_<TrackHandle, LossHandle>(
      module, "TrackLoss",
      "Loss 1/(2 |S||V|) Σ |x - x̂|² (m²) over the observed steps S and vertices V of a region; x̂: observed positions.")
      .def(
          "__init__",
          [](TrackHandle* self, const MeshHandle& mesh, const nb::dict& observed, const std::string& region) {
            const std::map<int, std::vector<double>> positions =
                read_on_all_ranks(mesh.get().comm(), [&] { return observed_positions(mesh.get(), observed); });
            construct(
                self, {mesh.shared()}, {.mesh = &mesh.get()},
                [&] { return std::make_shared<TrackLoss>(mesh.get(), positions, mesh.get().region(region)); },
                "region, observed steps", region, keys(positions));
          },
          nb::arg("mesh"), nb::arg("observed"), nb::arg("region") = "all", nb::keep_alive<1, 2>(),
          R"(Create the loss. Collective.

observed: dict from steps to positions, [owned or local vertices, 3], in m; NaN marks unobserved components.)",
          nb::sig(
              "def __init__(self, mesh: TetrahedralMesh, observed: dict[int, object], region: str = 'all') -> None"));
}

ObservedPoints observed_points(nb::handle points, const nb::dict& observed, const std::string& body) {
  const ArrayOf<double> rest = doubles(points, "points");
  if (rest.shape.size() != 2 || rest.shape[1] != 3) throw InputError("points must have the shape [points, 3]");
  ObservedPoints given{.body = body};
  for (std::size_t i = 0; i < rest.values.size(); i += 3)
    given.points.push_back({rest.values[i], rest.values[i + 1], rest.values[i + 2]});
  for (const auto [step, values] : observed)
    given.positions[nb::cast<int>(step)] = doubles_of_shape(values, rest.shape, "observed positions");
  return given;
}

void bind_point_track(nb::module_& module) {
  nb::class_<PointTrackHandle, LossHandle>(
      module, "PointTrackLoss",
      "Mean of ½ |x - x̂|² (m²) over all pairs of a step and a material point with an observed position x̂.")
      .def(
          "__init__",
          [](PointTrackHandle* self, const MeshHandle& mesh, nb::handle points, const nb::dict& observed,
             const std::string& body) {
            const ObservedPoints given =
                read_on_all_ranks(mesh.get().comm(), [&] { return observed_points(points, observed, body); });
            construct(
                self, {mesh.shared()}, {.mesh = &mesh.get()},
                [&] { return std::shared_ptr<Loss>(make_point_track_loss(mesh.get(), {given})); },
                "number of points, observed steps, body", given.points.size(), keys(given.positions), body);
          },
          nb::arg("mesh"), nb::arg("points"), nb::arg("observed"), nb::arg("body") = "", nb::keep_alive<1, 2>(),
          R"(Create the loss. Every rank passes all points. Collective.

points: rest positions of material points inside tetrahedra, [points, 3], in m. observed: dict from steps to positions,
[points, 3], in m; NaN marks components that were not observed. body: name of the body that contains the points; may be
empty if the mesh has one body.)",
          nb::sig("def __init__(self, mesh: TetrahedralMesh, points: object, observed: dict[int, object], "
                  "body: str = '') -> None"));
}

/// Returns the m observed values of a sensor at each observed step.
std::map<int, std::vector<double>> observed_values(const nb::dict& observed, std::size_t m) {
  std::map<int, std::vector<double>> values;
  for (const auto [step, array] : observed) {
    ArrayOf<double> given = doubles(array, "observed values");
    if (given.shape.size() > 1 || given.values.size() != m)
      throw InputError("observed values must have the shape [" + std::to_string(m) + "]");
    values[nb::cast<int>(step)] = std::move(given.values);
  }
  return values;
}

void bind_sensor_loss(nb::module_& module) {
  nb::class_<SensorLossHandle, LossHandle>(
      module, "SensorLoss", "Loss 1/(2 |S|) Σ (y - ŷ)ᵀ C⁻¹ (y - ŷ) of the values y of a sensor at the steps S.")
      .def(
          "__init__",
          [](SensorLossHandle* self, const SensorHandle& sensor, const nb::dict& observed, nb::object covariance,
             double huber) {
            const std::size_t m = sensor.shared()->components().size();
            const DifferentiableScene& of = sensor.scene()->get();
            std::map<int, std::vector<double>> values;
            const SensorLossOptions options = read_on_all_ranks(of.mesh()->comm(), [&] {
              values = observed_values(observed, m);
              SensorLossOptions read{.huber = huber};
              if (!covariance.is_none()) read.covariance = doubles_of_shape(covariance, {m, m}, "covariance");
              return read;
            });
            construct(
                self, {sensor.scene()}, {.mesh = of.mesh().get(), .scene = &of},
                [&] { return std::make_shared<SensorLoss>(sensor.shared(), values, options); },
                "observed steps, covariance, huber", keys(values), options.covariance, huber);
          },
          nb::arg("sensor"), nb::arg("observed"), nb::arg("covariance") = nb::none(), nb::arg("huber") = 0.0,
          nb::keep_alive<1, 2>(),
          R"(Create the loss. Collective.

observed: dict from steps to values ŷ, [components] or a number; NaN marks components that were not observed.
covariance: matrix C [components, components]; None means the identity matrix. huber: limit of Huber's loss, in the unit
of the sensor; 0 for no limit. For the negative logarithm of a likelihood with the covariance matrix C, add the loss to
a SumLoss with noise=1.)",
          nb::sig("def __init__(self, sensor: Sensor, observed: dict[int, object], covariance: object = None, "
                  "huber: float = 0.0) -> None"));
}

void bind_sensor_value(nb::module_& module) {
  nb::class_<SensorValueHandle, LossHandle>(module, "SensorValueLoss",
                                            "Mean of w · y over steps, or of w · |y|^power, where y are the values of "
                                            "a sensor; for objectives and constraints.")
      .def(
          "__init__",
          [](SensorValueHandle* self, const SensorHandle& sensor, nb::handle weights, const std::vector<int>& steps,
             std::optional<double> power) {
            const std::size_t m = sensor.shared()->components().size();
            const DifferentiableScene& of = sensor.scene()->get();
            const std::vector<double> w = read_on_all_ranks(of.mesh()->comm(), [&] {
              ArrayOf<double> given = doubles(weights, "weights");
              if (given.shape.size() > 1 || given.values.size() != m)
                throw InputError("weights must have the shape [" + std::to_string(m) + "]");
              return std::move(given.values);
            });
            construct(
                self, {sensor.scene()}, {.mesh = of.mesh().get(), .scene = &of},
                [&] { return std::make_shared<SensorValueLoss>(sensor.shared(), w, steps, power); },
                "weights, steps, power", w, steps, power);
          },
          nb::arg("sensor"), nb::arg("weights"), nb::arg("steps"), nb::arg("power") = nb::none(),
          nb::keep_alive<1, 2>(),
          R"(Create the loss. Collective.

weights: w, [components] or a number; minimisation with w = -1 maximises the value. steps: numbers of the states, from 0
on. power: at least 2.)",
          nb::sig("def __init__(self, sensor: Sensor, weights: object, steps: collections.abc.Sequence[int], power: "
                  "float | None = None) -> None"));
}

void bind_sum(nb::module_& module) {
  nb::class_<SumHandle, LossHandle>(module, "SumLoss", "Weighted sum of losses of the library.")
      .def(
          "__init__", [](SumHandle* self) { new (self) SumHandle(std::make_shared<SumLoss>(), {}, {}); },
          "Create an empty sum.")
      .def(
          "add",
          [](SumHandle& sum, LossHandle& loss, double weight, std::optional<double> noise) {
            if (static_cast<LossHandle*>(&sum) == &loss) throw InputError("a sum cannot be added to itself");
            loss.subject().require_same(sum.subject());
            {
              const LibraryScope scope;
              auto& to = dynamic_cast<SumLoss&>(*sum.shared());
              if (noise)
                to.add_likelihood(loss.for_sum(), *noise, weight);
              else
                to.add(loss.for_sum(), weight);
            }
            loss.give_to(sum);
          },
          nb::arg("loss"), nb::arg("weight") = 1.0, nb::arg("noise") = nb::none(), nb::keep_alive<1, 2>(),
          R"(Add a loss, multiplied by weight. Afterwards only the sum may use this loss.

noise: standard deviation of the observations' errors. With `noise`, the loss becomes the negative logarithm of a
likelihood: weight · ½ Σ |r|²/noise² over all observations with residuals r.)");
}

}  // namespace

void bind_losses(nb::module_& module) {
  nb::class_<LossHandle>(module, "Loss", "Loss Σ ℓ(n, x[n]) over the states x[n] of a rollout.")
      .def_prop_ro(
          "unit", [](const LossHandle& handle) { return handle.shared()->unit(); },
          "Unit of the loss; 1 if it is dimensionless.");
  bind_targets(module);
  bind_effort(module);
  bind_joint_loss(module);
  bind_track(module);
  bind_point_track(module);
  bind_sensor_loss(module);
  bind_sensor_value(module);
  bind_sum(module);
}

}  // namespace diffsim::python
