// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <utility>
#include <vector>

#include "diffsim/core/device.hpp"
#include "diffsim/core/error.hpp"
#include "diffsim/dynamics/symplectic_euler.hpp"
#include "dynamics/euler_update.hpp"
#include "dynamics/invalid_cell.hpp"
#include "dynamics/vector_kernels.hpp"

// What the sources of SymplecticEuler share.

namespace diffsim {
namespace dynamics {

using Update = EulerUpdate;

/// The states at the beginnings of the substeps.
class EulerRecord : public Record {
 public:
  EulerRecord(State initial, int substeps, bool velocities) : initial_(std::move(initial)) {
    for (int s = 1; s < substeps; ++s) {
      positions_.push_back(initial_["positions"].like("positions"));
      if (velocities) velocities_.push_back(initial_["velocities"].like("velocities"));
    }
  }
  const State& initial() const override { return initial_; }

  void save(int s, const State& state) {
    if (s == 0) {
      initial_.copy_from(state);
      return;
    }
    const auto i = static_cast<std::size_t>(s - 1);
    positions_[i].copy_from(state["positions"]);
    if (!velocities_.empty()) velocities_[i].copy_from(state["velocities"]);
  }
  const Field& positions(int s) const {
    return s == 0 ? initial_["positions"] : positions_[static_cast<std::size_t>(s - 1)];
  }
  const Field& velocities(int s) const {
    if (s == 0) return initial_["velocities"];
    if (velocities_.empty()) throw Error("the record of this step was made without velocities");
    return velocities_[static_cast<std::size_t>(s - 1)];
  }

 private:
  State initial_;
  std::vector<Field> positions_, velocities_;
};

}  // namespace dynamics

struct SymplecticEuler::Workspace {
  Workspace(const TetrahedralMesh& mesh, int substeps)
      : force("force", mesh.vertex_entities(), 3),
        invalid_cell("diffsim::dynamics::invalid_cell", static_cast<std::size_t>(substeps) + 1),
        invalid_vertex("diffsim::dynamics::invalid_vertex", static_cast<std::size_t>(substeps) + 1),
        far_vertex("diffsim::dynamics::far_vertex", 1) {
    Kokkos::deep_copy(far_vertex, dynamics::nothing_invalid);
    Kokkos::deep_copy(invalid_cell, dynamics::nothing_invalid);
    Kokkos::deep_copy(invalid_vertex, dynamics::nothing_invalid);
  }
  dynamics::Update update(const SymplecticEuler& model, int n) const {
    const Parameter& damping = model.parameters().at("damping");
    const Parameter& gravity = model.parameters().at("gravity");
    return {model.dt() / model.substeps_, damping.field.data() + damping.offset(n),
            gravity.field.data() + 3 * gravity.offset(n), model.mass().data(), model.fixed()};
  }
  /// A vector field on local vertices, allocated when first needed.
  Field& local(Field& field, const char* name) const {
    if (field.size() != force.size()) field = force.like(name);
    return field;
  }
  /// The velocities of owned vertices, completed by copies of other ranks', or nullptr where no term asks for them.
  const Field* complete(const SymplecticEuler& model, const Field& owned, Field& all) const {
    if (!model.any_term_uses_velocities()) return nullptr;
    dynamics::copy_values(static_cast<int>(owned.size()), owned, local(all, "velocities"));
    model.mesh().vertex_exchange().copy_to_ghosts(all);
    return &all;
  }

  Field force;                                             // [local vertices, 3]
  DeviceArray<std::int32_t> invalid_cell, invalid_vertex;  // [substeps + 1]: at their beginnings and the step's end
  DeviceArray<std::int32_t> far_vertex;                    // [1]: beyond the grid of reversible steps
  dynamics::ReversibleGrid grid;                           // of reversible steps
  Field force_derivative;                                  // tangent or adjoint of the force, [local vertices, 3]
  Field start;                                             // of a substep, where terms limit it
  Field velocities;           // copies of other ranks' vertices included, where terms need them
  Field velocity_derivative;  // likewise
};

}  // namespace diffsim
