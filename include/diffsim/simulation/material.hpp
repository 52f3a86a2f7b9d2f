// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <map>
#include <string>
#include <utility>
#include <variant>
#include <vector>

namespace diffsim {

struct CellModel;

/// Values of a material parameter: one value for all cells or vertices of the material, or a list of values. For a
/// parameter on cells, a list of values has one entry for each of this rank's cells of the kind to which the material's
/// model applies, in local order. For a parameter on vertices, a list has one entry for each owned vertex. The list
/// also has entries for the cells or vertices outside the material's region. For a parameter that may vary from step to
/// step, the list may have the shape [steps, cells] or [steps, vertices].
using CellValues = std::variant<double, std::vector<double>>;

/// Returns pairs (name of a damping parameter, name of the damping mechanism that the parameter controls). Every
/// elastic material may have damping parameters in addition to the parameters of its law of elasticity.
const std::vector<std::pair<std::string, std::string>>& damping_parameters();

/// Returns the models of bodies whose cells are not tetrahedra: `springs`, `cloth`, `shell`, `rope`, …
const std::vector<const CellModel*>& cell_models();
/// Returns the cell model with the given name, or nullptr if there is no such model.
const CellModel* find_cell_model(const std::string& name);

/// Name of the material model of rigid bodies; the model has a density and no law of elasticity.
inline constexpr const char* rigid_model = "rigid";

/// Material of a region of the mesh: the name of a model, and the values of the model's parameters. The model of
/// tetrahedra, and of affine bodies that deform (AffineBody), is a law of elasticity. The model of affine bodies that
/// do not deform is `rigid`, with the density as the only parameter. The model of cells other than tetrahedra, such as
/// springs, triangles of cloth or rods, is a cell model (`cell_models`).
struct DifferentiableMaterial {
  DifferentiableMaterial() = default;
  /// Creates a Neo-Hookean material of the whole mesh from Young's modulus (Pa) and Poisson's ratio.
  /// `requires_gradient`: value of the member `requires_grad`.
  DifferentiableMaterial(double youngs_modulus, double poissons_ratio, bool requires_gradient = false)
      : values{{"youngs_modulus", youngs_modulus}, {"poisson_ratio", poissons_ratio}},
        requires_grad(requires_gradient) {}
  /// Creates a material from the values of its members.
  DifferentiableMaterial(std::string of_model, std::map<std::string, CellValues> of_parameters,
                         std::string in_region = "all", bool with_nodal_dilatation = false, std::string of_law = {})
      : model(std::move(of_model)),
        values(std::move(of_parameters)),
        region(std::move(in_region)),
        nodal_dilatation(with_nodal_dilatation),
        law(std::move(of_law)) {}

  /// Name of the model: a law of elasticity (`elastic_laws`), `rigid`, or a cell model (`cell_models`). Models have
  /// names instead of enumerators, because programs register their own laws of elasticity by name (`register_law` in
  /// elastic/elastic_term_impl.hpp), and scene files contain the same names.
  std::string model = "neo_hookean";
  /// Values of the material's parameters, by name of the parameter. Tetrahedra have the parameter `density` (kg/m³),
  /// the parameters of the law of elasticity (for example `youngs_modulus` in Pa), and the damping parameters
  /// `viscosity` (Pa s), `bulk_viscosity` (Pa s), `rayleigh_damping` (1/s) and `drag` (N s/m⁴). Cells other than
  /// tetrahedra have the parameters of their cell model (`cell_models`).
  std::map<std::string, CellValues> values = {};
  std::string region = "all";  ///< name of the region of the mesh that has the material
  /// True if linear tetrahedra average their volume changes around each vertex, so that nearly incompressible bodies do
  /// not lock in bending. Requires explicit time steps. In scene files, `dilatation: nodal` sets the member
  /// `nodal_dilatation`.
  bool nodal_dilatation = false;
  /// Name of a law of the cell model (`CellModel::laws`), for cells other than tetrahedra; each cell model has its own
  /// list of names. If `law` is empty, the first law of the cell model's list is used. For tetrahedra, `law` must be
  /// empty, because `model` is the name of the law.
  std::string law = {};
  /// True if a DifferentiableSimulator with this material computes gradients with respect to `youngs_modulus` and
  /// `poisson_ratio`.
  bool requires_grad = false;
};

/// One material for the whole mesh, or a list of materials that name their regions.
struct Materials : std::vector<DifferentiableMaterial> {
  using std::vector<DifferentiableMaterial>::vector;
  /// Creates a list with one material.
  Materials(DifferentiableMaterial material) { push_back(std::move(material)); }
};

}  // namespace diffsim
