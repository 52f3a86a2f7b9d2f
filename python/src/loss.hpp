// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <nanobind/nanobind.h>

#include <functional>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "diffsim/core/loss.hpp"
#include "diffsim/mesh/tetrahedral_mesh.hpp"
#include "diffsim/simulation/scene.hpp"
#include "runtime.hpp"

namespace diffsim::python {

namespace nb = nanobind;

/// Runs a body that calls Python on every rank. If the body fails on some ranks, these ranks throw their own exceptions
/// and the others throw an Error. Collective; the caller is in a LibraryScope.
void call_on_all_ranks(MPI_Comm comm, const std::function<void()>& body);
/// Throws the exception of a pending signal, such as KeyboardInterrupt. The caller has the GIL.
void check_signals();

/// Loss that is a Python function loss(n, state) -> None or (value, {field: derivative}).
class PythonLoss final : public Loss {
 public:
  /// `values_only`: a value without derivatives is accepted.
  PythonLoss(nb::object function, MPI_Comm comm, double dt, bool values_only);
  ~PythonLoss() override;

  bool observes(int /*n*/) const override { return true; }
  double value(int n, const State& state, const ParameterSet& parameters) override;
  double tangent(int n, const State& state, const ParameterSet& parameters, const State& tangent,
                 const ParameterSet& direction) override;
  void add_gradient(int n, const State& state, const ParameterSet& parameters, State& adjoint,
                    ParameterSet& gradient) override;

 private:
  void evaluate(int n, const State& state);
  void read(nb::handle result, const State& state);

  nb::object function_;
  MPI_Comm comm_;
  double dt_;
  bool values_only_;
  int step_ = -1;  // number of the state at which the members below were evaluated
  double value_ = 0.0;
  std::vector<std::vector<double>> derivatives_;  // for each field of the state; empty: zero
};

/// Loss of the library in a Python object.
class LossHandle : public Handle {
 public:
  /// Mesh and scene that a loss is for; nullptr: any.
  struct Subject {
    const TetrahedralMesh* mesh = nullptr;
    const DifferentiableScene* scene = nullptr;
    /// Throws Error (input) if both subjects have a mesh, or a scene, and these differ.
    void require_same(const Subject& other) const;
  };

  /// `owners`: objects that the loss refers to.
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
  /// Throws Error (input) if the loss is part of a sum.
  const std::shared_ptr<Loss>& shared() const;
  /// Returns the loss for a sum, which may multiply the loss. Throws Error (input) if another object uses the loss.
  const std::shared_ptr<Loss>& for_sum() const;
  /// Marks the loss as a part of `sum`, and limits `sum` to the subject of the loss. Later calls of `shared` throw.
  void give_to(LossHandle& sum);
  const Subject& subject() const { return subject_; }

 private:
  std::vector<std::shared_ptr<const void>> owners_;
  std::shared_ptr<Loss> loss_;
  Subject subject_;
  bool is_given_ = false;
};

/// Loss of a Python object: a loss of the library, or a PythonLoss of a function. Throws InputError for another object,
/// and for a loss of another mesh or scene.
std::shared_ptr<Loss> loss_of(nb::object object, const DifferentiableScene& scene, bool values_only);

}  // namespace diffsim::python
