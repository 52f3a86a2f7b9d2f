// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
#include "sensor/make_sensor.hpp"

#include <algorithm>
#include <string>
#include <utility>

#include "core/nearest_word.hpp"
#include "diffsim/core/error.hpp"
#include "sensor/cell_sensor.hpp"
#include "sensor/mass_sensor.hpp"
#include "sensor/point_sensor.hpp"
#include "sensor/reaction.hpp"

namespace diffsim {
namespace sensor {
namespace {

using Made = std::unique_ptr<Sensor>;
using Make = Made (*)(const Site& site, const SensorSpec& spec, const MakeElasticTerms& elastic_terms);

const std::string& name_of(const SensorSpec& spec) { return type_of(spec.quantity).name; }

const Region& region_of(const Site& site, const SensorSpec& spec) {
  if (spec.place.point)
    throw Error("a sensor of type " + name_of(spec) + " measures a region, not a point; give a region",
                ErrorKind::input);
  return site.mesh().region(spec.place.region);
}

template <PointQuantity quantity>
Made make_point(const Site& site, const SensorSpec& spec, const MakeElasticTerms&) {
  if (quantity == PointQuantity::distance && !spec.other)
    throw Error("a sensor of type distance needs two places", ErrorKind::input);
  return make_point_sensor(site, quantity, spec.place, spec.other.value_or(SensorPlace{}));
}

template <MassQuantity quantity>
Made make_mass(const Site& site, const SensorSpec& spec, const MakeElasticTerms&) {
  return make_mass_sensor(site, quantity, region_of(site, spec), spec.about);
}

Made make_volume(const Site& site, const SensorSpec& spec, const MakeElasticTerms&) {
  return make_volume_sensor(site, region_of(site, spec));
}

Made make_strain(const Site& site, const SensorSpec& spec, const MakeElasticTerms&) {
  return make_strain_sensor(site, region_of(site, spec));
}

/// Makes a sensor of the elastic forces in a region's tetrahedra.
template <Made (*make)(const Site&, const Region&, std::vector<std::unique_ptr<ForceTerm>>)>
Made make_elastic(const Site& site, const SensorSpec& spec, const MakeElasticTerms& elastic_terms) {
  const Region& region = region_of(site, spec);
  std::vector<std::unique_ptr<ForceTerm>> terms = elastic_terms(region);
  if (region.num_cells > 0 && terms.empty()) throw without_law(region, name_of(spec));
  return make(site, region, std::move(terms));
}

Made make_von_mises(const Site& site, const SensorSpec& spec, const MakeElasticTerms& elastic_terms) {
  return make_von_mises_sensor(site, region_of(site, spec), spec.power, elastic_terms);
}

Made make_force(const Site& site, const SensorSpec& spec, const MakeElasticTerms&) {
  return make_reaction(site, region_of(site, spec));
}

Made make_moment(const Site& site, const SensorSpec& spec, const MakeElasticTerms&) {
  return make_reaction(site, region_of(site, spec), spec.about);
}

/// Throws Error (input) if a place has both a region and a point, or a body without a point.
void check(const SensorPlace& place) {
  if (place.point && place.region != "all")
    throw Error("the place of a sensor is a region or a point, not both; remove one of them", ErrorKind::input);
  if (!place.point && !place.body.empty())
    throw Error("the body of a sensor's place belongs to a point; a region of a body is BODY/REGION", ErrorKind::input);
}

struct TypeEntry {
  SensorType type;
  Make make;
};

const std::vector<TypeEntry>& entries() {
  static const std::vector<std::string> vector{"x", "y", "z"}, tensor{"xx", "yy", "zz", "xy", "yz", "xz"};
  static const std::vector<TypeEntry> all{
      {{SensorQuantity::position, "position", "m", vector,
        "mean position of a region's vertices, or position of a point"},
       make_point<PointQuantity::position>},
      {{SensorQuantity::displacement, "displacement", "m", vector, "position minus rest position"},
       make_point<PointQuantity::displacement>},
      {{SensorQuantity::velocity, "velocity", "m/s", vector,
        "mean velocity of a region's vertices, or velocity of a point"},
       make_point<PointQuantity::velocity>},
      {{SensorQuantity::distance, "distance", "m", {"distance"}, "distance between two places"},
       make_point<PointQuantity::distance>},
      {{SensorQuantity::center_of_mass, "center_of_mass", "m", vector, "centre of mass of a region's vertices"},
       make_mass<MassQuantity::center_of_mass>},
      {{SensorQuantity::momentum, "momentum", "kg m/s", vector, "Σ m v over a region's vertices"},
       make_mass<MassQuantity::momentum>},
      {{SensorQuantity::angular_momentum, "angular_momentum", "kg m²/s", vector,
        "Σ m (x - o) × v about the point o = `about`"},
       make_mass<MassQuantity::angular_momentum>},
      {{SensorQuantity::kinetic_energy, "kinetic_energy", "J", {"energy"}, "½ Σ m v² over a region's vertices"},
       make_mass<MassQuantity::kinetic_energy>},
      {{SensorQuantity::volume, "volume", "m³", {"volume"}, "current volume of a region's tetrahedra"}, make_volume},
      {{SensorQuantity::strain, "strain", "1", tensor, "mean Green–Lagrange strain of a region's tetrahedra"},
       make_strain},
      {{SensorQuantity::stress, "stress", "Pa", tensor,
        "mean Cauchy stress of the elastic laws in a region's tetrahedra"},
       make_elastic<make_stress_sensor>},
      {{SensorQuantity::von_mises,
        "von_mises",
        "Pa",
        {"stress"},
        "power mean (Σ v σᴾ/Σ v)^(1/P) of the von Mises stresses σ of a region's tetrahedra, P = `power`"},
       make_von_mises},
      {{SensorQuantity::work,
        "work",
        "J",
        {"work"},
        "∫ P : ∇u dV over a region's tetrahedra; in statics, the compliance Σ F · u of dead loads"},
       make_elastic<make_work_sensor>},
      {{SensorQuantity::reaction, "reaction", "N", vector, "force that fixes or moves a region"}, make_force},
      {{SensorQuantity::moment, "moment", "N m", vector,
        "moment, about the point `about`, of the force that fixes or moves a region"},
       make_moment}};
  return all;
}

}  // namespace

std::unique_ptr<Sensor> make_sensor(const Site& site, const SensorSpec& spec, const MakeElasticTerms& elastic_terms) {
  check(spec.place);
  if (spec.other) check(*spec.other);
  if (spec.other && spec.quantity != SensorQuantity::distance)
    throw Error("a sensor of type " + name_of(spec) + " measures one place; remove the second place", ErrorKind::input);
  return entries().at(static_cast<std::size_t>(spec.quantity)).make(site, spec, elastic_terms);
}

}  // namespace sensor

const std::vector<SensorType>& sensor_types() {
  static const std::vector<SensorType> types = [] {
    std::vector<SensorType> all;
    for (const sensor::TypeEntry& entry : sensor::entries()) all.push_back(entry.type);
    return all;
  }();
  return types;
}

const SensorType& type_of(SensorQuantity quantity) { return sensor_types().at(static_cast<std::size_t>(quantity)); }

SensorQuantity sensor_quantity_named(const std::string& name) {
  std::vector<std::string> names;
  for (const SensorType& type : sensor_types()) {
    if (type.name == name) return type.quantity;
    names.push_back(type.name);
  }
  const std::string close = nearest(name, names);
  throw Error("there is no sensor of type '" + name + "'" + (close.empty() ? "" : "; did you mean '" + close + "'?"),
              ErrorKind::input);
}

}  // namespace diffsim
