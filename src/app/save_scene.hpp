// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <string>

#include "app/yaml_value.hpp"
#include "diffsim/simulation/scene.hpp"

namespace diffsim::app {

/// Writes `scene` as the scene file `path`: the YAML document `document`, and a section `values` with the values of
/// those parameters, and of the initial state, that differ from the values that follow from `document`. Values per cell
/// or vertex, and lists of more than 24 numbers, are written to the HDF5 file whose path is `path`, with `-values.h5`
/// instead of the ending of `path`. An existing section `values` of `document` is replaced.
///
/// `document`: document of a scene of a single experiment, with the mesh, the materials, the constraints, the loads and
/// the contact of `scene`. Relative paths of input files in `document` are relative to the folder `folder`. To find the
/// differences, `save_scene` creates a second scene from `document`; the written values are read again and compared
/// with those of `scene`. Throws InputError, which names the difference, if no document with these sections has the
/// parameters, force terms, fixed components and initial state of `scene`. Collective.
void save_scene(DifferentiableScene& scene, Value document, const std::string& folder, const std::string& path);

}  // namespace diffsim::app
