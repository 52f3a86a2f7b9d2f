// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
#include "rod/rod_joints.hpp"

#include <cstdint>
#include <utility>

#include "diffsim/core/runtime.hpp"
#include "diffsim/core/stencil_term_impl.hpp"
#include "diffsim/mesh/tetrahedral_mesh.hpp"
#include "rod/rod_stencils.hpp"

namespace diffsim::rod {
namespace {

/// Force term of the joints of one kind. `set_constraints` determines the stencils, because the kind of a joint depends
/// on which vertices are prescribed or clamped.
class RodJoints : public StencilTerm<RodJoint> {
 public:
  RodJoints(const TetrahedralMesh& mesh, std::vector<int> segments, const RodJoint& joint,
            const std::vector<PointParameter>& parameters)
      : StencilTerm("joints of rods", joint, parameters, {}, {}, mesh.lower_cells(CellKind::segment).num()),
        mesh_(&mesh),
        segments_(std::move(segments)),
        beyond_(joint.beyond) {
    set_constraints({});
  }

  bool holds_body() const override { return keeps_directions_; }
  void set_constraints(const VertexConstraints& held) override {
    Stencils joints = joint_stencils(mesh_->lower_cells(CellKind::segment), segments_, beyond_, held);
    const auto count = static_cast<std::int64_t>(joints.segments.size());
    keeps_directions_ = beyond_ == Beyond::direction && sum_over_ranks(count, mesh_->comm()) > 0;
    set_stencils(std::move(joints.vertices), joints.segments);
  }

 private:
  const TetrahedralMesh* mesh_;
  std::vector<int> segments_;
  Beyond beyond_;
  bool keeps_directions_ = false;  // true if joints of kind `Beyond::direction` exist on any rank
};

}  // namespace

std::unique_ptr<ForceTerm> make_joints(const TetrahedralMesh& mesh, const std::vector<int>& segments,
                                       const RodJoint& joint, const std::vector<PointParameter>& parameters) {
  return std::make_unique<RodJoints>(mesh, segments, joint, parameters);
}

}  // namespace diffsim::rod
