// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <functional>
#include <optional>
#include <string>

#include "app/yaml_value.hpp"
#include "diffsim/body/joint.hpp"
#include "diffsim/contact/contact.hpp"
#include "diffsim/dynamics/integrator.hpp"
#include "diffsim/mesh/construction.hpp"
#include "diffsim/mesh/region.hpp"
#include "diffsim/simulation/material.hpp"

namespace diffsim::app {

// Functions that return the section of a scene file which describes an object of the library. Values of parameters that
// are arrays are replaced by a single allowed value; the section `values` of the scene file must contain the array.

/// Throws InputError with the message "the scene cannot be written: WHAT".
[[noreturn]] void refuse_scene(const std::string& what);

/// Returns the section `solver`. `steps`: number of steps; without a value, the section has no key `steps`. Throws
/// InputError for an option that scene files do not have.
Value section_of(const DifferentiableSolver& solver, std::optional<int> steps);
/// Returns an entry of the section `material`, without the key `region`. The keys that scene files give next to the
/// section `material` are added to `beside`, the mapping of the body.
Value section_of(const DifferentiableMaterial& material, Value& beside);
/// Returns the section `contact`, without thicknesses and surfaces of bodies. `write_surface(name, triangles)` writes
/// triangles to a file, and returns the path of the file.
Value section_of(const ContactOptions& options,
                 const std::function<std::string(const std::string&, const TriangleMesh&)>& write_surface);
/// Returns the value of a joint in the section `joints`, without the keys of its drive. Throws InputError for a joint
/// whose coordinate at rest is not 0.
Value section_of(const Joint& joint);
/// Adds the keys of a joint's drive to `section`, with zeros for the torque and the target.
void put_drive(Value& section, const JointDrive& drive);
/// Returns the value of the key `placement` of a body.
Value section_of(const Placement& placement);
/// Returns the value of a region in the section `regions`, without the key `body`.
Value section_of(const RegionShape& shape);

}  // namespace diffsim::app
