// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
#include "simulation/contact_groups.hpp"

#include <algorithm>
#include <array>

#include "core/nearest_word.hpp"
#include "diffsim/mesh/tetrahedral_mesh.hpp"
#include "mesh/bodies.hpp"

namespace diffsim {
namespace {

std::string listed(const std::vector<std::string>& words) {
  std::string text;
  for (const std::string& word : words) text += (text.empty() ? "" : ", ") + word;
  return text;
}

/// Returns true if two pairs have the same names, in either order.
bool same(const ContactPair& a, const ContactPair& b) {
  return a.between == b.between || (a.between[0] == b.between[1] && a.between[1] == b.between[0]);
}

/// Returns the parameter names of a pair's law. If the pair gives a value, the name of the value's parameter ends in
/// the pair's label. All other parameters have the names of the shared law. `shared`: kind of the shared law.
ContactLawNames names_of(const ContactPair& pair, ContactLawKind shared) {
  ContactLawNames names = shared_law_names(pair.law.value_or(shared));
  const auto values = pair.values();
  for (std::size_t k = 0; k < names.numbers.size(); ++k)
    if (values[k]) names.numbers[k] += ':' + pair.label();
  if (names.is_impact() && pair.restitution) names.restitution += ':' + pair.label();
  return names;
}

/// Returns the index of the body to which a region of the mesh belongs, according to the region's name BODY/REGION.
/// Returns 0 in a mesh of one body, and the number of bodies if the region does not exist or belongs to no body.
std::size_t body_of_region(const TetrahedralMesh& mesh, const std::string& name) {
  const std::vector<std::string> bodies = body_names(mesh.bodies());
  if (!mesh.has_region(name)) return bodies.size();
  if (bodies.size() < 2) return 0;
  const auto is_of = [&](const std::string& body) { return name.starts_with(body + '/'); };
  return static_cast<std::size_t>(std::find_if(bodies.begin(), bodies.end(), is_of) - bodies.begin());
}

}  // namespace

std::string name_error(const ContactGroups& groups, const TetrahedralMesh& mesh, const std::string& name) {
  const std::vector<std::string> names = groups.names();
  const auto count = std::count(names.begin(), names.end(), name);
  if (count > 1) return "there are several '" + name + "' among bodies and obstacles; give each of them a unique name";
  if (groups.find(name) < groups.size()) return {};
  if (mesh.has_region(name)) return "region '" + name + "' is not a region of one body; name it BODY/REGION";
  std::vector<std::string> known = names;
  for (const std::string& region : mesh.region_names())
    if (body_of_region(mesh, region) < body_names(mesh.bodies()).size()) known.push_back(region);
  const std::string near = nearest(name, known);
  return "there is no body, obstacle or region '" + name + "'; " +
         (near.empty() ? "" : "did you mean '" + near + "'? ") + "give one of: " + listed(known);
}

ContactGroups::ContactGroups(const ContactOptions& options, const TetrahedralMesh& mesh,
                             const std::vector<std::size_t>& obstacle_bodies,
                             const std::vector<std::string>& more_regions)
    : options_(&options), num_planes_(options.planes.size()), prescribed_bodies_(obstacle_bodies) {
  std::vector<std::string> others = body_names(mesh.bodies());
  num_bodies_ = others.size();
  const auto add = [&](const std::string& label) {
    others.push_back(label.empty() ? std::to_string(others.size() - num_bodies_) : label);
  };
  for (const PlaneObstacle& plane : options.planes) add(plane.label);
  for (const MeshObstacle& obstacle : options.meshes) add(obstacle.label);
  std::vector<std::size_t> bodies;
  const auto add_region = [&](const std::string& name) {
    const auto is_new = [&](const std::vector<std::string>& list) {
      return std::find(list.begin(), list.end(), name) == list.end();
    };
    const std::size_t body = body_of_region(mesh, name);
    if (!is_new(others) || !is_new(names_) || body == num_bodies_) return;
    names_.push_back(name);
    bodies.push_back(body);
  };
  for (const ContactPair& pair : options.pairs)
    for (const std::string& name : pair.between) add_region(name);
  for (const std::string& name : more_regions) add_region(name);
  for (const std::size_t body : bodies) bodies_of_.push_back(names_.size() + body);
  names_.insert(names_.end(), others.begin(), others.end());
}

std::size_t ContactGroups::find(const std::string& name) const {
  return static_cast<std::size_t>(std::find(names_.begin(), names_.end(), name) - names_.begin());
}

bool ContactGroups::is_prescribed(std::size_t place) const {
  if (place >= first_plane()) return false;
  const std::size_t body = body_of(place) - bodies_of_.size();
  return std::find(prescribed_bodies_.begin(), prescribed_bodies_.end(), body) != prescribed_bodies_.end();
}

std::size_t ContactGroups::pair_of(std::size_t a, std::size_t b) const {
  // Returns 2 if `named` equals `place`, 1 if `named` is the body to which region `place` belongs, and 0 otherwise.
  const auto score = [&](std::size_t named, std::size_t place) {
    return named == place ? 2 : named == body_of(place) ? 1 : 0;
  };
  std::size_t best = options_->pairs.size();
  int most = 0;
  for (std::size_t k = 0; k < options_->pairs.size(); ++k) {
    const std::size_t first = find(options_->pairs[k].between[0]), second = find(options_->pairs[k].between[1]);
    int named = 0;
    for (const auto& [x, y] : {std::pair(a, b), std::pair(b, a)})
      if (score(first, x) > 0 && score(second, y) > 0) named = std::max(named, score(first, x) + score(second, y));
    if (named <= most) continue;
    most = named;
    best = k;
  }
  return best;
}

std::string ContactGroups::thickness_of(std::size_t place) const {
  const std::string all(ContactParameters::thickness.name), own = all + ':' + names_[body_of(place)];
  if (is_plane(place)) return options_->planes[place - first_plane()].thickness ? own : "";
  if (is_obstacle(place)) return options_->meshes[place - first_plane() - num_planes_].thickness ? own : "";
  const auto is_named = [&](const BodyThickness& given) { return given.body == names_[body_of(place)]; };
  if (std::any_of(options_->thicknesses.begin(), options_->thicknesses.end(), is_named)) return own;
  return options_->thickness ? all : "";
}

ContactLawNames ContactGroups::law_of(std::size_t a, std::size_t b) const {
  const std::size_t pair = pair_of(a, b);
  const bool is_shared = pair == options_->pairs.size();
  ContactLawNames names = is_shared ? shared_law_names(options_->law) : names_of(options_->pairs[pair], options_->law);
  names.thickness = {thickness_of(a), thickness_of(b)};
  if (!is_shared && options_->pairs[pair].thickness)
    names.thickness.fill(std::string(ContactParameters::thickness.name) + ':' + options_->pairs[pair].label());
  std::sort(names.thickness.begin(), names.thickness.end());
  return names;
}

std::vector<PlaneLaw> ContactGroups::laws_of_plane(std::size_t plane) const {
  std::vector<PlaneLaw> laws;
  std::vector<std::size_t> pairs;  // [laws]: index of the pair of each law
  for (std::size_t group = 0; group < first_plane(); ++group) {
    if (is_prescribed(group) || !touch(group, first_plane() + plane)) continue;
    const std::size_t pair = pair_of(group, first_plane() + plane);
    const ContactLawNames names = law_of(group, first_plane() + plane);
    std::size_t place = 0;
    while (place < laws.size() && !(pairs[place] == pair && laws[place].parameters == names)) ++place;
    if (place == laws.size()) {
      laws.push_back({names, {}, regions()});
      pairs.push_back(pair);
    }
    laws[place].groups.push_back(group);
  }
  if (laws.size() == 1 && laws[0].groups.size() == first_plane()) laws[0].groups.clear();
  // The shared law becomes the first law.
  const auto shared = std::find(pairs.begin(), pairs.end(), options_->pairs.size()) - pairs.begin();
  if (shared < static_cast<std::ptrdiff_t>(laws.size()))
    std::rotate(laws.begin(), laws.begin() + shared, laws.begin() + shared + 1);
  return laws;
}

void ContactGroups::restrict_to(const std::vector<std::size_t>& first, const std::vector<std::size_t>& second) {
  side_.assign(names_.size(), 0);
  for (const std::size_t place : first) side_.at(place) = 1;
  for (const std::size_t place : second) side_.at(place) = 2;
}

bool ContactGroups::any_surfaces_touch() const {
  const auto is_fixed = [&](std::size_t place) { return is_obstacle(place) || is_prescribed(place); };
  for (std::size_t a = 0; a < names_.size(); ++a)
    for (std::size_t b = a; b < names_.size(); ++b)
      if (!is_plane(a) && !is_plane(b) && !(is_fixed(a) && is_fixed(b)) && touch(a, b)) return true;
  return false;
}

std::array<std::string, 2> ContactGroups::impact_of_surfaces() const {
  const auto is_fixed = [&](std::size_t place) { return is_obstacle(place) || is_prescribed(place); };
  for (std::size_t a = 0; a < names_.size(); ++a)
    for (std::size_t b = a; b < names_.size(); ++b)
      if (!is_plane(a) && !is_plane(b) && !(is_fixed(a) && is_fixed(b)) && touch(a, b) &&
          (options_->self || body_of(a) != body_of(b)) && law_of(a, b).is_impact())
        return {names_[a], names_[b]};
  return {};
}

bool ContactGroups::touch(std::size_t a, std::size_t b) const {
  if (!side_.empty() && side_[a] + side_[b] != 3) return false;  // 1 and 2 are the only values with the sum 3
  const std::size_t pair = pair_of(a, b);
  return pair == options_->pairs.size() || options_->pairs[pair].touch;
}

std::vector<std::array<std::size_t, 2>> ContactGroups::ignored_surfaces() const {
  std::vector<std::array<std::size_t, 2>> ignored;
  for (std::size_t a = 0; a < names_.size(); ++a)
    for (std::size_t b = a; b < names_.size(); ++b)
      if (!is_plane(a) && !is_plane(b) && !touch(a, b)) ignored.push_back({number_of_surface(a), number_of_surface(b)});
  return ignored;
}

std::vector<GroupLaw> ContactGroups::laws_of_surfaces() const {
  // The laws are in the order of the pairs in the options, followed by laws that differ from the shared law only by the
  // thickness. A pair has several laws if the thicknesses of its regions or bodies differ.
  const std::size_t named = options_->pairs.size();
  std::vector<std::pair<std::size_t, GroupLaw>> laws;
  const std::string all(options_->thickness ? ContactParameters::thickness.name : "");
  for (std::size_t a = 0; a < names_.size(); ++a)
    for (std::size_t b = a; b < names_.size(); ++b) {
      if (is_plane(a) || is_plane(b) || !touch(a, b)) continue;
      const std::size_t pair = pair_of(a, b);
      const ContactLawNames names = law_of(a, b);
      if (pair == named && names.thickness[0] == all && names.thickness[1] == all) continue;
      auto law = std::find_if(laws.begin(), laws.end(), [&](const auto& known) {
        return known.first == pair && known.second.parameters == names;
      });
      if (law == laws.end()) law = laws.insert(laws.end(), {pair, GroupLaw{{}, names}});
      law->second.pairs.push_back({number_of_surface(a), number_of_surface(b)});
    }
  std::stable_sort(laws.begin(), laws.end(), [](const auto& x, const auto& y) { return x.first < y.first; });
  std::vector<GroupLaw> result;
  for (auto& [pair, law] : laws) result.push_back(std::move(law));
  return result;
}

std::string pair_error(const ContactOptions& options, std::size_t pair, const TetrahedralMesh& mesh,
                       const std::vector<std::size_t>& obstacle_bodies) {
  const ContactGroups groups(options, mesh, obstacle_bodies);
  const ContactPair& given = options.pairs.at(pair);
  const auto& [a, b] = given.between;
  for (const std::string& name : given.between)
    if (const std::string fault = name_error(groups, mesh, name); !fault.empty()) return fault;
  const std::size_t first = groups.find(a), second = groups.find(b);
  const auto is_obstacle = [&](std::size_t place) { return groups.is_obstacle(place) || groups.is_prescribed(place); };
  if (is_obstacle(first) && is_obstacle(second))
    return "'" + a + "' and '" + b + "' are obstacles, which do not touch each other; give a body and an obstacle";
  if (groups.body_of(first) == groups.body_of(second) && !options.self)
    return (a == b ? "'" + a + "' does not touch itself"
                   : "'" + a + "' and '" + b + "' belong to one body, which does not touch itself") +
           "; set self: true, or remove the pair";
  for (std::size_t k = 0; k < pair; ++k)
    if (same(options.pairs[k], given))
      return "'" + a + "' and '" + b + "' are listed in an earlier pair; give all values in one pair";
  const auto values = given.values();
  const bool has_values =
      given.law || std::any_of(values.begin(), values.end(), [](const auto& value) { return value.has_value(); });
  if (!given.touch && has_values)
    return "'" + a + "' and '" + b + "' do not touch each other; remove the values, or touch: false";
  const ContactLawKind law = given.law.value_or(options.law);
  if (given.damping && law != ContactLawKind::penalty) return "damping needs the contact law penalty";
  if (given.restitution && law != ContactLawKind::impact) return "restitution needs the contact law impact";
  if (law == ContactLawKind::impact && (given.barrier_distance || given.barrier_stiffness || given.friction_velocity))
    return "barrier_distance, barrier_stiffness and friction_velocity have no effect with the contact law impact; "
           "remove "
           "them";
  if (options.adaptive_stiffness && given.touch && !given.barrier_stiffness && law == ContactLawKind::penalty)
    return "a penalty needs its own barrier_stiffness, Pa, because the adaptive stiffness is that of a barrier";
  for (std::size_t k = 0; k < values.size(); ++k) {
    const ParameterSpec spec = ContactParameters::of_law()[k];
    const std::string fault = values[k] ? range_error(spec, *values[k]) : std::string();
    if (!fault.empty()) return std::string(spec.name) + ": " + fault;
  }
  return {};
}

}  // namespace diffsim
