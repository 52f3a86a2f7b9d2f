// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
#include "io/trajectory_frame.hpp"

#include <algorithm>
#include <cstdint>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "core/exchange.hpp"
#include "core/file_order.hpp"
#include "diffsim/core/error.hpp"
#include "io/body_rows.hpp"
#include "io/hdf5_file.hpp"
#include "io/mesh_identity.hpp"

namespace diffsim {
namespace {

/// Index of the frame of step `step`, or of the last frame if `step` is negative.
std::int64_t find_frame(const Hdf5File& file, const std::vector<std::int64_t>& steps, int step) {
  if (steps.empty()) throw InputError(file.path(), 0, "/step", "has no frames");
  if (step < 0) return static_cast<std::int64_t>(steps.size()) - 1;
  const auto found = std::lower_bound(steps.begin(), steps.end(), step);
  if (found != steps.end() && *found == step) return found - steps.begin();
  std::string nearest;
  if (found != steps.begin()) nearest += std::to_string(*(found - 1));
  if (found != steps.end()) nearest += (nearest.empty() ? "" : " and ") + std::to_string(*found);
  throw InputError(file.path(), 0, "/step",
                   "there is no frame of step " + std::to_string(step) + "; the nearest are of step " + nearest);
}

}  // namespace

TrajectoryFrames trajectory_frames(MPI_Comm comm, const std::string& path) {
  const Hdf5File file = Hdf5File::open(comm, path);
  (void)file.require("/step", DatasetInfo::Kind::integer, {-1});
  const std::optional<AttributeValue> scene = file.attribute("/", scene_attribute);
  const auto* const text = scene ? std::get_if<std::string>(&*scene) : nullptr;
  return {file.read_array<std::int64_t>("/step"), text ? *text : "",
          file.attribute("/", "complete") == AttributeValue(std::int64_t{1})};
}

int read_trajectory_frame(const TetrahedralMesh& mesh, const std::string& path, int step, State& state) {
  const Hdf5File file = Hdf5File::open(mesh.comm(), path);
  const auto fingerprint = file.attribute("/", fingerprint_attribute);
  if (!fingerprint || *fingerprint != AttributeValue(fingerprint_text(mesh)))
    throw InputError(
        path, 0, "",
        "is not a trajectory of this mesh (attribute `mesh_fingerprint`); give the mesh, and the scale, that "
        "the trajectory was made with");
  (void)file.require("/step", DatasetInfo::Kind::integer, {-1});
  const std::vector<std::int64_t> steps = file.read_array<std::int64_t>("/step");
  const std::int64_t frame = find_frame(file, steps, step);
  const std::vector<BodyRows> bodies = vertex_and_director_rows(mesh);
  for (Field& field : state.fields()) {
    if (field.on().name() != mesh.vertex_entities()->name()) continue;
    std::vector<double> block;
    for (const BodyRows& body : bodies) {
      const std::string dataset = body.group + "/" + field.name();
      if (!file.has(dataset))
        throw InputError(
            path, 0, dataset,
            "does not exist, but the initial state needs it; write it in the earlier run with output: {fields: [" +
                field.name() + ", …]}");
      (void)file.require(dataset, DatasetInfo::Kind::real,
                         {static_cast<std::int64_t>(steps.size()), body.total, field.components()});
      const std::vector<double> part = file.read_frame<double>(dataset, frame, body.num_local());
      block.insert(block.end(), part.begin(), part.end());
    }
    std::vector<double> values = mesh.vertex_order().from_file(block, field.components());
    values.resize(field.size());
    field.from_host(values);
  }
  synchronise(state);
  return static_cast<int>(steps[static_cast<std::size_t>(frame)]);
}

}  // namespace diffsim
