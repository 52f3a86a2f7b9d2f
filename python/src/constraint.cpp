// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
//
// Python class of the constraints of an optimisation.

#include "constraint.hpp"

#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>

#include <cstddef>
#include <limits>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "all_ranks.hpp"
#include "bindings.hpp"
#include "diffsim/core/error.hpp"
#include "diffsim/inverse/prior.hpp"
#include "loss.hpp"

namespace diffsim::python {
namespace {

/// Makes the constraints of the mean of an unknown's values. The weights are the volumes for values of tetrahedra.
std::shared_ptr<ConstraintFunction> mean_of(const ProblemHandle& handle, const std::string& name) {
  const InverseProblem& problem = handle.get();
  const TetrahedralMesh& mesh = *handle.scene()->get().mesh();
  const std::size_t k = index_of(problem, name);
  const Unknown& unknown = problem.unknowns()[k];
  const bool of_cells = !unknown.shared() && &problem.field(k).on() == mesh.cell_entities().get();
  const LibraryScope scope;
  return make_mean_function(
      problem, k, of_cells ? ValueGradient::across_faces(mesh).lumped() : std::vector<double>(problem.count(k), 1.0));
}

/// Makes the function of a constraint of an unknown.
std::shared_ptr<ConstraintFunction> function_of(const ProblemHandle& handle, const ConstraintOptions& options) {
  const std::string name = nb::cast<std::string>(options.function);
  {
    const LibraryScope scope;
    require_same_on_all_ranks(handle.get().comm(), "function", name);
  }
  if (options.quantity == "mean") return mean_of(handle, name);
  InverseProblem& problem = handle.get();
  const std::shared_ptr<const TetrahedralMesh> mesh = handle.scene()->get().mesh();
  const std::size_t k = index_of(problem, name);
  const LibraryScope scope;
  if (options.quantity == "relative_volume") return make_relative_volume_function(problem, k, mesh);
  return make_distortion_function(problem, k, mesh, options.power);
}

}  // namespace

Constraints constraints_of(const ProblemHandle& handle, const std::vector<const ConstraintOptions*>& given) {
  Constraints made;
  for (const ConstraintOptions* options : given) {
    if (!options) throw InputError("constraints must be a list of Constraint objects");
    Constraint constraint{nullptr, options->lower, options->upper};
    const bool of_unknown = nb::isinstance<nb::str>(options->function);
    {
      const LibraryScope scope;
      require_same_on_all_ranks(handle.get().comm(), "function, at_least, at_most, equals, quantity, power, experiment",
                                of_unknown, options->lower, options->upper, options->quantity, options->power,
                                options->experiment);
    }
    if (of_unknown) {
      if (options->experiment != 0) throw InputError("experiment belongs to a loss, not to the name of an unknown");
      constraint.function = function_of(handle, *options);
    } else {
      if (options->quantity != "mean") throw InputError("a quantity belongs to the name of an unknown, not to a loss");
      const InverseProblem& problem = handle.get().experiment(options->experiment);
      made.losses.push_back(read_on_all_ranks(
          problem.comm(), [&] { return loss_of(options->function, handle.scene(options->experiment)->get(), false); }));
      bool observes = false;
      for (int n = 0; n <= problem.num_steps(); ++n) observes = observes || made.losses.back()->observes(n);
      if (!observes)
        throw InputError("the loss of a constraint observes none of the steps 0 … " +
                         std::to_string(problem.num_steps()));
      const LibraryScope scope;
      made.problems.push_back(problem.with_loss(*made.losses.back()));
      constraint.function =
          make_loss_function(*made.problems.back(), "constraint " + std::to_string(made.all.size() + 1));
    }
    made.all.push_back(std::move(constraint));
  }
  return made;
}

void bind_constraint(nb::module_& module) {
  nb::class_<ConstraintOptions>(
      module, "Constraint", "Constraint at_least <= c(u) <= at_most, or c(u) = equals, for InverseProblem.minimise.")
      .def(
          "__init__",
          [](ConstraintOptions* self, nb::object function, std::optional<double> at_least,
             std::optional<double> at_most, std::optional<double> equals, const std::string& quantity,
             std::optional<double> power, std::size_t experiment) {
            if (quantity != "mean" && quantity != "relative_volume" && quantity != "distortion")
              throw InputError("quantity is mean, relative_volume or distortion, not '" + quantity + "'");
            if (power && quantity != "distortion") throw InputError("power belongs to quantity='distortion'");
            if (equals && (at_least || at_most)) throw InputError("give either `equals`, or `at_least` and `at_most`");
            constexpr double infinity = std::numeric_limits<double>::infinity();
            new (self) ConstraintOptions{std::move(function),
                                         equals.value_or(at_least.value_or(-infinity)),
                                         equals.value_or(at_most.value_or(infinity)),
                                         quantity,
                                         power.value_or(16.0),
                                         experiment};
          },
          nb::arg("function"), nb::kw_only(), nb::arg("at_least") = nb::none(), nb::arg("at_most") = nb::none(),
          nb::arg("equals") = nb::none(), nb::arg("quantity") = "mean", nb::arg("power") = nb::none(),
          nb::arg("experiment") = 0,
          R"(Create a constraint.

function: c, a loss (for example a SensorValueLoss), or the name of an unknown of which c is the `quantity`. quantity:
mean of the unknown's values (values per tetrahedron are weighted by volume). For an unknown of rest_positions also
relative_volume (volume of the rest shape over the volume of the mesh) or distortion (power mean of the inverse mean
ratio of the tetrahedra, with the exponent `power`, default 16). experiment: number, from 0 on, of the experiment in
which a loss is evaluated. `equals` needs the method almm.)",
          nb::sig("def __init__(self, function: str | Loss | collections.abc.Callable[..., object], *, at_least: float "
                  "| None = None, at_most: float | None = None, equals: float | None = None, quantity: str = 'mean', "
                  "power: float | None = None, experiment: int = 0) -> None"));
}

}  // namespace diffsim::python
