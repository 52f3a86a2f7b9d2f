// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
#include "contact_groups.hpp"

#include <algorithm>
#include <array>

#include "diffsim/core/nearest_word.hpp"
#include "diffsim/mesh/bodies.hpp"

namespace diffsim {
namespace {

std::string listed(const std::vector<std::string>& words) {
  std::string text;
  for (const std::string& word : words) text += (text.empty() ? "" : ", ") + word;
  return text;
}

/// Whether two pairs are of the same two, in either order.
bool same(const ContactPair& a, const ContactPair& b) {
  return a.between == b.between || (a.between[0] == b.between[1] && a.between[1] == b.between[0]);
}

/// Names of the law of a pair: those of its own values, else the shared ones.
ContactLawNames names_of(const ContactPair& pair) {
  ContactLawNames names = shared_law_names();
  const auto values = pair.values();
  for (std::size_t k = 0; k < names.size(); ++k)
    if (values[k]) names[k] += ':' + pair.label();
  return names;
}

std::string fault_of_name(const ContactGroups& groups, const std::string& name) {
  const auto count = std::count(groups.names().begin(), groups.names().end(), name);
  if (count == 1) return {};
  if (count > 1) return "there are several '" + name + "' among bodies and obstacles; give each a name of its own";
  const std::string near = nearest(name, groups.names());
  return "there is no body or obstacle '" + name + "'; " + (near.empty() ? "" : "did you mean '" + near + "'? ") +
         "give one of: " + listed(groups.names());
}

}  // namespace

ContactGroups::ContactGroups(const ContactOptions& options, const std::vector<MeshBody>& bodies)
    : options_(&options), num_planes_(options.planes.size()), names_(body_names(bodies)) {
  num_bodies_ = names_.size();
  const auto add = [&](const std::string& label) {
    names_.push_back(label.empty() ? std::to_string(names_.size() - num_bodies_) : label);
  };
  for (const PlaneObstacle& plane : options.planes) add(plane.label);
  for (const MeshObstacle& mesh : options.meshes) add(mesh.label);
}

std::size_t ContactGroups::find(const std::string& name) const {
  return static_cast<std::size_t>(std::find(names_.begin(), names_.end(), name) - names_.begin());
}

std::vector<PlaneLaw> ContactGroups::laws_of_plane(std::size_t plane) const {
  PlaneLaw shared;
  std::vector<PlaneLaw> own;
  for (std::size_t body = 0; body < num_bodies_; ++body) {
    const ContactPair wanted{{names_[body], this->plane(plane)}};
    const auto pair = std::find_if(options_->pairs.begin(), options_->pairs.end(),
                                   [&](const ContactPair& other) { return same(other, wanted); });
    if (pair == options_->pairs.end())
      shared.bodies.push_back(body);
    else
      own.push_back({names_of(*pair), {body}});
  }
  if (own.empty()) return {PlaneLaw()};
  if (!shared.bodies.empty()) own.insert(own.begin(), shared);
  return own;
}

std::vector<GroupLaw> ContactGroups::laws_of_surfaces() const {
  std::vector<GroupLaw> laws;
  for (const ContactPair& pair : options_->pairs) {
    std::array<std::size_t, 2> places{find(pair.between[0]), find(pair.between[1])};
    const auto is_plane = [&](std::size_t place) { return place >= num_bodies_ && place < num_bodies_ + num_planes_; };
    if (is_plane(places[0]) || is_plane(places[1])) continue;
    for (std::size_t& place : places)
      if (place >= num_bodies_) place -= num_planes_;
    laws.push_back({places, names_of(pair)});
  }
  return laws;
}

std::string fault_of_pair(const ContactOptions& options, std::size_t pair, const std::vector<MeshBody>& bodies) {
  const ContactGroups groups(options, bodies);
  const ContactPair& given = options.pairs.at(pair);
  const auto& [a, b] = given.between;
  for (const std::string& name : given.between)
    if (const std::string fault = fault_of_name(groups, name); !fault.empty()) return fault;
  if (groups.find(a) >= groups.num_bodies() && groups.find(b) >= groups.num_bodies())
    return "'" + a + "' and '" + b + "' are obstacles, which do not touch each other; give a body and an obstacle";
  if (a == b && !options.self)
    return "'" + a + "' does not touch itself; switch that on by self: true, or remove the pair";
  for (std::size_t k = 0; k < pair; ++k)
    if (same(options.pairs[k], given))
      return "'" + a + "' and '" + b + "' have values already; give all of them in one pair";
  const auto values = given.values();
  for (std::size_t k = 0; k < values.size(); ++k) {
    const ParameterSpec spec = ContactParameters::of_law()[k];
    const std::string fault = values[k] ? fault_of(spec, *values[k]) : std::string();
    if (!fault.empty()) return std::string(spec.name) + ": " + fault;
  }
  return {};
}

}  // namespace diffsim
