// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
#include "sensor/make_sensor.hpp"

#include <algorithm>
#include <string>
#include <utility>

#include "core/nearest_word.hpp"
#include "diffsim/core/error.hpp"
#include "sensor/acceleration.hpp"
#include "sensor/cell_sensor.hpp"
#include "sensor/mass_sensor.hpp"
#include "sensor/point_sensor.hpp"
#include "sensor/reaction.hpp"

namespace diffsim {
namespace sensor {
namespace {

using Made = std::unique_ptr<Sensor>;
using Make = Made (*)(const Site& site, const SensorSpec& spec, const SensorTerms& terms);

const std::string& name_of(const SensorSpec& spec) { return type_of(spec.quantity).name; }

const Region& region_of(const Site& site, const SensorSpec& spec) {
  if (spec.place.point)
    throw Error("a sensor of type " + name_of(spec) + " measures a region, not a point; give a region",
                ErrorKind::input);
  return site.mesh().region(spec.place.region);
}

template <PointQuantity quantity>
Made make_point(const Site& site, const SensorSpec& spec, const SensorTerms&) {
  if (quantity == PointQuantity::distance && !spec.other)
    throw Error("a sensor of type distance needs two places", ErrorKind::input);
  return make_point_sensor(site, quantity, spec.place, spec.other.value_or(SensorPlace{}));
}

template <MassQuantity quantity>
Made make_mass(const Site& site, const SensorSpec& spec, const SensorTerms&) {
  return make_mass_sensor(site, quantity, region_of(site, spec), spec.about);
}

Made make_volume(const Site& site, const SensorSpec& spec, const SensorTerms&) {
  return make_volume_sensor(site, region_of(site, spec));
}

Made make_strain(const Site& site, const SensorSpec& spec, const SensorTerms&) {
  return make_strain_sensor(site, region_of(site, spec));
}

/// Makes a sensor of the elastic forces in a region's tetrahedra.
template <Made (*make)(const Site&, const Region&, std::vector<std::unique_ptr<ForceTerm>>)>
Made make_elastic(const Site& site, const SensorSpec& spec, const SensorTerms& terms) {
  const Region& region = region_of(site, spec);
  std::vector<std::unique_ptr<ForceTerm>> made = terms.elastic(region);
  if (region.num_cells > 0 && made.empty()) throw without_law(region, name_of(spec));
  return make(site, region, std::move(made));
}

Made make_von_mises(const Site& site, const SensorSpec& spec, const SensorTerms& terms) {
  return make_von_mises_sensor(site, region_of(site, spec), spec.power, terms.elastic);
}

Made make_force(const Site& site, const SensorSpec& spec, const SensorTerms&) {
  return make_reaction(site, region_of(site, spec));
}

Made make_moment(const Site& site, const SensorSpec& spec, const SensorTerms&) {
  return make_reaction(site, region_of(site, spec), spec.about);
}

Made make_point_acceleration(const Site& site, const SensorSpec& spec, const SensorTerms&) {
  return make_acceleration(site, spec.place);
}

bool measures_contact(SensorQuantity quantity) {
  return quantity == SensorQuantity::contact_force || quantity == SensorQuantity::friction_force ||
         quantity == SensorQuantity::contact_pressure;
}

/// Returns the name of a sensor of contact, for example "contact_pressure between 'ball' and 'floor'".
std::string name_of_contact(const SensorSpec& spec) {
  return name_of(spec) + " between '" + spec.between[0] + "' and '" + spec.between[1] + "'";
}

template <ContactPart part>
Made make_contact_force(const Site& site, const SensorSpec& spec, const SensorTerms& terms) {
  return make_contact_force_sensor(site, terms.contact(spec.between, part), name_of_contact(spec));
}

Made make_contact_pressure(const Site& site, const SensorSpec& spec, const SensorTerms& terms) {
  return make_contact_pressure_sensor(site, terms.contact(spec.between, ContactPart::normal), name_of_contact(spec));
}

/// Throws Error (input) if the sides of a contact are missing or do not apply to the quantity.
void check_between(const SensorSpec& spec) {
  const bool is_contact = measures_contact(spec.quantity);
  for (const std::string& name : spec.between) {
    if (is_contact && name.empty())
      throw Error("a sensor of type " + name_of(spec) + " measures the contact of two sides; name two bodies, or a " +
                      "body and an obstacle, in `between`",
                  ErrorKind::input);
    if (!is_contact && !name.empty())
      throw Error("a sensor of type " + name_of(spec) + " does not measure contact; remove `between`",
                  ErrorKind::input);
  }
  if (is_contact && (spec.place.point || spec.place.region != "all"))
    throw Error("a sensor of type " + name_of(spec) + " measures the sides in `between`; remove the region or point",
                ErrorKind::input);
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

std::vector<TypeEntry> entries_of_forces() {
  const std::vector<std::string> vector{"x", "y", "z"};
  return {{{SensorQuantity::contact_force, "contact_force", "N", vector,
            "sum of the contact forces of the second side on the first side of `between`"},
           make_contact_force<ContactPart::all>},
          {{SensorQuantity::friction_force, "friction_force", "N", vector, "friction part of `contact_force`"},
           make_contact_force<ContactPart::friction>},
          {{SensorQuantity::contact_pressure,
            "contact_pressure",
            "Pa",
            {"pressure"},
            "mean Σ (F²/A)/Σ F of the pressures F/A of vertices with normal contact forces F and rest areas A"},
           make_contact_pressure},
          {{SensorQuantity::acceleration, "acceleration", "m/s²", vector,
            "mean acceleration f/m + g of a region's vertices, or acceleration of a point"},
           make_point_acceleration}};
}

std::vector<TypeEntry> entries_of_bodies() {
  const std::vector<std::string> vector{"x", "y", "z"}, tensor{"xx", "yy", "zz", "xy", "yz", "xz"};
  return {
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
}

/// Returns the entries of all quantities, in the order of SensorQuantity.
const std::vector<TypeEntry>& entries() {
  static const std::vector<TypeEntry> all = [] {
    std::vector<TypeEntry> made = entries_of_bodies();
    for (const TypeEntry& entry : entries_of_forces()) made.push_back(entry);
    return made;
  }();
  return all;
}

}  // namespace

std::unique_ptr<Sensor> make_sensor(const Site& site, const SensorSpec& spec, const SensorTerms& terms) {
  check(spec.place);
  check_between(spec);
  if (spec.other) check(*spec.other);
  if (spec.other && spec.quantity != SensorQuantity::distance)
    throw Error("a sensor of type " + name_of(spec) + " measures one place; remove the second place", ErrorKind::input);
  return entries().at(static_cast<std::size_t>(spec.quantity)).make(site, spec, terms);
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
