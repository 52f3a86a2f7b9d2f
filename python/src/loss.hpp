// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <nanobind/nanobind.h>

#include <functional>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "all_ranks.hpp"
#include "diffsim/core/loss.hpp"
#include "diffsim/mesh/tetrahedral_mesh.hpp"
#include "diffsim/simulation/scene.hpp"
#include "runtime.hpp"

namespace diffsim::python {

namespace nb = nanobind;

/// Throws the Python exception of a pending signal, such as KeyboardInterrupt. The caller must hold the GIL.
void check_signals();

/// Loss that calls a Python function loss(n, state), which returns None or (value, {field: derivative}).
class PythonLoss final : public Loss {
 public:
  /// `values_only`: true if the function may also return a value without derivatives.
  PythonLoss(nb::object function, MPI_Comm comm, double dt, bool values_only);
  ~PythonLoss() override;

  bool observes(int /*n*/) const override { return true; }
  double value(int n, const State& state, const ParameterSet& parameters) override;
  double tangent(int n, const State& state, const ParameterSet& parameters, const State& tangent,
                 const ParameterSet& direction) override;
  void add_gradient(int n, const State& state, const ParameterSet& parameters, State& adjoint,
                    ParameterSet& gradient) override;
  /// Declares that the loss is a linear function of the states, so the second derivatives are zero.
  void set_linear() { is_linear_ = true; }
  /// Adds nothing. Throws Error (input) if the loss was not declared to be linear.
  void add_gradient_tangent(int n, const State& state, const ParameterSet& parameters, const State& tangent,
                            const ParameterSet& direction, State& adjoint_tangent,
                            ParameterSet& gradient_tangent) override;

 private:
  void evaluate(int n, const State& state);
  void read(nb::handle result, const State& state);

  nb::object function_;
  MPI_Comm comm_;
  double dt_;
  bool values_only_;
  bool is_linear_ = false;
  int step_ = -1;  // number of the state at which the members below were evaluated
  double value_ = 0.0;
  std::vector<std::vector<double>> derivatives_;  // with respect to each field; empty means zero
};

/// Python object that owns a loss of the library.
class LossHandle : public Handle {
 public:
  /// Mesh and scene to which a loss refers; nullptr if the loss is valid for any mesh or scene.
  struct Subject {
    const TetrahedralMesh* mesh = nullptr;
    const DifferentiableScene* scene = nullptr;
    /// Throws Error (input) if both subjects have a mesh and the meshes differ, or if both subjects have a scene and
    /// the scenes differ.
    void require_same(const Subject& other) const;
  };

  /// `owners`: objects to which the loss refers, and which must live as long as the loss.
  LossHandle(std::shared_ptr<Loss> loss, std::vector<std::shared_ptr<const void>> owners, Subject subject)
      : owners_(std::move(owners)), loss_(std::move(loss)), subject_(subject) {}
  ~LossHandle() override {
    const ReleaseScope scope;
    release();
  }
  void release() override {
    loss_.reset();
    owners_.clear();
  }
  /// Returns the loss. Throws Error (input) if the loss is part of a sum.
  const std::shared_ptr<Loss>& shared() const;
  /// Returns the loss for use in a sum, which may multiply the loss by a factor. Throws Error (input) if another object
  /// uses the loss.
  const std::shared_ptr<Loss>& for_sum() const;
  /// Marks the loss as part of `sum`. A `sum` without a mesh or a scene refers to those of the loss from now on. Later
  /// calls of `shared` throw.
  void give_to(LossHandle& sum);
  const Subject& subject() const { return subject_; }

 private:
  std::vector<std::shared_ptr<const void>> owners_;
  std::shared_ptr<Loss> loss_;
  Subject subject_;
  bool is_given_ = false;
};

/// Returns the loss of the library in `object`, or a PythonLoss that calls `object`, a function. Throws InputError if
/// `object` is neither a loss nor a function, or if the loss refers to another mesh or scene.
std::shared_ptr<Loss> loss_of(nb::object object, const DifferentiableScene& scene, bool values_only);

}  // namespace diffsim::python
