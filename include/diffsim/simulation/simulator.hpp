// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "diffsim/adjoint/sweep.hpp"
#include "diffsim/checkpoint/checkpoint_options.hpp"
#include "diffsim/core/loss.hpp"
#include "diffsim/simulation/scene.hpp"

namespace diffsim {

class LaterLoss;
class LaterSteps;
class AdjointSweep;
class Schedule;
class Store;
class KeptStore;
class Trajectory;

/// Simulates bodies step by step, without gradients. All members are collective.
class Simulator {
 public:
  /// Creates a simulator that owns a new scene with the mesh `mesh`. `density` (kg/m³) applies to materials of
  /// tetrahedra that give no density. `device` is "cpu", "cuda" or "hip"; an empty string means the device for which
  /// this library was built. Throws Error (input) if this library was not built for the device `device`. Throws the
  /// same Errors as the constructor of DifferentiableScene.
  Simulator(std::shared_ptr<TetrahedralMesh> mesh, Materials materials, const DifferentiableSolver& solver = {},
            double density = 1000.0, const std::string& device = {});
  /// Overload of the constructor for several bodies. Region R of the body BODY is called BODY/R in the scene.
  Simulator(MPI_Comm comm, std::vector<Body> bodies, const DifferentiableSolver& solver = {}, double density = 1000.0,
            const std::string& device = {});
  /// Creates a simulator of a scene, which must outlive the simulator.
  explicit Simulator(DifferentiableScene& scene);
  virtual ~Simulator() = default;

  DifferentiableScene& scene() { return *scene_; }             ///< scene that the simulator advances
  ParameterSet& parameters() { return scene().parameters(); }  ///< parameters of the scene
  /// Fixes the vertices of a region at their current positions. `set_fixed_vertices` takes effect in the next step; in
  /// the current state, the fixed vertices should be at rest.
  void set_fixed_vertices(const std::string& region);
  /// Overload of `set_fixed_vertices` for vertices with the given numbers (0-based) in the mesh file.
  void set_fixed_vertices(const std::vector<std::int64_t>& vertices);

  /// Runs `num_steps` steps from the scene's initial state, with a checkpoint in memory every `checkpoint_every` ≥ 1
  /// steps, and returns the states. `observer` receives each state once. If `observer` throws an exception, the rollout
  /// ends; call `reset` before further steps. Throws Error (input) if `num_steps` is negative or `checkpoint_every` is
  /// less than 1. After `rollout`, `DifferentiableSimulator::backward(loss)` can compute gradients of any loss of the
  /// states.
  Trajectory rollout(int num_steps, int checkpoint_every = 10, const StateObserver& observer = {});
  /// Overload of `rollout` for a part of a longer rollout: runs the steps n with `steps.begin` ≤ n < `steps.end` from
  /// the state `state()`. The observer, the Trajectory and `DifferentiableSimulator::backward(loss)` number the states
  /// from `steps.begin` on. Throws Error (input) for an invalid range or a `checkpoint_every` that is less than 1.
  Trajectory rollout(StepRange steps, int checkpoint_every = 10, const StateObserver& observer = {});
  /// Advances the current state by one step. In a scene with contact, step 0 first calls
  /// `DifferentiableScene::require_apart`, which checks the scene's initial state and may throw Error.
  void step();
  /// Step number of the current state.
  int step_number() const { return step_; }
  /// Time of the current state, s.
  double time() const;
  /// Returns the current state, or the initial state of the scene if no step was taken and no state was set.
  const State& state();
  const Field& positions() { return state()["positions"]; }    ///< [local vertices, 3], m
  const Field& velocities() { return state()["velocities"]; }  ///< [owned vertices, 3], m/s
  /// Sets the current state and its step number. Throws Error if the fields of `state` differ from the fields of the
  /// scene's state.
  void set_state(const State& state, int step = 0);
  /// Sets the current state to a frame of a trajectory file: the frame of step `step` or, if `step` is -1, the last
  /// frame. Returns the step number of the frame that was read. Throws the same Errors as
  /// `DifferentiableScene::read_frame`, for example if the trajectory file has no frame of step `step`.
  int set_state(const std::string& trajectory, int step);
  /// Sets the current state to the initial state of the scene, and the step number to 0.
  void reset();

 protected:
  /// Function that is called before `step`, `set_state` and `reset` change the state. A derived class overrides
  /// `state_was_set` to discard results for the previous state.
  virtual void state_was_set() {}
  /// Advances `state_` from the state `from`, which has the number `steps.begin`, to state `steps.end`, and stores a
  /// snapshot every `checkpoint_every` steps in `store`. The snapshot of state n has the number n - `steps.begin`.
  virtual void run(StepRange steps, int checkpoint_every, const StateObserver& observer, const State& from,
                   const std::shared_ptr<KeptStore>& store);

  /// Runs the steps `steps` from the state `from`, and returns the states.
  Trajectory rollout_from(const State& from, StepRange steps, int checkpoint_every, const StateObserver& observer);

  /// Scene that the simulator advances; not owned if the constructor received a reference.
  std::shared_ptr<DifferentiableScene> scene_;
  State state_;   ///< current state; a State without fields before its first use
  int step_ = 0;  ///< step number of `state_`
};

/// States of a rollout. The states at checkpoints are stored in memory; every other state is computed on demand from
/// the nearest earlier checkpoint. A scene that the simulator does not own must outlive the Trajectory.
class Trajectory {
 public:
  /// `checkpoints`: snapshots of the first state and, optionally, of other states; the snapshot of state n has the
  /// number n - `steps.begin`. `last`: state `steps.end`.
  Trajectory(std::shared_ptr<DifferentiableScene> scene, std::shared_ptr<KeptStore> checkpoints, StepRange steps,
             State last);

  int num_steps() const { return steps_.size(); }  ///< number of steps of the rollout
  StepRange steps() const { return steps_; }       ///< steps of the rollout; `begin` is 0 unless a range was given
  /// Returns the time after n steps (s).
  double time(int n) const;
  /// Returns state n, where `steps().begin` ≤ n ≤ `steps().end`. The returned reference is valid until the next call of
  /// `state`. Calls of `state` for all n in ascending order take at most the run time of one rollout in total. Throws
  /// Error (input) if n is outside this range. Throws Error (input) if the state must be recomputed although the
  /// scene may have changed since the rollout (`DifferentiableScene::revision`). Collective.
  const State& state(int n);

 private:
  std::shared_ptr<DifferentiableScene> scene_;
  std::shared_ptr<KeptStore> checkpoints_;
  StepRange steps_;
  State last_, state_;
  std::uint64_t revision_;  // `revision` of the scene when the Trajectory was created
  int step_ = -1;           // step number of `state_`
};

/// Product of the Hessian of a loss L with a direction: the derivative of the gradient of L along the direction.
struct HessianProduct {
  /// Derivatives of ∂L/∂p along the direction, for the parameters p that `require_gradient` selected.
  ParameterSet parameters;
  /// Derivative of ∂L/∂x[0] along the direction of the Hessian product, where x[0] is the initial state; only the owned
  /// entries of the fields are meaningful.
  State initial_state;
};

/// Simulates bodies, and computes gradients of a loss through rollouts.
class DifferentiableSimulator : public Simulator {
 public:
  /// Creates a simulator; the arguments are those of the constructor of Simulator. If any material has `requires_grad`,
  /// the constructor selects the parameters `youngs_modulus` and `poisson_ratio`, which have values on all tetrahedra,
  /// as `require_gradient` does.
  DifferentiableSimulator(std::shared_ptr<TetrahedralMesh> mesh, Materials materials,
                          const DifferentiableSolver& solver = {}, double density = 1000.0,
                          const std::string& device = {});
  /// Overload of the constructor for several bodies; the arguments are those of the constructor of Simulator.
  DifferentiableSimulator(MPI_Comm comm, std::vector<Body> bodies, const DifferentiableSolver& solver = {},
                          double density = 1000.0, const std::string& device = {});
  /// Creates a simulator of a scene, which must outlive the simulator. Selects no parameters.
  explicit DifferentiableSimulator(DifferentiableScene& scene);
  ~DifferentiableSimulator() override;

  /// Selects the parameters p for which `backward` computes the derivative ∂L/∂p of the loss L, and discards the last
  /// rollout. The derivative ∂L/∂x[0] with respect to the initial state x[0] is always computed.
  void require_gradient(const std::vector<std::string>& parameters);

  using Simulator::rollout;
  /// Computes the gradient of the loss Σ_n ℓ(n, x[n]), where ℓ is `loss` and x[n] are the states of the last
  /// `rollout(num_steps, checkpoint_every)` or `rollout(steps, checkpoint_every)`, and returns the loss, summed over
  /// all ranks. `state()` does not change. Call `backward(loss)` at most once after each rollout; a second call throws
  /// Error.
  double backward(const StateLoss& loss);
  /// Overload of `backward` for a Loss Σ_n ℓ_n(x[n], p) of the states x[n] and the parameters p. The gradient includes
  /// the derivatives ∂ℓ_n/∂p of the Loss with respect to the parameters p.
  double backward(Loss& loss);

  /// Runs `num_steps` steps from the scene's initial state and returns the loss. `checkpoint_every`: number of steps
  /// between snapshots in memory. If `checkpoint_every` is 0, the data that `backward` needs are stored in memory for
  /// every step, so that `backward` repeats no step.
  double rollout(int num_steps, int checkpoint_every, Loss& loss, const StateObserver& observer = {});
  /// Overload of `rollout` with checkpoint options.
  double rollout(int num_steps, const CheckpointOptions& options, Loss& loss, const StateObserver& observer = {});
  /// Overload of `rollout` for a part of a longer rollout: runs the steps n with `steps.begin` ≤ n < `steps.end`. The
  /// rollout starts at the state `state()`, which is the last state of the previous rollout unless another state was
  /// set. `loss` and `observer` receive step numbers from `steps.begin` on. After `backward`, `initial_gradient`
  /// returns the gradient with respect to the state before step `steps.begin`. In a scene with contact, each rollout
  /// from step 0 first calls `DifferentiableScene::require_apart`.
  double rollout(StepRange steps, const CheckpointOptions& options, Loss& loss, const StateObserver& observer = {});
  /// Computes the gradient of the last rollout's loss; `state()` does not change. Throws Error without a rollout since
  /// the last call that discards rollouts (`step`, `set_state`, `reset`, `require_gradient`, `rollout_tangent` or
  /// `hessian_product`), in a second call after the same rollout, and if the scene may have changed since the rollout
  /// (`DifferentiableScene::revision`).
  void backward();

  /// Returns ∂L/∂p of the last `backward` for a parameter p that `require_gradient` selected. Throws Error (input) if
  /// `require_gradient` did not select `parameter`.
  const Field& gradient(const std::string& parameter) const;
  /// Overload of `gradient` that returns ∂L/∂p for all selected parameters p.
  const ParameterSet& gradient() const { return gradient_; }
  /// Returns ∂L/∂x, where x is the state at which the rollout started. Only the owned entries of the fields of ∂L/∂x
  /// are meaningful. Throws Error (input) if the reverse sweep did not cover all steps.
  const State& initial_gradient() const;

  /// Runs `num_steps` steps from the scene's initial state x[0] in forward mode: computes the derivatives of the states
  /// along a change of the parameters, `direction`, and a change of x[0], `initial_tangent`. `direction` contains the
  /// changes of some or all of the scene's parameters (`ParameterSet::zero_like`). If `initial_tangent` has no fields,
  /// the change of the initial state is zero. `observer` receives each state x[n] and the derivative of x[n] once.
  /// `state()` does not change. `rollout_tangent` discards the last rollout: `backward` needs another rollout. Throws
  /// Error (input) if `num_steps` is negative.
  void rollout_tangent(int num_steps, const ParameterSet& direction, const State& initial_tangent,
                       const TangentObserver& observer);
  /// Returns the derivative of the gradient of `loss` through `num_steps` steps from the scene's initial state x[0]
  /// along `direction`, a change of parameters that `require_gradient` selected, and `initial_tangent`, a change of
  /// x[0]. An `initial_tangent` without fields means no change of the initial state. `loss` needs second derivatives.
  /// `checkpoint_every` ≥ 1: number of steps between checkpoints in memory. `state()` does not change.
  /// `hessian_product` discards the last rollout: `backward` needs another rollout. Throws Error (input) for invalid
  /// numbers of steps, parameters not selected by `require_gradient`, and a loss or model without second derivatives.
  HessianProduct hessian_product(int num_steps, int checkpoint_every, Loss& loss, const ParameterSet& direction,
                                 const State& initial_tangent);

  /// Sets the progress callback of later reverse sweeps (`backward`) and of later calls of `hessian_product`. If the
  /// progress callback throws an exception, `backward` or `hessian_product` ends; call `reset` before further steps.
  void watch(SweepWatcher watcher) { watcher_ = std::move(watcher); }

  /// Statistics of the last rollout and, after `backward`, of the reverse sweep: numbers of steps and snapshots, run
  /// times. Throws Error without a rollout since the last call that discards rollouts (see `backward`).
  const SweepStatistics& statistics() const;

 private:
  class LossOfBackward;

  void require_gradients_of_materials();
  void state_was_set() override;
  void run(StepRange steps, int checkpoint_every, const StateObserver& observer, const State& from,
           const std::shared_ptr<KeptStore>& store) override;
  double sweep_forward(StepRange steps, const CheckpointOptions& options, Loss& loss, const StateObserver& observer,
                       const State* from, std::shared_ptr<Store> store = nullptr);

  State adjoint_;
  SweepWatcher watcher_;
  std::uint64_t revision_ = 0;  // `revision` of the scene at the end of the last rollout
  std::unique_ptr<LaterSteps> model_;
  std::shared_ptr<LossOfBackward> loss_of_backward_;
  std::unique_ptr<LaterLoss> loss_;
  ParameterSet gradient_;
  std::unique_ptr<Schedule> schedule_;
  std::shared_ptr<Store> store_;
  std::unique_ptr<AdjointSweep> sweep_;
};

}  // namespace diffsim
