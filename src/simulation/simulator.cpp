// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
#include "diffsim/simulation/simulator.hpp"

#include <algorithm>
#include <cctype>
#include <optional>
#include <utility>

#include "adjoint/adjoint_sweep.hpp"
#include "adjoint/later_steps.hpp"
#include "adjoint/sweep_plan.hpp"
#include "checkpoint/from_options.hpp"
#include "checkpoint/store.hpp"
#include "diffsim/core/error.hpp"
#include "diffsim/core/runtime.hpp"
#include "dynamics/system_model.hpp"
#include "mesh/cell_model.hpp"
#include "simulation/kept_store.hpp"

namespace diffsim {
namespace {

/// Throws Error (input) if this build does not run on `device`.
void require_device(const std::string& device) {
  if (device.empty()) return;
  std::string built = back_end();
  std::transform(built.begin(), built.end(), built.begin(), [](unsigned char c) { return std::tolower(c); });
  if (built == "serial" || built == "openmp" || built == "threads") built = "cpu";
  if (device != built)
    throw Error("device '" + device + "' is not available: this build runs on '" + built + "' (" + back_end() +
                    "); set DIFFSIM_EXECUTION_SPACE when building the library",
                ErrorKind::input);
}

/// Throws Error (input) if no rollout can run the steps `steps`.
void require_range(StepRange steps) {
  if (steps.begin < 0 || steps.end < steps.begin)
    throw Error("a rollout from step " + std::to_string(steps.begin) + " to " + std::to_string(steps.end) +
                    " is not possible; give a range such as {20, 40}",
                ErrorKind::input);
}

Materials with_density(Materials materials, double density) {
  for (DifferentiableMaterial& material : materials)
    if (!find_cell_model(material.model)) material.values.try_emplace("density", density);
  return materials;
}

}  // namespace

// ---- Simulator ----

Simulator::Simulator(std::shared_ptr<TetrahedralMesh> mesh, Materials materials, const DifferentiableSolver& solver,
                     double density, const std::string& device) {
  require_device(device);
  scene_ = std::make_shared<DifferentiableScene>(std::move(mesh), with_density(std::move(materials), density), solver);
}

Simulator::Simulator(MPI_Comm comm, std::vector<Body> bodies, const DifferentiableSolver& solver, double density,
                     const std::string& device) {
  require_device(device);
  for (Body& body : bodies) body.materials = with_density(std::move(body.materials), density);
  scene_ = std::make_shared<DifferentiableScene>(comm, std::move(bodies), solver);
}

Simulator::Simulator(DifferentiableScene& scene) : scene_(&scene, [](DifferentiableScene*) {}) {}

void Simulator::set_fixed_vertices(const std::string& region) { scene().fix(region); }

void Simulator::set_fixed_vertices(const std::vector<std::int64_t>& vertices) {
  TetrahedralMesh& mesh = *scene_->mesh();
  int number = 0;
  while (mesh.has_region("fixed_vertices_" + std::to_string(number))) ++number;
  const std::string region = "fixed_vertices_" + std::to_string(number);
  mesh.define_region(region, VertexList{vertices});
  set_fixed_vertices(region);
}

Trajectory Simulator::rollout(int num_steps, int checkpoint_every, const StateObserver& observer) {
  if (num_steps < 0 || checkpoint_every < 1)
    throw Error("a rollout of " + std::to_string(num_steps) + " steps with a checkpoint every " +
                    std::to_string(checkpoint_every) +
                    " steps is not possible; give at least 0 steps and an interval of at least 1",
                ErrorKind::input);
  return rollout_from(scene_->initial_state(), {0, num_steps}, checkpoint_every, observer);
}

Trajectory Simulator::rollout(StepRange steps, int checkpoint_every, const StateObserver& observer) {
  require_range(steps);
  if (checkpoint_every < 1)
    throw Error("a checkpoint every " + std::to_string(checkpoint_every) +
                    " steps is not possible; give an interval of at least 1",
                ErrorKind::input);
  return rollout_from(state().clone(), steps, checkpoint_every, observer);
}

Trajectory Simulator::rollout_from(const State& from, StepRange steps, int checkpoint_every,
                                   const StateObserver& observer) {
  if (steps.begin == 0 && scene_->has_contact()) scene_->require_apart();
  const auto store = std::make_shared<KeptStore>();
  run(steps, checkpoint_every, observer, from, store);
  if (store->steps().count(0) == 0) store->put(0, from);  // a short rollout stores no snapshot
  return Trajectory(scene_, store, steps, state_.clone());
}

void Simulator::run(StepRange steps, int checkpoint_every, const StateObserver& observer, const State& from,
                    const std::shared_ptr<KeptStore>& store) {
  state_was_set();
  state_ = from.clone();
  step_ = steps.begin;
  diffsim::rollout(scene_->model(), state_, steps, nullptr, [&](int n, const State& state) {
    const int done = n - steps.begin;
    if (n < steps.end && done % checkpoint_every == 0) store->put(done, state);
    if (observer) observer(n, state);
  });
  step_ = steps.end;
}

void Simulator::step() {
  state();
  if (step_ == 0 && scene_->has_contact()) scene_->require_apart();
  state_was_set();
  scene_->step(step_, state_);

  ++step_;
}

double Simulator::time() const { return step_ * scene_->dt(); }

const State& Simulator::state() {
  if (state_.fields().empty()) reset();
  return state_;
}

void Simulator::set_state(const State& state, int step) {
  reset();
  state_.copy_from(state);
  synchronise(state_);
  step_ = step;
}

int Simulator::set_state(const std::string& trajectory, int step) {
  State frame = scene_->initial_state();
  const int found = scene_->read_frame(trajectory, step, frame);
  reset();
  state_ = std::move(frame);
  step_ = found;
  return found;
}

void Simulator::reset() {
  state_was_set();
  state_ = scene_->initial_state();
  step_ = 0;
}

// ---- DifferentiableSimulator ----

/// Loss that is chosen after the forward run. The value of the loss is summed while the reverse sweep visits each state
/// once. Only the functions that a sweep of first derivatives calls are forwarded to the chosen loss.
class DifferentiableSimulator::LossOfBackward final : public Loss {
 public:
  /// Selects the loss, which must outlive the reverse sweep.
  void choose(Loss& loss) { chosen_ = &loss; }
  bool is_chosen() const { return chosen_ != nullptr; }
  double value() const { return value_; }

  bool observes(int n) const override { return chosen_ && chosen_->observes(n); }
  double value(int n, const State& state, const ParameterSet& parameters) override {
    return chosen_->value(n, state, parameters);
  }
  double tangent(int n, const State& state, const ParameterSet& parameters, const State& tangent,
                 const ParameterSet& direction) override {
    return chosen_->tangent(n, state, parameters, tangent, direction);
  }
  void add_gradient(int n, const State& state, const ParameterSet& parameters, State& adjoint,
                    ParameterSet& gradient) override {
    value_ += chosen_->value(n, state, parameters);
    chosen_->add_gradient(n, state, parameters, adjoint, gradient);
  }

 private:
  Loss* chosen_ = nullptr;
  double value_ = 0.0;  // this rank's contribution
};

DifferentiableSimulator::DifferentiableSimulator(std::shared_ptr<TetrahedralMesh> mesh, Materials materials,
                                                 const DifferentiableSolver& solver, double density,
                                                 const std::string& device)
    : Simulator(std::move(mesh), std::move(materials), solver, density, device) {
  require_gradients_of_materials();
}

DifferentiableSimulator::DifferentiableSimulator(MPI_Comm comm, std::vector<Body> bodies,
                                                 const DifferentiableSolver& solver, double density,
                                                 const std::string& device)
    : Simulator(comm, std::move(bodies), solver, density, device) {
  require_gradients_of_materials();
}

void DifferentiableSimulator::require_gradients_of_materials() {
  const auto& all = scene_->materials();
  if (std::none_of(all.begin(), all.end(), [](const DifferentiableMaterial& m) { return m.requires_grad; })) return;
  std::vector<std::string> names;
  for (const char* name : {"youngs_modulus", "poisson_ratio"})
    if (scene_->parameters().find(name)) names.push_back(name);
  require_gradient(names);
}

DifferentiableSimulator::DifferentiableSimulator(DifferentiableScene& scene) : Simulator(scene) {}
DifferentiableSimulator::~DifferentiableSimulator() = default;
void DifferentiableSimulator::state_was_set() { sweep_.reset(); }

void DifferentiableSimulator::require_gradient(const std::vector<std::string>& parameters) {
  state_was_set();  // a sweep refers to the former gradient

  gradient_ = scene_->parameters().zero_like(parameters);
}

void DifferentiableSimulator::run(StepRange steps, int checkpoint_every, const StateObserver& observer,
                                  const State& from, const std::shared_ptr<KeptStore>& store) {
  const auto loss = std::make_shared<LossOfBackward>();
  CheckpointOptions options;
  options.schedule = CheckpointSchedule::uniform;
  options.every = checkpoint_every;
  sweep_forward(steps, options, *loss, observer, &from, store);
  loss_of_backward_ = loss;
}

double DifferentiableSimulator::backward(const StateLoss& loss) {
  FunctionLoss of_states(loss);
  return backward(of_states);
}

double DifferentiableSimulator::backward(Loss& loss) {
  if (!sweep_ || !loss_of_backward_ || loss_of_backward_->is_chosen())
    throw Error("backward(loss) needs a call of rollout(num_steps, checkpoint_every) before each call");
  loss_of_backward_->choose(loss);
  backward();
  return sum_over_ranks(loss_of_backward_->value(), scene_->mesh()->comm());
}

double DifferentiableSimulator::rollout(int num_steps, int checkpoint_every, Loss& loss,
                                        const StateObserver& observer) {
  CheckpointOptions options;
  if (checkpoint_every > 0) {
    options.schedule = CheckpointSchedule::uniform;
    options.every = checkpoint_every;
  }
  return rollout(num_steps, options, loss, observer);
}

double DifferentiableSimulator::rollout(int num_steps, const CheckpointOptions& options, Loss& loss,
                                        const StateObserver& observer) {
  if (scene_->has_contact()) scene_->require_apart();
  return sweep_forward({0, num_steps}, options, loss, observer, nullptr);
}

double DifferentiableSimulator::rollout(StepRange steps, const CheckpointOptions& options, Loss& loss,
                                        const StateObserver& observer) {
  require_range(steps);
  if (steps.begin == 0 && scene_->has_contact()) scene_->require_apart();
  const State from = state().clone();
  return sweep_forward(steps, options, loss, observer, &from);
}

double DifferentiableSimulator::sweep_forward(StepRange steps, const CheckpointOptions& options, Loss& loss,
                                              const StateObserver& observer, const State* from,
                                              std::shared_ptr<Store> store) {
  const State begin = from ? from->clone() : scene_->initial_state();
  // The memory of an earlier sweep is released before another sweep is planned or created.
  sweep_.reset();
  store_.reset();
  loss_of_backward_.reset();
  state_ = State();
  adjoint_ = State();
  model_ = std::make_unique<LaterSteps>(scene_->model(), steps.begin);
  loss_ = std::make_unique<LaterLoss>(loss, steps.begin);
  const int count = steps.size();
  std::optional<SweepPlan> plan;
  if (options.memory.is_given()) plan = plan_sweep(options, *model_, begin, gradient_, count, {.kept_states = 1});
  state_ = begin.clone();
  schedule_ = make_schedule(options, count, plan ? &plan->checkpoints : nullptr);
  store_ = store ? std::move(store) : std::shared_ptr<Store>(make_store(options, scene_->mesh()->comm()));
  sweep_ = std::make_unique<AdjointSweep>(*model_, *loss_, *schedule_, *store_);
  const StateObserver in_whole_rollout = [&](int n, const State& at) {
    if (observer) observer(steps.begin + n, at);
  };
  const double value =
      sweep_->forward(state_, gradient_, in_whole_rollout, [=](int n, const State&) { return n == count; });
  step_ = steps.end;
  revision_ = scene_->revision();
  return value;
}

void DifferentiableSimulator::backward() {
  if (!sweep_) throw Error("call rollout before backward");
  if (scene_->changed_since(revision_))
    throw Error(
        "a parameter or the fixed vertices may have changed since the rollout; call rollout again before backward",
        ErrorKind::input);

  const State end = state_.clone();  // the reverse sweep changes the state
  State adjoint = state_.zero_like();
  sweep_->watch(watcher_);
  sweep_->backward(adjoint);
  adjoint_ = std::move(adjoint);
  state_.copy_from(end);
}

const Field& DifferentiableSimulator::gradient(const std::string& parameter) const {
  return gradient_.at(parameter).field;
}

const State& DifferentiableSimulator::initial_gradient() const {
  if (schedule_ && schedule_->first_reversed() > 0)
    throw Error("a sweep of the last steps only has no gradient with respect to the initial state; reverse all steps",
                ErrorKind::input);
  return adjoint_;
}

const SweepStatistics& DifferentiableSimulator::statistics() const {
  if (!sweep_) throw Error("statistics are available only after a rollout");
  return sweep_->statistics();
}

}  // namespace diffsim
