// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
#include "rod/rod_model.hpp"

#include "core/inertia.hpp"
#include "core/stencil_inertia_impl.hpp"
#include "diffsim/mesh/tetrahedral_mesh.hpp"
#include "rod/parameters.hpp"
#include "rod/rod_mass.hpp"
#include "rod/rod_stencils.hpp"
#include "rod/rod_terms.hpp"

namespace diffsim {
namespace {

using Rod = RodParameters;
using Beam = BeamParameters;

/// Creates the inertia of all local segments that have directors. `Mass`: GivenMass or RoundMass.
template <class Mass>
std::unique_ptr<Inertia> make_inertia(const TetrahedralMesh& mesh, const std::vector<PointParameter>& parameters) {
  const LowerCellSet& all = mesh.lower_cells(CellKind::segment);
  const std::vector<int> segments = rod::segments_with_directors(all);
  return std::make_unique<StencilInertia<Mass>>("mass of rods", parameters, rod::ends_of(all, segments, true), segments,
                                                all.num());
}

}  // namespace

const CellModel& rod_model() {
  static const CellModel model{
      "rod",
      CellKind::segment,
      40.0,
      {Rod::youngs_modulus, Rod::poisson_ratio, Rod::radius, Rod::rest_curvature, Rod::rest_twist, Rod::density},
      {},
      [](const TetrahedralMesh& mesh, const ModelCells& cells) {
        return rod::make_terms(mesh, cells.all, {RodSection::Kind::round},
                               {PointParameter::of(Rod::youngs_modulus), PointParameter::of(Rod::poisson_ratio),
                                PointParameter::of(Rod::radius), PointParameter::unused(),
                                PointParameter::of(Rod::rest_curvature), PointParameter::of(Rod::rest_twist)});
      },
      [](const TetrahedralMesh& mesh) {
        return make_inertia<RoundMass>(mesh, {PointParameter::of(Rod::density), PointParameter::of(Rod::radius)});
      },
      {{std::string(Rod::youngs_modulus.name), "youngs_modulus"},
       {std::string(Rod::poisson_ratio.name), "poisson_ratio"},
       {std::string(Rod::radius.name), "radius"},
       {std::string(Rod::rest_curvature.name), "rest_curvature"},
       {std::string(Rod::rest_twist.name), "rest_twist"},
       {std::string(Rod::density.name), "density"}},
      {std::string(Rod::radius.name)},
      {},
      true};
  return model;
}

const CellModel& beam_model() {
  static const CellModel model{
      "beam",
      CellKind::segment,
      40.0,
      {Beam::axial_stiffness, Beam::bending_stiffness1, Beam::bending_stiffness2, Beam::torsional_stiffness,
       Beam::rest_curvature, Beam::rest_twist, Beam::density, Beam::rotary_inertia},
      {},
      [](const TetrahedralMesh& mesh, const ModelCells& cells) {
        return rod::make_terms(
            mesh, cells.all, {RodSection::Kind::given},
            {PointParameter::of(Beam::axial_stiffness), PointParameter::of(Beam::bending_stiffness1),
             PointParameter::of(Beam::bending_stiffness2), PointParameter::of(Beam::torsional_stiffness),
             PointParameter::of(Beam::rest_curvature), PointParameter::of(Beam::rest_twist)});
      },
      [](const TetrahedralMesh& mesh) {
        return make_inertia<GivenMass>(mesh,
                                       {PointParameter::of(Beam::density), PointParameter::of(Beam::rotary_inertia)});
      },
      {{std::string(Beam::axial_stiffness.name), "axial_stiffness"},
       {std::string(Beam::bending_stiffness1.name), "bending_stiffness1"},
       {std::string(Beam::bending_stiffness2.name), "bending_stiffness2"},
       {std::string(Beam::torsional_stiffness.name), "torsional_stiffness"},
       {std::string(Beam::rest_curvature.name), "rest_curvature"},
       {std::string(Beam::rest_twist.name), "rest_twist"},
       {std::string(Beam::density.name), "density"},
       {std::string(Beam::rotary_inertia.name), "rotary_inertia"}},
      {},
      {},
      true};
  return model;
}

}  // namespace diffsim
