// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
//
// Python classes of inverse problems (losses as functions of a vector of unknowns), with optimisation, gradient checks,
// priors and posteriors.

#include "problem.hpp"

#include <nanobind/stl/optional.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <limits>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "all_ranks.hpp"
#include "arrays.hpp"
#include "bindings.hpp"
#include "checkpoints.hpp"
#include "constraint.hpp"
#include "diffsim/core/error.hpp"
#include "diffsim/inverse/gradient_check.hpp"
#include "diffsim/inverse/optimise.hpp"
#include "diffsim/inverse/posterior.hpp"
#include "loss.hpp"
#include "shared_objects.hpp"
#include "unknown.hpp"

namespace diffsim::python {

InverseProblem& ProblemHandle::change() const {
  for (const std::shared_ptr<SharedScene>& scene : scenes_) scene->change();
  return get();
}

void ProblemHandle::add(ProblemHandle& experiment) {
  if (experiment.get().has_experiments())
    throw InputError("the added problem has several experiments; add each experiment to one problem");
  if (std::count(scenes_.begin(), scenes_.end(), experiment.scene()) > 0)
    throw InputError(
        "the problem already has the scene of the added experiment; create another scene, or add the losses");
  get().add(experiment.get());
  // The problem of the experiment is destroyed before the experiment's scene and loss.
  owners_.push_back(experiment.problem_);
  owners_.push_back(experiment.scene());
  owners_.insert(owners_.end(), experiment.owners_.begin(), experiment.owners_.end());
  scenes_.push_back(experiment.scene());
}

std::size_t index_of(const InverseProblem& problem, const std::string& name) {
  const std::vector<Unknown>& unknowns = problem.unknowns();
  for (std::size_t k = 0; k < unknowns.size(); ++k)
    if (unknowns[k].name() == name) return k;
  std::string names;
  for (const Unknown& unknown : unknowns) names += (names.empty() ? "" : ", ") + unknown.name();
  throw InputError("there is no unknown '" + name + "'; the unknowns are: " + names);
}

namespace {

/// Returns the number of entries that this rank owns of the field of an unknown.
std::size_t entries_of(DifferentiableScene& scene, const Unknown& unknown) {
  if (const Parameter* parameter = scene.parameters().find(unknown.parameter))
    return parameter->is_global() ? parameter->field.extent() : parameter->field.owned();
  return static_cast<std::size_t>(scene.mesh()->num_owned_vertices());  // the unknown is a field of the initial state
}

/// Returns the unknown whose values are initial coordinates or rates of joints.
Unknown start_of_joints(DifferentiableScene& scene, const UnknownOptions& options) {
  const auto make = options.unknown.parameter == "initial_rates" ? initial_rates : initial_coordinates;
  Unknown made = make(*scene.mesh(), scene.system().joints(), options.joints, scene.initial_state());
  made.label = options.unknown.name();
  made.lower = options.unknown.lower;
  made.upper = options.unknown.upper;
  if (!options.unknown.start.empty()) made.start = options.unknown.start;
  return made;
}

/// Returns this rank's part of a vector of unknowns. Collective; the caller must hold the GIL.
std::vector<double> unknowns_of(const InverseProblem& problem, nb::handle values, const char* what) {
  return read_on_all_ranks(problem.comm(), [&] { return doubles_of_shape(values, {problem.size()}, what); });
}

nb::object vector_to_numpy(std::vector<double> values) {
  const std::size_t size = values.size();
  return to_numpy(std::move(values), {size});
}

nb::object matrix_to_numpy(std::vector<double> values, std::size_t size) {
  return to_numpy(std::move(values), {size, size});
}

/// Returns the loss and the norm of the gradient at an iterate, for a progress bar.
std::string describe(const Iterate& iterate) {
  char text[80];
  std::snprintf(text, sizeof(text), "loss %.4e, gradient norm %.2e", iterate.loss, iterate.gradient_norm);
  return text;
}

nb::dict minimise(ProblemHandle& handle, const std::string& method, int max_iterations, double gradient_tolerance,
                  double learning_rate, bool gauss_newton, nb::object observer,
                  const std::vector<const ConstraintOptions*>& constraints, double constraint_tolerance,
                  double move_limit, int windows, double window_tolerance) {
  {
    const LibraryScope scope;
    require_same_on_all_ranks(handle.get().comm(),
                              "method, max_iterations, gradient_tolerance, learning_rate, gauss_newton, constraints, "
                              "constraint_tolerance, move_limit, windows, window_tolerance",
                              method, max_iterations, gradient_tolerance, learning_rate, gauss_newton,
                              constraints.size(), constraint_tolerance, move_limit, windows, window_tolerance);
  }
  const auto found = std::find(optimisers.begin(), optimisers.end(), method);
  if (found == optimisers.end())
    throw InputError("method is lbfgs, newton_cg, adam, mma or almm, not '" + method + "'");
  const Constraints made_constraints = constraints_of(handle, constraints);
  OptimiserOptions options{.method = static_cast<Optimiser>(found - optimisers.begin()),
                           .max_iterations = max_iterations,
                           .gradient_tolerance = gradient_tolerance,
                           .learning_rate = learning_rate,
                           .gauss_newton = gauss_newton,
                           .constraints = made_constraints.all,
                           .constraint_tolerance = constraint_tolerance,
                           .move_limit = move_limit};
  if (windows != 0)
    options.shooting = {.windows = windows,
                        .tolerance = window_tolerance,
                        .duration = handle.scene()->get().dt() * handle.get().num_steps() / std::max(windows, 1)};
  std::vector<double> history;
  ProgressBar progress("minimise: " + method, max_iterations, "iteration");
  const auto minimise_problem = [&](InverseProblem& problem) {
    const OptimiserResult best = optimise(problem, options, [&](const Iterate& iterate) {
      history.insert(history.end(), {static_cast<double>(iterate.iteration), iterate.loss, iterate.gradient_norm});
      call_on_all_ranks(problem.comm(), [&] {
        check_signals();
        progress.update(iterate.iteration, describe(iterate));
        if (!observer.is_none()) observer(iterate.iteration, iterate.loss, iterate.gradient_norm);
      });
    });
    problem.set(best.u);
    return best;
  };
  const OptimiserResult result = handle.run(minimise_problem, "evaluation", windows != 0 ? 0 : 2);
  nb::dict made;
  made["u"] = vector_to_numpy(result.u);
  made["loss"] = result.loss;
  made["gradient_norm"] = result.gradient_norm;
  made["violation"] = result.violation;
  made["constraints"] = vector_to_numpy(result.constraints);
  made["iterations"] = result.iterations;
  made["evaluations"] = result.evaluations;
  made["hessian_products"] = result.hessian_products;
  made["converged"] = result.converged;
  made["reason"] = result.reason;
  const std::size_t rows = history.size() / 3;
  made["history"] = to_numpy(std::move(history), {rows, 3});
  return made;
}

nb::list check(ProblemHandle& handle, nb::handle u, double dot_product_tolerance, double slope_tolerance,
               double resolution, bool differences, unsigned seed) {
  {
    const LibraryScope scope;
    require_same_on_all_ranks(handle.get().comm(),
                              "u, dot_product_tolerance, slope_tolerance, resolution, differences, seed", u.is_none(),
                              dot_product_tolerance, slope_tolerance, resolution, differences, seed);
  }
  std::vector<double> at;
  if (!u.is_none()) at = unknowns_of(handle.get(), u, "u");
  const GradientCheckOptions options{.dot_product_tolerance = dot_product_tolerance,
                                     .slope_tolerance = slope_tolerance,
                                     .resolution = resolution,
                                     .differences = differences,
                                     .seed = seed};
  const std::vector<UnknownCheck> checks = handle.run(
      [&](InverseProblem& problem) { return check_gradient(problem, u.is_none() ? problem.start() : at, options); });
  nb::list made;
  for (const UnknownCheck& one : checks) {
    nb::dict entry;
    entry["name"] = one.name;
    entry["verdict"] = to_string(one.verdict);
    entry["passed"] = one.passed;
    entry["note"] = one.note;
    entry["slope"] = one.slope;
    entry["difference"] = one.difference;
    entry["difference_error"] = one.difference_error;
    entry["dot_product_error"] = one.dot_product_error;
    entry["amplification"] = one.amplification;
    made.append(entry);
  }
  return made;
}

nb::dict posterior_of(ProblemHandle& handle, nb::handle u, bool gauss_newton) {
  const std::vector<double> at = unknowns_of(handle.get(), u, "u");
  const Curvature bent = handle.run([&](InverseProblem& problem) {
    const GaussNewtonScope of_products(problem, gauss_newton);
    return curvature(problem, at);
  });
  const std::size_t n = bent.size;
  nb::list names;
  for (std::size_t k = 0; k < handle.get().unknowns().size(); ++k)
    for (const std::string& name : value_names(handle.get(), k)) names.append(name);
  nb::list directions;
  for (const std::size_t i : unidentified(bent)) {
    const auto begin = bent.directions.begin() + static_cast<std::ptrdiff_t>(n * i);
    directions.append(vector_to_numpy(std::vector<double>(begin, begin + static_cast<std::ptrdiff_t>(n))));
  }
  nb::dict made;
  made["names"] = names;
  made["scale"] = vector_to_numpy(bent.scale);
  made["eigenvalues"] = vector_to_numpy(bent.eigenvalues);
  made["not_identified"] = directions;
  if (std::any_of(bent.eigenvalues.begin(), bent.eigenvalues.end(), [](double value) { return !(value > 0.0); }))
    return made;
  const Posterior found = posterior(bent);
  made["deviation"] = vector_to_numpy(found.deviation);
  made["covariance"] = matrix_to_numpy(found.covariance, n);
  made["correlation"] = matrix_to_numpy(found.correlation, n);
  return made;
}

nb::dict low_rank_posterior_of(ProblemHandle& handle, nb::handle u, int rank, int samples, bool gauss_newton) {
  const std::vector<double> at = unknowns_of(handle.get(), u, "u");
  {
    const LibraryScope scope;
    require_same_on_all_ranks(handle.get().comm(), "rank, samples, gauss_newton", rank, samples, gauss_newton);
  }
  std::vector<double> eigenvalues, deviation;
  handle.run([&](InverseProblem& problem) {
    const GaussNewtonScope of_products(problem, gauss_newton);
    const LowRankPosterior found(problem, at, rank);
    eigenvalues = found.eigenvalues();
    deviation = found.deviation(samples);
    return 0;
  });
  nb::dict made;
  made["eigenvalues"] = vector_to_numpy(eigenvalues);
  made["deviation"] = vector_to_numpy(deviation);
  return made;
}

/// Returns the names, labels and kinds of unknowns, which must be the same on all ranks.
std::vector<std::string> identities_of(const std::vector<const UnknownOptions*>& unknowns) {
  std::vector<std::string> made;
  for (const UnknownOptions* options : unknowns) {
    made.insert(made.end(), {options->unknown.parameter, options->unknown.label});
    made.push_back(std::to_string(options->together) + std::to_string(options->unknown.logarithmic));
    made.insert(made.end(), options->joints.begin(), options->joints.end());
  }
  return made;
}

void create_problem(ProblemHandle* self, const SceneHandle& handle, int num_steps, nb::object loss,
                    const std::vector<const UnknownOptions*>& unknowns, int checkpoint_every,
                    const std::optional<CheckpointOptions>& checkpoints) {
  const std::shared_ptr<SharedScene> scene = handle.shared();
  const MPI_Comm comm = scene->get().mesh()->comm();
  const std::shared_ptr<Loss> known = read_on_all_ranks(comm, [&] {
    for (const UnknownOptions* const one : unknowns)
      if (!one) throw InputError("unknowns must be a list of Unknown objects");
    return loss_of(loss, scene->get(), false);
  });
  std::shared_ptr<InverseProblem> made;
  {
    const LibraryScope scope;
    require_same_on_all_ranks(comm, "num_steps, unknowns, checkpoint_every", num_steps, identities_of(unknowns),
                              checkpoint_every);
    DifferentiableScene& solver = scene->change();
    bool observes = false;
    for (int n = 0; n <= num_steps; ++n) observes = observes || known->observes(n);
    if (!observes) throw InputError("the loss observes none of the steps 0 … " + std::to_string(num_steps));
    std::vector<Unknown> list;
    for (const UnknownOptions* options : unknowns) {
      list.push_back(options->joints.empty() ? options->unknown : start_of_joints(solver, *options));
      if (options->together) list.back().group.assign(entries_of(solver, options->unknown), 0);
      if (options->filter != 0.0)
        list.back().distribution->filter = std::make_shared<DensityFilter>(*solver.mesh(), options->filter);
      if (!options->solid.empty() || !options->voids.empty())
        list.back().distribution->prescribed = prescribed_densities(*solver.mesh(), options->solid, options->voids);
      if (const auto& shape = options->shape_filter)
        list.back().shape_filter =
            std::make_shared<ShapeFilter>(*solver.mesh(), shape->radius, shape->fixed, shape->moves);
    }
    // The initial positions follow the rest positions, unless the initial positions are also unknowns.
    const auto is_initial = [](const Unknown& unknown) { return unknown.parameter == "initial_positions"; };
    for (Unknown& unknown : list)
      if (unknown.parameter == "rest_positions" && std::none_of(list.begin(), list.end(), is_initial))
        unknown.carries = "positions";
    made = share_on_all_ranks(comm, std::make_shared<InverseProblem>(
                                        solver.model(), solver.initial_state(), num_steps, *known, std::move(list),
                                        checkpoints.value_or(uniform_checkpoints(checkpoint_every))));
  }
  new (self) ProblemHandle(std::move(made), {scene}, {known});
}

/// Binds the loss and other functions of u.
void bind_functions(nb::class_<ProblemHandle>& problem) {
  problem
      .def(
          "value",
          [](const ProblemHandle& handle, nb::handle u) {
            const std::vector<double> at = unknowns_of(handle.get(), u, "u");
            return handle.run([&](InverseProblem& of) { return of.value(at); }, "value", 1);
          },
          nb::arg("u"), "Return the loss at u, priors included.", nb::sig("def value(self, u: object) -> float"))
      .def(
          "gradient",
          [](const ProblemHandle& handle, nb::handle u) {
            const std::vector<double> at = unknowns_of(handle.get(), u, "u");
            std::vector<double> gradient;
            const double loss = handle.run([&](InverseProblem& of) { return of.gradient(at, gradient); }, "gradient");
            return std::pair(loss, vector_to_numpy(std::move(gradient)));
          },
          nb::arg("u"),
          "Return the loss at u, priors included, and its gradient, as scipy.optimize.minimize(jac=True) expects.",
          nb::sig("def gradient(self, u: object) -> tuple[float, numpy.ndarray]"))
      .def(
          "gradient_or_none",
          [](const ProblemHandle& handle, nb::handle u) -> nb::object {
            const std::vector<double> at = unknowns_of(handle.get(), u, "u");
            std::vector<double> gradient;
            double loss = 0.0;
            try {
              loss = handle.run([&](InverseProblem& of) { return of.gradient(at, gradient); }, "gradient");
            } catch (const Error& failure) {
              if (failure.kind() != ErrorKind::run) throw;
              return nb::none();
            }
            return nb::make_tuple(loss, vector_to_numpy(std::move(gradient)));
          },
          nb::arg("u"), "Return the same as gradient(u), or None on all ranks if the rollout fails at u.",
          nb::sig("def gradient_or_none(self, u: object) -> tuple[float, numpy.ndarray] | None"))
      .def(
          "hessian_product",
          [](const ProblemHandle& handle, nb::handle u, nb::handle v, bool gauss_newton) {
            const std::vector<double> at = unknowns_of(handle.get(), u, "u"), along = unknowns_of(handle.get(), v, "v");
            return vector_to_numpy(handle.run(
                [&](InverseProblem& of) {
                  const GaussNewtonScope of_products(of, gauss_newton);
                  return of.hessian_product(at, along);
                },
                "Hessian product"));
          },
          nb::arg("u"), nb::arg("v"), nb::arg("gauss_newton") = false,
          "Return the product of the Hessian, or of the Gauss–Newton matrix, of the loss at u with v.",
          nb::sig("def hessian_product(self, u: object, v: object, gauss_newton: bool = False) -> numpy.ndarray"))
      .def(
          "set",
          [](const ProblemHandle& handle, nb::handle u) {
            const std::vector<double> at = unknowns_of(handle.get(), u, "u");
            const LibraryScope scope;
            handle.change().set(at);
          },
          nb::arg("u"), "Set the parameters of the scene to the values that u describes.",
          nb::sig("def set(self, u: object) -> None"));
}

/// Binds sums over experiments.
void bind_experiments(nb::class_<ProblemHandle>& problem) {
  problem.def(
      "add",
      [](ProblemHandle& handle, ProblemHandle& experiment) {
        const LibraryScope scope;
        handle.add(experiment);
      },
      nb::arg("experiment"), nb::keep_alive<1, 2>(),
      R"(Add the loss of another problem with a separate scene and the same unknowns. Collective.

From then on, this problem is the sum over the experiments, and sets the parameters of all scenes.)");
}

/// Binds the values of unknowns, the priors at u and checks.
void bind_values(nb::class_<ProblemHandle>& problem) {
  problem
      .def(
          "physical",
          [](const ProblemHandle& handle, const std::string& name, nb::handle u) {
            const std::vector<double> at = unknowns_of(handle.get(), u, "u");
            std::size_t k = 0;
            std::vector<double> values;
            {
              const LibraryScope scope;
              require_same_on_all_ranks(handle.get().comm(), "name", name);
              k = index_of(handle.get(), name);
              values = handle.get().physical(k, at);
            }
            const auto width = static_cast<std::size_t>(handle.get().components(k));
            const std::size_t rows = values.size() / width;
            return width == 1 ? to_numpy(std::move(values), {rows}) : to_numpy(std::move(values), {rows, width});
          },
          nb::arg("name"), nb::arg("u"),
          R"(Return the physical values of an unknown at u, in the unit of the parameter.

If the ranks share the values, every rank receives all values; otherwise a rank receives only its own values.)",
          nb::sig("def physical(self, name: str, u: object) -> numpy.ndarray"))
      .def(
          "prior",
          [](const ProblemHandle& handle, nb::handle u) {
            const std::vector<double> at = unknowns_of(handle.get(), u, "u");
            const LibraryScope scope;
            return handle.get().prior(at);
          },
          nb::arg("u"), "Return the sum of the priors at u, times prior_factor.",
          nb::sig("def prior(self, u: object) -> float"))
      .def("check", &check, nb::arg("u") = nb::none(), nb::kw_only(),
           nb::arg("dot_product_tolerance") = GradientCheckOptions{}.dot_product_tolerance,
           nb::arg("slope_tolerance") = GradientCheckOptions{}.slope_tolerance,
           nb::arg("resolution") = GradientCheckOptions{}.resolution, nb::arg("differences") = true,
           nb::arg("seed") = GradientCheckOptions{}.seed,
           R"(Test the derivatives at u (default: the start value). Return a list with a dict for each unknown.

dot_product_tolerance: largest dot_product_error. slope_tolerance: largest relative error of slope. resolution: relative
error of slope that differences must be able to detect. differences: whether finite differences are computed; otherwise
only dot_product_error is tested. seed: seed of the random directions.)",
           nb::sig("def check(self, u: object = None, *, dot_product_tolerance: float = 1e-12, slope_tolerance: float "
                   "= 1e-08, resolution: float = 0.001, differences: bool = True, seed: int = 1) -> list[dict[str, "
                   "object]]"));
}

/// Binds optimisation, checks and the posterior.
void bind_inference(nb::class_<ProblemHandle>& problem) {
  problem
      .def(
          "minimise", &minimise, nb::arg("method") = "lbfgs", nb::arg("max_iterations") = 50,
          nb::arg("gradient_tolerance") = 1e-8, nb::arg("learning_rate") = 0.05, nb::arg("gauss_newton") = false,
          nb::arg("observer") = nb::none(), nb::arg("constraints") = std::vector<const ConstraintOptions*>{},
          nb::arg("constraint_tolerance") = 1e-6, nb::arg("move_limit") = 0.5, nb::arg("windows") = 0,
          nb::arg("window_tolerance") = 1e-4,
          R"(Minimise the loss within the bounds, from the start value, and set the scene's parameters to the result.

method: lbfgs, newton_cg, adam (with learning_rate), or, with constraints, mma (with move_limit, needs finite bounds) or
almm. gauss_newton: whether newton_cg uses the Gauss–Newton matrix instead of the Hessian. gradient_tolerance: largest
norm of the gradient, relative to the norm at the start. constraint_tolerance: largest violation of a constraint,
relative to its bounds. windows: number of windows of multiple shooting, with newton_cg; 0 for none. window_tolerance:
largest jump between windows, relative to the distance of their initial states from x[0]. observer(iteration, loss,
gradient_norm) is called after each iteration. The result is a dict with the keys u, loss, gradient_norm, violation,
constraints (values of the constraints), iterations, evaluations, hessian_products, converged, reason and history.
history is an array [n, 3] with a row (iteration, loss, gradient_norm) for each call of observer.)",
          nb::sig(
              "def minimise(self, method: str = 'lbfgs', max_iterations: int = 50, gradient_tolerance: float = 1e-8, "
              "learning_rate: float = 0.05, gauss_newton: bool = False, observer: collections.abc.Callable[[int, "
              "float, float], object] | None = None, constraints: list[Constraint] = [], constraint_tolerance: float = "
              "1e-6, move_limit: float = 0.5, windows: int = 0, window_tolerance: float = 1e-4) -> dict[str, object]"))
      .def("posterior", &posterior_of, nb::arg("u"), nb::arg("gauss_newton") = false,
           R"(Return the Laplace approximation of the posterior around a minimum u, for unknowns that all ranks share.

The loss must be the negative logarithm of a probability density. gauss_newton: whether H is the Gauss–Newton matrix
instead of the Hessian of the loss. The result is a dict: names of the values of u; scale s; eigenvalues of S = diag(s)
H diag(s); not_identified, the eigenvectors of S along which the loss does not determine u/s; and, if all eigenvalues
are positive, deviation, covariance and correlation of u.)",
           nb::sig("def posterior(self, u: object, gauss_newton: bool = False) -> dict[str, object]"))
      .def("low_rank_posterior", &low_rank_posterior_of, nb::arg("u"), nb::arg("rank"), nb::arg("samples") = 200,
           nb::arg("gauss_newton") = false,
           R"(Return a low-rank approximation of the posterior around a minimum u, for unknowns with many values.

Each unknown needs exactly one prior with a covariance matrix. The result is a dict with eigenvalues, the `rank` largest
λ of H v = λ C⁻¹ v, and deviation, the standard deviations of this MPI rank's part of u, estimated from random samples.
H is the Hessian of the losses without priors (or the Gauss–Newton matrix if gauss_newton), and C is the covariance
matrix of the priors. Needs a diffsim that was built with SLEPc.)",
           nb::sig("def low_rank_posterior(self, u: object, rank: int, samples: int = 200, gauss_newton: bool = False) "
                   "-> dict[str, object]"));
}

/// Binds the properties of a problem, the start value and the bounds.
void bind_properties(nb::class_<ProblemHandle>& problem) {
  problem
      .def_prop_ro(
          "comm_handle", [](const ProblemHandle& handle) { return std::int64_t{MPI_Comm_c2f(handle.get().comm())}; },
          "Handle of the communicator, for MPI.Comm.f2py of mpi4py. The communicator must not be freed.")
      .def_prop_ro(
          "size", [](const ProblemHandle& handle) { return handle.get().size(); }, "Number of this rank's values of u.")
      .def_prop_ro(
          "names",
          [](const ProblemHandle& handle) {
            std::vector<std::string> names;
            for (const Unknown& unknown : handle.get().unknowns()) names.push_back(unknown.name());
            return names;
          },
          "Names of the unknowns, in the order of their values in u.")
      .def_prop_ro(
          "unit", [](const ProblemHandle& handle) { return handle.get().unit(); }, "Unit of the loss.")
      .def_prop_ro(
          "losses", [](const ProblemHandle& handle) { return handle.get().losses(); },
          "Losses of the experiments in the last call of value or gradient, without priors.")
      .def(
          "start",
          [](const ProblemHandle& handle) {
            std::vector<double> u;
            {
              const LibraryScope scope;
              u = handle.get().start();
            }
            return vector_to_numpy(std::move(u));
          },
          "Return this rank's part of the start value of u.", nb::sig("def start(self) -> numpy.ndarray"))
      .def(
          "bounds",
          [](const ProblemHandle& handle) {
            return std::pair(vector_to_numpy(handle.get().lower_bounds()),
                             vector_to_numpy(handle.get().upper_bounds()));
          },
          "Return this rank's part of the lower and upper bounds of u.",
          nb::sig("def bounds(self) -> tuple[numpy.ndarray, numpy.ndarray]"));
}

}  // namespace

void bind_problem(nb::module_& module) {
  bind_unknown(module);
  bind_constraint(module);
  nb::class_<ProblemHandle> problem(module, "InverseProblem",
                                    R"(Loss of a rollout as a function of a vector u of unknowns.

u is distributed: each rank's part has the values of the unknowns on the cells or vertices that the rank owns. Values
that all ranks share are in the part of the first rank. For a logarithmic unknown p, u = ln p. All members are
collective.)");
  problem.def(
      "__init__", &create_problem, nb::arg("scene"), nb::arg("num_steps"), nb::arg("loss"), nb::arg("unknowns"),
      nb::arg("checkpoint_every") = 10, nb::arg("checkpoints") = nb::none(), nb::keep_alive<1, 2>(),
      nb::keep_alive<1, 4>(),
      R"(Create a problem. loss: a Loss, or a function loss(n, state) as for DifferentiableSimulator.backward.

checkpoint_every: number of steps between checkpoints in memory. checkpoints: replaces checkpoint_every.)",
      nb::sig("def __init__(self, scene: DifferentiableScene, num_steps: int, loss: object, unknowns: list[Unknown], "
              "checkpoint_every: int = 10, checkpoints: CheckpointOptions | None = None) -> None"));
  bind_properties(problem);
  bind_functions(problem);
  bind_experiments(problem);
  bind_values(problem);
  bind_priors(problem);
  bind_inference(problem);
}

}  // namespace diffsim::python
