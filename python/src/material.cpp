// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
#include "diffsim/simulation/material.hpp"

#include <nanobind/nanobind.h>
#include <nanobind/stl/string.h>

#include "arrays.hpp"
#include "bindings.hpp"

namespace diffsim::python {
namespace {

std::map<std::string, CellValues> values_of(const nb::dict& values) {
  std::map<std::string, CellValues> result;
  for (const auto [key, value] : values) {
    const std::string name = nb::cast<std::string>(key);
    ArrayOf<double> array = doubles(value, name);
    const bool is_scalar =
        array.values.size() == 1 && nb::cast<int>(nb::module_::import_("numpy").attr("ndim")(value)) == 0;
    if (is_scalar)
      result.emplace(name, array.values[0]);
    else
      result.emplace(name, std::move(array.values));
  }
  return result;
}

nb::dict dict_of(const std::map<std::string, CellValues>& values) {
  nb::dict result;
  for (const auto& [name, value] : values) {
    if (const double* scalar = std::get_if<double>(&value))
      result[name.c_str()] = *scalar;
    else
      result[name.c_str()] = to_numpy(std::get<1>(value), {std::get<1>(value).size()});
  }
  return result;
}

}  // namespace

void bind_material(nb::module_& module) {
  using Material = DifferentiableMaterial;
  nb::class_<Material>(module, "DifferentiableMaterial", R"(Material of the whole mesh or of a region.

The model is a law of elasticity for tetrahedra, or a model of other cells; `values` has its parameters.)")
      .def(
          "__init__",
          [](Material* self, double youngs_modulus, double poissons_ratio, bool requires_grad) {
            new (self) Material(youngs_modulus, poissons_ratio, requires_grad);
          },
          nb::arg("youngs_modulus"), nb::arg("poissons_ratio"), nb::arg("requires_grad") = true,
          R"(Create a Neo-Hookean material of the whole mesh.

youngs_modulus: Pa. poissons_ratio: dimensionless. requires_grad: whether a DifferentiableSimulator computes gradients
with respect to the parameters youngs_modulus and poisson_ratio.)")
      .def(
          "__init__",
          [](Material* self, const std::string& model, const nb::dict& values, const std::string& region,
             bool requires_grad, bool nodal_dilatation, const std::string& law) {
            auto* made = new (self) Material(model, values_of(values), region, nodal_dilatation, law);
            made->requires_grad = requires_grad;
          },
          nb::arg("model"), nb::arg("values"), nb::arg("region") = "all", nb::arg("requires_grad") = true,
          nb::arg("nodal_dilatation") = false, nb::arg("law") = "",
          R"(Create a material of a region from the name of a law or model and its parameters.

values: dict from parameter names to a number, or to an array with one value per local cell of the mesh. Parameters of
tetrahedra are density (kg/m³), those of the law, and viscosity, bulk_viscosity (Pa s), rayleigh_damping (1/s), drag
(N s/m⁴). nodal_dilatation: whether linear tetrahedra average their volume changes around each vertex, which avoids
locking of nearly incompressible bodies. law: name of a law of a model of other cells; empty for the first law.)",
          nb::sig("def __init__(self, model: str, values: dict, region: str = 'all', requires_grad: bool = True, "
                  "nodal_dilatation: bool = False, law: str = '') -> None"))
      .def_rw("model", &Material::model, "Name of the law or model.")
      .def_rw("region", &Material::region, "Name of the region.")
      .def_rw("law", &Material::law, "Name of a law of the model; empty for the first law of the model.")
      .def_rw("nodal_dilatation", &Material::nodal_dilatation,
              "Whether linear tetrahedra average their volume changes around each vertex.")
      .def_rw("requires_grad", &Material::requires_grad,
              "Whether simulators compute gradients with respect to youngs_modulus and poisson_ratio.")
      .def_prop_rw(
          "values", [](const Material& material) { return dict_of(material.values); },
          [](Material& material, const nb::dict& values) { material.values = values_of(values); },
          "Copy of the values, by parameter name. To change the values, assign a dict.")
      .def("__repr__", [](const Material& material) {
        return nb::str("DifferentiableMaterial({!r}, {}, region={!r})")
            .format(material.model.c_str(), dict_of(material.values), material.region.c_str());
      });
}

}  // namespace diffsim::python
