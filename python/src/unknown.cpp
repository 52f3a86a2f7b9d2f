// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
//
// Python classes of unknowns, of distributions of material and of filters of shapes.

#include "unknown.hpp"

#include <nanobind/stl/pair.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/vector.h>

#include <cstdint>
#include <limits>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "arrays.hpp"
#include "bindings.hpp"
#include "diffsim/core/error.hpp"

namespace diffsim::python {
namespace {

/// Options of the Python class MaterialDistribution.
struct DistributionOptions {
  double penalty, minimum, filter;
  std::vector<std::string> solid, voids;
  std::vector<DistributedParameter> also;
};

UnknownOptions* make_unknown(UnknownOptions* self, const std::string& parameter, nb::handle group,
                             const std::vector<std::string>& group_names, std::pair<double, double> bounds,
                             bool logarithmic, nb::handle start, nb::handle map, const std::string& label,
                             const DistributionOptions* distribution, const ShapeFilterOptions* shape_filter,
                             const std::vector<std::string>& joints) {
  UnknownOptions made;
  made.joints = joints;
  const bool is_of_joints = parameter == "initial_coordinates" || parameter == "initial_rates";
  if (is_of_joints == joints.empty())
    throw InputError(is_of_joints ? parameter + " needs joints, a list of names of joints"
                                  : "joints belong to the parameters initial_coordinates and initial_rates");
  if (is_of_joints && (!group.is_none() || !map.is_none() || logarithmic || distribution || shape_filter))
    throw InputError(parameter + " has one value for each joint; give start, bounds and label only");
  Unknown& unknown = made.unknown;
  unknown.parameter = parameter;
  unknown.label = label;
  unknown.lower = bounds.first;
  unknown.upper = bounds.second;
  unknown.logarithmic = logarithmic;
  if (distribution) {
    unknown.distribution = MaterialDistribution{.penalty = distribution->penalty, .minimum = distribution->minimum};
    made.filter = distribution->filter;
    unknown.distribution->also = distribution->also;
    made.solid = distribution->solid;
    made.voids = distribution->voids;
  }
  if (shape_filter) made.shape_filter = *shape_filter;
  if (!start.is_none()) unknown.start = doubles(start, "start").values;
  if (!map.is_none()) {
    ArrayOf<double> matrix = doubles(map, "map");
    if (matrix.shape.size() != 2) throw InputError("map must be a matrix, [entries · components, coefficients]");
    unknown.map_numbers = static_cast<int>(matrix.shape[1]);
    unknown.map = std::move(matrix.values);
  }
  if (nb::isinstance<nb::str>(group)) {
    if (nb::cast<std::string>(group) != "all")
      throw InputError("group must be 'all', or an array with a group for each entry");
    made.together = true;
    unknown.group_names = {""};
  } else if (!group.is_none()) {
    for (const std::int64_t number : integers(group, "group").values) unknown.group.push_back(static_cast<int>(number));
    unknown.group_names = group_names;
    if (group_names.empty()) throw InputError("give group_names, one for each group, the same on all ranks");
  }
  return new (self) UnknownOptions(std::move(made));
}

void bind_distribution(nb::module_& module) {
  nb::class_<DistributionOptions>(
      module, "MaterialDistribution",
      R"(Density-based design: a parameter p of tetrahedra as a function of densities in [0, 1], which are the unknowns.

p = p0 (minimum + (1 - minimum) d ** penalty). p0: values when the InverseProblem is created. d: filtered densities.)")
      .def(
          "__init__",
          [](DistributionOptions* self, double penalty, double minimum, double filter,
             const std::vector<std::string>& solid, const std::vector<std::string>& voids,
             const std::vector<std::tuple<std::string, double, double>>& also) {
            DistributionOptions made{penalty, minimum, filter, solid, voids, {}};
            for (const auto& [name, exponent, least] : also) made.also.push_back({name, exponent, least});
            new (self) DistributionOptions(std::move(made));
          },
          nb::arg("penalty") = 3.0, nb::arg("minimum") = 1e-3, nb::arg("filter") = 0.0,
          nb::arg("solid") = std::vector<std::string>{}, nb::arg("void") = std::vector<std::string>{},
          nb::arg("also") = std::vector<std::tuple<std::string, double, double>>{},
          "Create a distribution. penalty: at least 1. minimum: in (0, 1). filter: radius of the filter, m; 0 for no "
          "filter. solid, void: regions with the fixed densities 1 and 0. also: list of (parameter, penalty, minimum), "
          "further parameters that depend on the same densities.");
}

void bind_shape_filter(nb::module_& module) {
  nb::class_<ShapeFilterOptions>(module, "ShapeFilter",
                                 R"(Smooth changes of a shape: positions p = p0 + F s, with a linear filter F.

The unknowns s are vectors at the vertices. Each component of w = F s solves w - r² Δw = s with r = radius/(2 √3).)")
      .def(
          "__init__",
          [](ShapeFilterOptions* self, double radius, const std::vector<std::string>& fixed, const std::string& axes) {
            std::array<bool, 3> moves{};
            for (const char axis : axes) {
              if (axis < 'x' || axis > 'z') throw InputError("axes are letters of 'xyz', not '" + axes + "'");
              moves[static_cast<std::size_t>(axis - 'x')] = true;
            }
            new (self) ShapeFilterOptions{radius, fixed, moves};
          },
          nb::arg("radius"), nb::arg("fixed") = std::vector<std::string>{}, nb::arg("axes") = "xyz",
          "Create a filter. radius: m. fixed: regions whose vertices do not move. axes: letters of the coordinates "
          "that change.");
}

}  // namespace

void bind_unknown(nb::module_& module) {
  bind_distribution(module);
  bind_shape_filter(module);
  nb::class_<UnknownOptions>(module, "Unknown",
                             R"(Parameter to be identified, and the values that represent the parameter in u.

By default, each entry of the parameter (cell, vertex or step) is a separate unknown. The parameters 'initial_positions'
and 'initial_velocities' are fields of the initial state.)")
      .def(
          "__init__",
          [](UnknownOptions* self, const std::string& parameter, nb::object group,
             const std::vector<std::string>& group_names, std::pair<double, double> bounds, bool logarithmic,
             nb::object start, nb::object map, const std::string& label, const DistributionOptions* distribution,
             const ShapeFilterOptions* shape_filter, const std::vector<std::string>& joints) {
            make_unknown(self, parameter, group, group_names, bounds, logarithmic, start, map, label, distribution,
                         shape_filter, joints);
          },
          nb::arg("parameter"), nb::arg("group") = nb::none(), nb::arg("group_names") = std::vector<std::string>{},
          nb::arg("bounds") =
              std::pair(-std::numeric_limits<double>::infinity(), std::numeric_limits<double>::infinity()),
          nb::arg("logarithmic") = false, nb::arg("start") = nb::none(), nb::arg("map") = nb::none(),
          nb::arg("label") = "", nb::arg("distribution").none() = nb::none(),
          nb::arg("shape_filter").none() = nb::none(), nb::arg("joints") = std::vector<std::string>{},
          R"(Create an unknown.

group: 'all' for one value for all entries, or an array with the index in group_names of the group of each of this
rank's entries; -1 for entries that do not change. bounds: lower and upper bound of the values, also if logarithmic.
logarithmic: whether u is the logarithm of the values. start: start values; None for the present values. map: this
rank's rows of the matrix B, [entries · components, coefficients]; the parameter is p0 + B u, or p0 exp(B u) if
logarithmic, with the present values p0 and start 0. label: name in messages; empty for the parameter's name.
distribution: the unknowns are densities of the tetrahedra, which start at 1 if start is None. shape_filter: the
unknowns are changes of positions, which start at 0 if start is None. joints: for the parameters 'initial_coordinates'
and 'initial_rates', names of the joints whose initial coordinates (rad or m) or rates are the values.)",
          nb::sig("def __init__(self, parameter: str, group: object = None, group_names: list[str] = [], bounds: "
                  "tuple[float, float] = (-math.inf, math.inf), logarithmic: bool = False, start: object = None, map: "
                  "object = None, label: str = '', distribution: MaterialDistribution | None = None, shape_filter: "
                  "ShapeFilter | None = None, joints: list[str] = []) -> None"));
}

}  // namespace diffsim::python
