// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
#include "diffsim/inverse/prior.hpp"

#include <algorithm>
#include <cmath>
#include <memory>
#include <utility>
#include <vector>

#include "app/inputs.hpp"
#include "app/setup.hpp"
#include "diffsim/core/error.hpp"
#include "diffsim/core/runtime.hpp"

namespace diffsim::app {
namespace {

using Per = ParameterEntry::Per;

/// Factory of the prior that an entry of the section `priors` defines.
class MakePrior {
 public:
  MakePrior(const Scene& scene, const TetrahedralMesh& mesh, const InverseProblem& problem, const PriorEntry& entry)
      : scene_(scene),
        mesh_(mesh),
        problem_(problem),
        entry_(entry),
        k_(entry.parameter),
        parameter_(scene.parameters[k_]),
        unknown_(problem.unknowns()[k_]) {}

  std::unique_ptr<Prior> make() const {
    using Type = PriorEntry::Type;
    switch (entry_.type) {
      case Type::smooth:
        return make_smooth_prior(gradient(), entry_.weight, origin());
      case Type::total_variation:
        return make_total_variation_prior(gradient(), entry_.weight, entry_.epsilon, origin());
      case Type::matern:
        return make_matern_prior(gradient(), mean(), entry_.deviation->array()->values.front(), entry_.length);
      case Type::normal:
        break;
    }
    if (entry_.covariance) return make_correlated();
    return make_normal_prior(mesh_.comm(), mean(), own_part(values(*entry_.deviation)));
  }

 private:
  ValueGradient gradient() const {
    const int components = problem_.components(k_);
    if (parameter_.per == Per::cell && entry_.type == PriorEntry::Type::total_variation)
      return ValueGradient::across_faces(mesh_);
    if (parameter_.per == Per::cell) return ValueGradient::of_cells(mesh_);
    if (parameter_.per == Per::vertex) return ValueGradient::of_vertices(mesh_, components);
    return ValueGradient::of_steps(mesh_.comm(), scene_.solver.steps, components, scene_.solver.dt);
  }

  /// Mean of a smoothness or total-variation prior. For positions, the mean is the start values, so that the prior acts
  /// on displacements. For all other parameters, the result is empty, and the mean is zero.
  std::vector<double> origin() const {
    const bool of_positions = unknown_.parameter == "rest_positions" || unknown_.parameter == "initial_positions";
    return of_positions ? mean() : std::vector<double>{};
  }

  /// Returns the entries that `numbers`, a part of the scene, assigns to the values of the unknown: one entry for each
  /// value if the ranks share the values, otherwise one for each of this rank's values. A single number applies to all
  /// values.
  std::vector<double> values(const Numbers& numbers) const {
    const std::size_t count = unknown_.shared() ? shared() : problem_.count(k_);
    const Array* const array = numbers.array();
    if (array && array->shape.empty()) return std::vector<double>(count, array->values.front());
    std::vector<double> result = load_unknown(scene_, mesh_, parameter_, numbers, unknown_, problem_.components(k_));
    if (result.size() == 1) result.assign(count, result.front());
    require_finite(mesh_.comm(), result, parameter_, numbers.place);
    return result;
  }
  /// Number of values of an unknown whose values all ranks share.
  std::size_t shared() const {
    return static_cast<std::size_t>(sum_over_ranks(static_cast<std::int64_t>(problem_.count(k_)), mesh_.comm()));
  }
  /// Returns this rank's part of `values`, which may contain all values of the unknown.
  std::vector<double> own_part(std::vector<double> values) const {
    if (problem_.count(k_) < values.size()) values.resize(problem_.count(k_));
    return values;
  }

  /// Mean of the prior as physical values of the unknown: the mean in the scene, or the start values. The result has
  /// all values if the ranks share the values, otherwise this rank's values.
  std::vector<double> whole_mean() const {
    if (!entry_.mean) return problem_.physical(k_, problem_.start());
    return values(*entry_.mean);
  }
  /// Mean of this rank's values u.
  std::vector<double> mean() const { return own_part(in_search(whole_mean())); }
  /// Converts physical values of the unknown to values of u.
  std::vector<double> in_search(std::vector<double> values) const {
    if (!unknown_.logarithmic || unknown_.map_numbers > 0) return values;
    collectively(mesh_.comm(), [&] {
      for (double& value : values) {
        if (!(value > 0.0))
          (entry_.mean ? entry_.mean->place : entry_.place)
              .fail("a mean of " + format_number(value) + " has no logarithm, in which '" + parameter_.label +
                    "' is searched; give a mean above 0, or search: linear");
        value = std::log(value);
      }
    });
    return values;
  }

  std::unique_ptr<Prior> make_correlated() const {
    const Place& place = entry_.covariance->place;
    if (!unknown_.shared())
      place.fail("needs a parameter that is global, per region, per step, or a map of modes; give `deviation`");
    const auto size = static_cast<std::int64_t>(shared());
    const Array matrix =
        load_array(mesh_.comm(), *entry_.covariance, {{size, size}},
                   "a matrix with a row and a column for each of the " + std::to_string(size) + " values");
    const std::vector<double> mean = in_search(whole_mean());
    std::unique_ptr<Prior> prior;
    at_place(place, [&] { prior = make_normal_prior_with_covariance(mesh_.comm(), mean, matrix.values); });
    return prior;
  }

  const Scene& scene_;
  const TetrahedralMesh& mesh_;
  const InverseProblem& problem_;
  const PriorEntry& entry_;
  std::size_t k_;
  const ParameterEntry& parameter_;
  const Unknown& unknown_;
};

}  // namespace

void add_priors(const Scene& scene, const TetrahedralMesh& mesh, InverseProblem& problem) {
  for (const PriorEntry& entry : scene.priors)
    at_place(entry.place, [&] { problem.add_prior(entry.parameter, MakePrior(scene, mesh, problem, entry).make()); });
}

}  // namespace diffsim::app
