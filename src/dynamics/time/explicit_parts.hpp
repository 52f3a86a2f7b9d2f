// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <memory>
#include <type_traits>
#include <utility>
#include <vector>

#include "core/exchange.hpp"
#include "diffsim/core/error.hpp"
#include "diffsim/core/impl/device.hpp"
#include "dynamics/time/explicit_constraints.hpp"
#include "dynamics/time/explicit_impacts.hpp"
#include "dynamics/time/explicit_kernels.hpp"
#include "dynamics/time/explicit_model.hpp"
#include "dynamics/time/explicit_rule.hpp"
#include "dynamics/time/invalid_cell.hpp"
#include "dynamics/time/reversible_grid.hpp"
#include "dynamics/vector_kernels.hpp"

// Definitions shared by the sources of ExplicitModel.

namespace diffsim {
namespace dynamics {

/// Data of an explicit step that derivatives need: the positions at all stages of all substeps, the multipliers of
/// constraints and the corrected positions or velocities (ConstraintValues), the states before impacts, and, if
/// requested, the velocities and the forces at the stages. The positions and velocities of the first stage of the first
/// substep are stored in `initial`, the state at the start of the step.
class ExplicitRecord : public Record {
 public:
  ExplicitRecord(State initial, int substeps, std::size_t stages, bool velocities, bool forces)
      : initial_(std::move(initial)),
        stages_(static_cast<int>(stages)),
        constraints_(static_cast<std::size_t>(substeps) * stages),
        before_impacts_(static_cast<std::size_t>(substeps)) {
    for (int k = 0; forces && k < substeps * stages_; ++k) forces_.push_back({initial_["velocities"].like("force")});
    for (int k = 1; k < substeps * stages_; ++k) {
      positions_.push_back(initial_["positions"].like("positions"));
      if (velocities) velocities_.push_back(initial_["velocities"].like("velocities"));
    }
  }
  const State& initial() const override { return initial_; }

  /// Stores the positions and, if requested, the velocities of stage i of substep s.
  void save(int s, int i, const State& at) {
    if (!forces_.empty()) forces_[force_place(s, i)].is_saved = false;
    if (s == 0 && i == 0) {
      initial_.copy_from(at);
      return;
    }
    positions_[place(s, i)].copy_from(at["positions"]);
    if (!velocities_.empty()) velocities_[place(s, i)].copy_from(at["velocities"]);
  }
  /// Stores the forces on owned vertices at stage i of substep s, if forces were requested. `save_force` must be called
  /// after `save` for the same stage.
  void save_force(int s, int i, const Field& force) {
    if (forces_.empty()) return;
    Force& to = forces_[force_place(s, i)];
    copy_values(static_cast<int>(to.field.size()), force, to.field);
    to.is_saved = true;
  }
  /// Returns the forces on owned vertices at stage i of substep s, or nullptr if these forces were not stored.
  const Field* force(int s, int i) const {
    if (forces_.empty() || !forces_[force_place(s, i)].is_saved) return nullptr;
    return &forces_[force_place(s, i)].field;
  }

  void save_constraints(int s, int i, ConstraintValues values) { constraints_[force_place(s, i)] = std::move(values); }
  /// Returns the constraint multipliers at stage i of substep s, and the positions or velocities that satisfy the
  /// constraints.
  const ConstraintValues& constraints(int s, int i) const { return constraints_[force_place(s, i)]; }

  /// State before the impacts at the end of substep s.
  BeforeImpacts& before_impacts(int s) { return before_impacts_[static_cast<std::size_t>(s)]; }
  const BeforeImpacts& before_impacts(int s) const { return before_impacts_[static_cast<std::size_t>(s)]; }

  const Field& positions(int s, int i) const {
    return s == 0 && i == 0 ? initial_["positions"] : positions_[place(s, i)];
  }
  const Field& velocities(int s, int i) const {
    if (s == 0 && i == 0) return initial_["velocities"];
    if (velocities_.empty()) throw Error("the record of this step has no velocities");
    return velocities_[place(s, i)];
  }

 private:
  struct Force {
    Field field;
    bool is_saved = false;
  };
  std::size_t place(int s, int i) const { return static_cast<std::size_t>(s * stages_ + i - 1); }
  std::size_t force_place(int s, int i) const { return static_cast<std::size_t>(s * stages_ + i); }

  State initial_;
  int stages_;
  std::vector<Field> positions_, velocities_;
  std::vector<Force> forces_;
  std::vector<ConstraintValues> constraints_;
  std::vector<BeforeImpacts> before_impacts_;
};

}  // namespace dynamics

struct ExplicitModel::Workspace {
  Workspace(const TetrahedralMesh& mesh, int substeps)
      : force("force", mesh.vertex_entities(), 3),
        invalid_cell("diffsim::dynamics::invalid_cell", static_cast<std::size_t>(substeps) + 1),
        invalid_vertex("diffsim::dynamics::invalid_vertex", static_cast<std::size_t>(substeps) + 1),
        far_vertex("diffsim::dynamics::far_vertex", 1),
        no_damping("no_damping", 1) {
    Kokkos::deep_copy(far_vertex, dynamics::nothing_invalid);
    Kokkos::deep_copy(invalid_cell, dynamics::nothing_invalid);
    Kokkos::deep_copy(invalid_vertex, dynamics::nothing_invalid);
    no_damping.fill(1.0);
  }
  /// Returns the device addresses of masses, gravity and damping factor of step n, and of their derivatives along
  /// `direction` if the scalar type T is a Dual type.
  template <class T>
  dynamics::ExplicitUpdate<T> update(const ExplicitModel& model, int n, const ParameterSet* direction = nullptr) const {
    const auto entries = [n](const ParameterSet& set, const char* name, std::size_t width) -> const double* {
      const Parameter* const parameter = set.find(name);
      return parameter ? parameter->field.data() + width * parameter->offset(n) : nullptr;
    };
    const ParameterSet& set = model.parameters();
    const double* const damping = model.has_damping() ? entries(set, "damping", 1) : no_damping.data();
    if constexpr (std::is_same_v<T, double>)
      return {
          model.h(), {damping}, {entries(set, "gravity", 3)}, {model.system_->mass().data()}, model.system_->fixed()};
    else
      return {model.h(),
              {damping, entries(*direction, "damping", 1)},
              {entries(set, "gravity", 3), entries(*direction, "gravity", 3)},
              {model.system_->mass().data(),
               model.system_->changes_mass(*direction) ? model.system_->mass_tangent().data() : nullptr},
              model.system_->fixed()};
  }
  /// Returns pointers to the masses, and to their derivatives along `direction` if masses depend on a parameter in
  /// `direction`.
  dynamics::FieldPair masses(const ExplicitModel& model, const ParameterSet* direction = nullptr) const {
    System& system = *model.system_;
    return {&system.mass(), direction && system.changes_mass(*direction) ? &system.mass_tangent() : nullptr};
  }
  /// Returns `field`, [local vertices, 3]. The first call for a field allocates the field.
  Field& local(Field& field, const char* name) const {
    if (field.size() != force.size()) field = force.like(name);
    return field;
  }
  /// Allocates `stage`, the positions and velocities of a stage, and `accelerations`, the accelerations of all stages
  /// except the last. Later calls do nothing.
  void make_stages(const ExplicitModel& model) {
    if (model.rule_.stages.size() == accelerations.size() + 1) return;
    stage = model.make_state();
    const Field& owned = stage["velocities"];
    for (std::size_t i = 1; i < model.rule_.stages.size(); ++i) accelerations.push_back(owned.like("acceleration"));
  }
  /// Returns the device addresses of the fields `accelerations`.
  dynamics::Earlier<double> earlier() const {
    dynamics::Earlier<double> all{};
    for (std::size_t i = 0; i < accelerations.size(); ++i) all.of[i] = {accelerations[i].data()};
    return all;
  }
  /// Copies the velocities `owned` of owned vertices to the field `all` on local vertices, updates the ghost values and
  /// returns the address of `all`. Returns nullptr if no force term uses velocities.
  const Field* complete(const ExplicitModel& model, const Field& owned, Field& all) const {
    if (!model.system_->any_term_uses_velocities()) return nullptr;
    dynamics::copy_values(static_cast<int>(owned.size()), owned, local(all, "velocities"));
    model.system_->mesh().vertex_exchange().copy_to_ghosts(all);
    return &all;
  }

  std::unique_ptr<dynamics::ExplicitConstraints> constraints;  // nullptr if the system has no constraints
  std::unique_ptr<dynamics::ExplicitImpacts> impacts;          // nullptr if the system has no impacts
  Field force;                                                 // [local vertices, 3]
  /// Smallest local index of an inverted cell (`invalid_cell`) and of a vertex whose position is not finite
  /// (`invalid_vertex`), or `nothing_invalid` if there is no such cell or vertex, [substeps + 1]. Entry s of
  /// `invalid_cell` is for the stages of substep s, the last entry of `invalid_cell` for the end of the step. Entry s
  /// of `invalid_vertex` is for the positions at the end of substep s.
  DeviceArray<std::int32_t> invalid_cell, invalid_vertex;
  DeviceArray<std::int32_t> far_vertex;  // [1]: smallest index of a vertex whose position or velocity is outside `grid`
  Field no_damping;                      // [1], for rules without damping factor
  dynamics::ReversibleGrid grid;         // for reversible steps
  State stage;  // positions X_i and velocities V_i of the present stage, for rules with several stages
  std::vector<Field> accelerations;  // [stages - 1] fields [owned vertices, 3]; derivatives in tangents and adjoints
  Field force_derivative;            // tangent or adjoint of the force, [local vertices, 3]
  Field start;                       // positions at the start of a substep, for contact
  Field pending;                     // adjoint of a force that two successive substeps share (`reuses_forces`)
  Field velocities;                  // on local vertices, if terms use velocities
  Field velocity_derivative;         // tangent or adjoint of `velocities`
};

}  // namespace diffsim
