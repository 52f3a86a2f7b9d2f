// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
#include "diffsim/rod/rod_model.hpp"

#include "diffsim/rod/parameters.hpp"
#include "rod_masses_impl.hpp"
#include "rod_terms.hpp"

namespace diffsim {
namespace {

using Rod = RodParameters;

}  // namespace

const CellModel& rod_model() {
  static const CellModel model{
      "rod",
      CellKind::segment,
      {Rod::youngs_modulus, Rod::poisson_ratio, Rod::radius, Rod::rest_curvature, Rod::rest_twist, Rod::density},
      {},
      [](const TetrahedralMesh& mesh, const std::vector<int>& segments, const std::function<bool(std::string_view)>&) {
        return rod::make_terms(mesh, segments, {RodSection::Kind::round},
                               {PointParameter::of(Rod::youngs_modulus), PointParameter::of(Rod::poisson_ratio),
                                PointParameter::of(Rod::radius), PointParameter::unused(),
                                PointParameter::of(Rod::rest_curvature), PointParameter::of(Rod::rest_twist)});
      },
      [](const TetrahedralMesh& mesh) {
        return rod::make_inertia<RoundMass>(mesh, {PointParameter::of(Rod::density), PointParameter::of(Rod::radius)});
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

}  // namespace diffsim
