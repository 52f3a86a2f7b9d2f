// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
#include "diffsim/elastic/impl/elastic_term.hpp"

#include <algorithm>
#include <utility>

#include "diffsim/core/error.hpp"
#include "elastic/library_laws.hpp"

namespace diffsim {
namespace {

std::vector<ElasticLaw>& laws() {
  static std::vector<ElasticLaw> all;
  return all;
}

void insert(ElasticLaw law) {
  auto& all = laws();
  const auto same =
      std::find_if(all.begin(), all.end(), [&](const ElasticLaw& other) { return other.name == law.name; });
  if (same == all.end())
    all.push_back(std::move(law));
  else
    *same = std::move(law);
}

void add_library_laws() {
  static const bool added = [] {
    for (const auto family : elastic::law_families)
      for (const ElasticLaw& law : family()) insert(law);
    return true;
  }();
  (void)added;
}

}  // namespace

std::vector<std::string> ElasticLaw::parameter_names() const {
  std::vector<std::string> names;
  for (const ParameterSpec& spec : parameters) names.emplace_back(spec.name);
  return names;
}

const std::vector<ElasticLaw>& elastic_laws() {
  add_library_laws();
  return laws();
}

const ElasticLaw& elastic_law(const std::string& name) {
  std::string known;
  for (const ElasticLaw& law : elastic_laws()) {
    if (law.name == name) return law;
    known += (known.empty() ? "" : ", ") + law.name;
  }
  throw Error("unknown material model '" + name + "'; known models: " + known, ErrorKind::input);
}

void add_elastic_law(ElasticLaw law) {
  add_library_laws();
  insert(std::move(law));
}

}  // namespace diffsim
