// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>
#include <array>
#include <functional>
#include <string>
#include <vector>

#include "app/inputs.hpp"
#include "app/scene_sections.hpp"
#include "core/covariance.hpp"

namespace diffsim::app {
namespace {

using Type = PriorEntry::Type;
using Per = ParameterEntry::Per;

/// Names of PriorEntry::Type in scenes, in the order of the enumeration.
constexpr std::array<const char*, 4> types = {"normal", "smooth", "total_variation", "matern"};

/// Throws InputError unless the parameter is a field or a time signal, for which ValueGradient exists.
void require_gradient(const PriorEntry& prior, const ParameterEntry& parameter) {
  const bool has_gradient = parameter.per == Per::cell || parameter.per == Per::vertex || parameter.per == Per::step;
  if (!has_gradient || parameter.map)
    prior.place.fail("a prior of type " + std::string(types[static_cast<std::size_t>(prior.type)]) +
                     " needs a parameter with `per: cell`, `vertex` or `step`, without `map`; use type: normal");
}

/// Parses a covariance matrix. Throws InputError if the scene contains a square matrix that is no covariance matrix.
/// The number of rows is compared with the number of values of the unknown when the prior is made.
Numbers parse_matrix(const Value& value, const Scene& scene) {
  Numbers numbers = parse_numbers(value, scene);
  const Array* const array = numbers.array();
  if (array && array->shape.size() == 2 && array->shape[0] == array->shape[1])
    at_place(value.place, [&] { cholesky_of_covariance(array->values, static_cast<std::size_t>(array->shape[0])); });
  return numbers;
}

PriorEntry parse_prior(const Value& value, const Scene& scene) {
  const Mapping mapping(
      value, {"parameter", "region", "type", "mean", "deviation", "covariance", "weight", "epsilon", "length"});
  PriorEntry prior;
  prior.place = mapping.place();
  prior.type = to_enum<Type>(mapping.need("type", "normal, smooth, total_variation or matern"), types);
  prior.parameter = parse_parameter_index(mapping, scene);
  const std::vector<std::string> keys =
      prior.type == Type::normal   ? std::vector<std::string>{"mean", "deviation", "covariance"}
      : prior.type == Type::smooth ? std::vector<std::string>{"weight"}
      : prior.type == Type::matern ? std::vector<std::string>{"mean", "deviation", "length"}
                                   : std::vector<std::string>{"weight", "epsilon"};
  for (const char* key : {"mean", "deviation", "covariance", "weight", "epsilon", "length"})
    if (mapping.has(key) && std::find(keys.begin(), keys.end(), key) == keys.end())
      mapping.place_of(key).fail("has no meaning for a prior of type " +
                                 std::string(types[static_cast<std::size_t>(prior.type)]) +
                                 ", which has: " + join(keys));
  if (prior.type != Type::normal) require_gradient(prior, scene.parameters[prior.parameter]);
  const ParameterEntry& parameter = scene.parameters[prior.parameter];
  if (const Value* mean = mapping.find("mean")) prior.mean = parse_values(*mean, parameter, scene);
  switch (prior.type) {
    case Type::normal: {
      const Value* const deviation = mapping.find("deviation");
      const Value* const covariance = mapping.find("covariance");
      if ((deviation != nullptr) == (covariance != nullptr))
        mapping.place().fail("give either `deviation`, standard deviations, or `covariance`, a matrix");
      if (deviation) prior.deviation = parse_values(*deviation, parameter, scene);
      if (covariance) prior.covariance = parse_matrix(*covariance, scene);
      break;
    }
    case Type::smooth:
      prior.weight = to_positive(mapping.need("weight", "a number"), "");
      break;
    case Type::total_variation:
      prior.weight = to_positive(mapping.need("weight", "a number"), "");
      prior.epsilon = to_positive(mapping.need("epsilon", "the slope below which the prior is smooth"), "");
      break;
    case Type::matern:
      prior.deviation =
          Numbers{Array{{}, {to_positive(mapping.need("deviation", "a standard deviation"), "")}}, mapping.place()};
      prior.length = to_positive(mapping.need("length", "a correlation length in m, or s for `per: step`"), "");
      break;
  }
  return prior;
}

}  // namespace

PriorFactors parse_prior_factors(const Value& value, const Scene& scene) {
  const Mapping mapping(value, {"values", "choose", "misfit"});
  PriorFactors factors;
  factors.place = mapping.place();
  if (scene.priors.empty()) factors.place.fail("needs `priors`, which the factors multiply");
  for (const ParameterEntry& parameter : scene.parameters)
    if (parameter.distribution && parameter.distribution->penalties.size() > 1)
      factors.place.fail("cannot be combined with several penalties; give one `penalty`");
  const Value& values = mapping.need("values", "a list of factors, such as [100, 10, 1, 0.1, 0.01]");
  for (const Value* item : to_items(values)) factors.values.push_back(to_positive(*item, ""));
  std::sort(factors.values.begin(), factors.values.end(), std::greater<>());
  if (std::adjacent_find(factors.values.begin(), factors.values.end()) != factors.values.end())
    values.place.fail("has the same factor twice; remove one of them");
  bool by_misfit = false;
  if (const Value* choose = mapping.find("choose"))
    by_misfit = to_choice(*choose, {"l_curve", "discrepancy"}) == "discrepancy";
  if (by_misfit)
    factors.misfit = to_positive(mapping.need("misfit", "the loss that the errors of the observations explain"), "");
  else if (mapping.has("misfit"))
    mapping.place_of("misfit").fail("belongs to `choose: discrepancy`; remove it");
  else if (factors.values.size() < 3)
    values.place.fail("has fewer than three factors, which is too few for the corner of an L-curve");
  return factors;
}

std::size_t parse_parameter_index(const Mapping& mapping, const Scene& scene) {
  std::vector<std::string> labels;
  for (const ParameterEntry& entry : scene.parameters) labels.push_back(entry.label);
  const Value& name = mapping.need("parameter", "one of `parameters`: " + join(labels));
  const std::string label = to_choice(name, labels);
  const Value* const region = mapping.find("region");
  std::vector<std::size_t> found;
  std::vector<std::string> regions;
  for (std::size_t i = 0; i < labels.size(); ++i) {
    if (labels[i] != label) continue;
    const std::string of = scene.parameters[i].region ? scene.parameters[i].region->name : "all";
    regions.push_back(of);
    if (!region || to_text(*region) == of) found.push_back(i);
  }
  if (found.empty())
    region->place.fail("selects an entry of `parameters` by its `region`, and no " + label +
                       " has this one; give one of: " + join(regions));
  if (found.size() > 1)
    mapping.place_of("region").fail("is missing, and `parameters` has several entries of " + label +
                                    "; give one of: " + join(regions));
  return found.front();
}

std::vector<PriorEntry> parse_priors(const Value& value, const Scene& scene) {
  if (scene.parameters.empty()) value.place.fail("needs `parameters`, to which the priors belong");
  std::vector<PriorEntry> priors;
  for (const Value* item : to_items(value)) priors.push_back(parse_prior(*item, scene));
  if (priors.empty()) value.place.fail("is an empty list; give at least one prior, or remove `priors`");
  return priors;
}

}  // namespace diffsim::app
