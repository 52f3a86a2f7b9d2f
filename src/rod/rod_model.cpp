// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
#include "diffsim/rod/rod_model.hpp"

#include <cstdint>
#include <utility>

#include "diffsim/core/ranks.hpp"
#include "diffsim/core/stencil_inertia_impl.hpp"
#include "diffsim/core/stencil_term_impl.hpp"
#include "diffsim/mesh/tetrahedral_mesh.hpp"
#include "diffsim/rod/parameters.hpp"
#include "diffsim/rod/rod_energies.hpp"
#include "diffsim/rod/rod_mass.hpp"
#include "rod_stencils.hpp"

namespace diffsim {
namespace {

using Rod = RodParameters;
using Beam = BeamParameters;

/// Joints of one kind; which ones there are depends on what is held.
template <class Section>
class RodJoints : public StencilTerm<RodJoint<Section>> {
  using Term = StencilTerm<RodJoint<Section>>;

 public:
  RodJoints(const TetrahedralMesh& mesh, std::vector<int> segments, Beyond beyond,
            const std::vector<PointParameter>& parameters)
      : Term("joints of rods", {beyond}, parameters, {}, {}, mesh.lower_cells(CellKind::segment).num()),
        mesh_(&mesh),
        segments_(std::move(segments)),
        beyond_(beyond) {
    set_held({});
  }

  bool holds_body() const override { return keeps_directions_; }
  void set_held(const HeldVertices& held) override {
    rod::Stencils joints = rod::joint_stencils(mesh_->lower_cells(CellKind::segment), segments_, beyond_, held);
    const auto count = static_cast<std::int64_t>(joints.segments.size());
    keeps_directions_ = beyond_ == Beyond::direction && sum_over_ranks(count, mesh_->comm()) > 0;
    Term::set_stencils(std::move(joints.vertices), joints.segments);
  }

 private:
  const TetrahedralMesh* mesh_;
  std::vector<int> segments_;
  Beyond beyond_;
  bool keeps_directions_ = false;  // where some vertices are clamped, of any rank
};

template <class Section>
std::vector<std::unique_ptr<ForceTerm>> make_terms(const TetrahedralMesh& mesh, const std::vector<int>& segments,
                                                   const std::vector<PointParameter>& parameters) {
  const LowerCellSet& all = mesh.lower_cells(CellKind::segment);
  rod::require_directors(mesh, segments);
  std::vector<std::unique_ptr<ForceTerm>> terms;
  terms.push_back(std::make_unique<StencilTerm<RodStretch<Section>>>("stretching of rods", RodStretch<Section>(),
                                                                     parameters, rod::ends_of(all, segments, false),
                                                                     segments, all.num()));
  terms.push_back(std::make_unique<StencilTerm<RodSectionShape<Section>>>(
      "sections of rods", RodSectionShape<Section>(), parameters, rod::ends_of(all, segments, true), segments,
      all.num()));
  for (const Beyond beyond : {Beyond::segment, Beyond::wall, Beyond::direction})
    terms.push_back(std::make_unique<RodJoints<Section>>(mesh, segments, beyond, parameters));
  return terms;
}

template <class Mass>
std::unique_ptr<Inertia> make_inertia(const TetrahedralMesh& mesh, const std::vector<PointParameter>& parameters) {
  const LowerCellSet& all = mesh.lower_cells(CellKind::segment);
  const std::vector<int> segments = rod::segments_with_directors(all);
  return std::make_unique<StencilInertia<Mass>>("mass of rods", parameters, rod::ends_of(all, segments, true), segments,
                                                all.num());
}

std::vector<PointParameter> parameters_of(const std::vector<ParameterSpec>& specs) {
  std::vector<PointParameter> parameters;
  for (const ParameterSpec& spec : specs) parameters.push_back(PointParameter::of(spec));
  return parameters;
}

}  // namespace

const CellModel& rod_model() {
  static const CellModel model{
      "rod",
      CellKind::segment,
      {Rod::youngs_modulus, Rod::poisson_ratio, Rod::radius, Rod::rest_curvature, Rod::rest_twist, Rod::density},
      {},
      [](const TetrahedralMesh& mesh, const std::vector<int>& segments, const std::function<bool(std::string_view)>&) {
        return make_terms<RoundSection>(mesh, segments,
                                        parameters_of({Rod::youngs_modulus, Rod::poisson_ratio, Rod::radius,
                                                       Rod::rest_curvature, Rod::rest_twist}));
      },
      [](const TetrahedralMesh& mesh) {
        return make_inertia<RoundMass>(mesh, parameters_of({Rod::density, Rod::radius}));
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
      {Beam::axial_stiffness, Beam::bending_stiffness1, Beam::bending_stiffness2, Beam::torsional_stiffness,
       Beam::rest_curvature, Beam::rest_twist, Beam::density, Beam::rotary_inertia},
      {},
      [](const TetrahedralMesh& mesh, const std::vector<int>& segments, const std::function<bool(std::string_view)>&) {
        return make_terms<GivenSection>(
            mesh, segments,
            parameters_of({Beam::axial_stiffness, Beam::bending_stiffness1, Beam::bending_stiffness2,
                           Beam::torsional_stiffness, Beam::rest_curvature, Beam::rest_twist}));
      },
      [](const TetrahedralMesh& mesh) {
        return make_inertia<GivenMass>(mesh, parameters_of({Beam::density, Beam::rotary_inertia}));
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
