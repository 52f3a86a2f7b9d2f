// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
//
// Priors of inverse problems.

#include "diffsim/inverse/prior.hpp"

#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "all_ranks.hpp"
#include "arrays.hpp"
#include "bindings.hpp"
#include "diffsim/core/error.hpp"
#include "loss.hpp"
#include "problem.hpp"

namespace diffsim::python {
namespace {

/// Returns the matrix that maps the values of unknown k to their gradients, for priors of smooth values. Throws
/// InputError if no such matrix is defined for the unknown.
ValueGradient value_gradient_of(const InverseProblem& problem, const TetrahedralMesh& mesh, std::size_t k, double dt,
                                bool of_total_variation) {
  const Unknown& unknown = problem.unknowns()[k];
  const Field& field = problem.field(k);
  const bool is_field = unknown.map_numbers == 0 && !unknown.shared();
  if (is_field && &field.on() == mesh.cell_entities().get())
    return of_total_variation ? ValueGradient::across_faces(mesh) : ValueGradient::of_cells(mesh);
  if (is_field && field.on().name() == mesh.vertex_entities()->name() && field.steps() == 1)
    return ValueGradient::of_vertices(mesh, problem.components(k));
  if (unknown.map_numbers == 0 && field.steps() > 1 && unknown.group_names.size() == field.extent())
    return ValueGradient::of_steps(mesh.comm(), field.steps(), problem.components(k), dt);
  throw InputError(
      "'" + unknown.name() +
      "' is not a field on tetrahedra or vertices, or a signal with a value for each step; use a normal prior");
}

/// Arguments of add_prior on this rank, in the order of the unknown's values in u.
struct PriorValues {
  std::vector<double> mean, deviation, covariance;
};

/// Returns `size` values from an array of `size` values and any shape, or from an array that can be broadcast to
/// [size].
std::vector<double> flat(nb::handle object, std::size_t size, const char* what) {
  ArrayOf<double> array = doubles(object, what);
  return array.values.size() == size ? std::move(array.values) : doubles_of_shape(object, {size}, what);
}

/// Reads the arguments of add_prior. `size`: number of values of the unknown, on all ranks if the ranks share the
/// values, else on this rank. If an argument is wrong on some ranks, these ranks throw an InputError and the others a
/// RunError. Collective.
PriorValues prior_values(const InverseProblem& problem, std::size_t k, std::size_t size, nb::handle mean,
                         nb::handle deviation, nb::handle covariance, bool is_matern) {
  const Unknown& unknown = problem.unknowns()[k];
  PriorValues values;
  call_on_all_ranks(problem.comm(), [&] {
    if (!mean.is_none()) values.mean = flat(mean, size, "mean");
    if (!deviation.is_none() && is_matern) values.deviation = doubles_of_shape(deviation, {}, "deviation");
    if (!deviation.is_none() && !is_matern) values.deviation = flat(deviation, size, "deviation");
    if (!covariance.is_none()) values.covariance = doubles_of_shape(covariance, {size, size}, "covariance");
    for (double& value : values.mean) {
      if (!unknown.logarithmic || unknown.map_numbers > 0) continue;
      if (!(value > 0.0)) throw InputError("the mean of a logarithmic unknown must be above 0");
      value = std::log(value);
    }
  });
  return values;
}

/// Throws InputError if the type of a prior is unknown, or if an argument is missing or has no meaning for the type.
void expect_arguments(const std::string& type, bool deviation, bool covariance, bool weight, bool epsilon,
                      bool length) {
  const bool is_normal = type == "normal", is_matern = type == "matern", is_variation = type == "total_variation";
  if (!is_normal && !is_matern && !is_variation && type != "smooth")
    throw InputError("a prior is normal, smooth, total_variation or matern, not '" + type + "'");
  const auto expect = [&](bool given, bool wanted, const char* key) {
    if (given != wanted) throw InputError("a prior of type " + type + (wanted ? " needs `" : " has no `") + key + "`");
  };
  if (is_normal && deviation == covariance) throw InputError("a normal prior needs either `deviation` or `covariance`");
  if (!is_normal) expect(deviation, is_matern, "deviation");
  if (!is_normal) expect(covariance, false, "covariance");
  expect(weight, is_variation || type == "smooth", "weight");
  expect(epsilon, is_variation, "epsilon");
  expect(length, is_matern, "length");
}

void add_prior(ProblemHandle& handle, const std::string& name, const std::string& type, nb::object mean,
               nb::object deviation, nb::object covariance, std::optional<double> weight, std::optional<double> epsilon,
               std::optional<double> length) {
  InverseProblem& problem = handle.get();
  const bool has_deviation = !deviation.is_none(), has_covariance = !covariance.is_none();
  {
    const LibraryScope scope;
    require_same_on_all_ranks(problem.comm(), "name, type, mean, deviation, covariance, weight, epsilon, length", name,
                              type, mean.is_none(), has_deviation, has_covariance, weight, epsilon, length);
    expect_arguments(type, has_deviation, has_covariance, weight.has_value(), epsilon.has_value(), length.has_value());
  }
  const std::size_t k = index_of(problem, name);
  const Unknown& unknown = problem.unknowns()[k];
  const bool is_normal = type == "normal", is_matern = type == "matern", is_variation = type == "total_variation";
  if (has_covariance && !unknown.shared())
    throw InputError("covariance is for values that all ranks share; give deviation");

  const LibraryScope scope;
  const MPI_Comm comm = problem.comm();
  const std::size_t own = problem.count(k);
  std::int64_t shared = static_cast<std::int64_t>(own);
  DIFFSIM_MPI(MPI_Bcast(&shared, 1, MPI_INT64_T, 0, comm));
  const std::size_t size = unknown.shared() ? static_cast<std::size_t>(shared) : own;
  PriorValues values = prior_values(problem, k, size, mean, deviation, covariance, is_matern);
  const double sigma = values.deviation.empty() ? 1.0 : values.deviation.front();
  const bool of_positions = unknown.parameter == "rest_positions" || unknown.parameter == "initial_positions";
  if (values.mean.empty() && (is_normal || is_matern || of_positions)) {
    const std::vector<double> start = problem.start();
    const auto begin = start.begin() + static_cast<std::ptrdiff_t>(problem.offset(k));
    values.mean.assign(begin, begin + static_cast<std::ptrdiff_t>(own));
    if (unknown.shared()) {
      values.mean.resize(size);
      DIFFSIM_MPI(MPI_Bcast(values.mean.data(), static_cast<int>(size), MPI_DOUBLE, 0, comm));
    }
  }
  const TetrahedralMesh& mesh = *handle.scene()->get().mesh();
  const auto gradient = [&] { return value_gradient_of(problem, mesh, k, handle.scene()->get().dt(), is_variation); };
  std::unique_ptr<Prior> prior;
  if (is_normal && !values.covariance.empty()) {
    prior = make_normal_prior_with_covariance(comm, values.mean, values.covariance);
  } else {
    // If the ranks share the values, `mean` and `deviation` are truncated to the values that this rank owns.
    for (std::vector<double>* const part : {&values.mean, &values.deviation})
      if (unknown.shared() && part->size() > own) part->resize(own);
    if (is_normal)
      prior = make_normal_prior(comm, values.mean, values.deviation);
    else if (is_matern)
      prior = make_matern_prior(gradient(), values.mean, sigma, *length);
    else if (is_variation)
      prior = make_total_variation_prior(gradient(), *weight, *epsilon, values.mean);
    else
      prior = make_smooth_prior(gradient(), *weight, values.mean);
  }
  problem.add_prior(k, std::move(prior));
}

}  // namespace

void bind_priors(nb::class_<ProblemHandle>& problem) {
  problem
      .def("add_prior", &add_prior, nb::arg("name"), nb::arg("type"), nb::kw_only(), nb::arg("mean") = nb::none(),
           nb::arg("deviation") = nb::none(), nb::arg("covariance") = nb::none(), nb::arg("weight") = nb::none(),
           nb::arg("epsilon") = nb::none(), nb::arg("length") = nb::none(),
           R"(Add a prior of an unknown to the loss.

type: 'normal' (mean; deviation, or covariance of values that all ranks share), 'smooth' (mean, weight),
'total_variation' (mean, weight, epsilon) or 'matern' (mean, deviation, length in m or s). mean is given in the unit of
the parameter p; all other arguments refer to u, which is ln p for a logarithmic unknown. The default of mean is the
start value; for 'smooth' and 'total_variation', it is u = 0, except for unknown positions.)",
           nb::sig("def add_prior(self, name: str, type: str, *, mean: object = None, deviation: object = None, "
                   "covariance: object = None, weight: float | None = None, epsilon: float | None = None, length: "
                   "float | None = None) -> None"))
      .def_prop_rw(
          "prior_factor", [](const ProblemHandle& handle) { return handle.get().prior_factor(); },
          [](ProblemHandle& handle, double factor) { handle.get().set_prior_factor(factor); },
          "Factor by which all priors are multiplied. The default is 1.");
}

}  // namespace diffsim::python
