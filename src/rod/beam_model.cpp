// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
#include "diffsim/rod/rod_model.hpp"

#include "diffsim/rod/parameters.hpp"
#include "rod_masses_impl.hpp"
#include "rod_terms.hpp"

namespace diffsim {
namespace {

using Beam = BeamParameters;

}  // namespace

const CellModel& beam_model() {
  static const CellModel model{
      "beam",
      CellKind::segment,
      {Beam::axial_stiffness, Beam::bending_stiffness1, Beam::bending_stiffness2, Beam::torsional_stiffness,
       Beam::rest_curvature, Beam::rest_twist, Beam::density, Beam::rotary_inertia},
      {},
      [](const TetrahedralMesh& mesh, const std::vector<int>& segments, const std::function<bool(std::string_view)>&) {
        return rod::make_terms(
            mesh, segments, {RodSection::Kind::given},
            {PointParameter::of(Beam::axial_stiffness), PointParameter::of(Beam::bending_stiffness1),
             PointParameter::of(Beam::bending_stiffness2), PointParameter::of(Beam::torsional_stiffness),
             PointParameter::of(Beam::rest_curvature), PointParameter::of(Beam::rest_twist)});
      },
      [](const TetrahedralMesh& mesh) {
        return rod::make_inertia<GivenMass>(
            mesh, {PointParameter::of(Beam::density), PointParameter::of(Beam::rotary_inertia)});
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
