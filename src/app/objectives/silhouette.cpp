// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
#include "app/inputs.hpp"
#include "app/objective_types.hpp"
#include "app/scene_sections.hpp"
#include "app/text_file.hpp"
#include "diffsim/inverse/losses.hpp"
#include "io/observations.hpp"

namespace diffsim::app {
namespace {

/// Objective that compares the silhouette of a region with masks in a file.
class SilhouetteObjective : public Objective {
 public:
  std::string observations;               ///< path of the file with the masks
  std::string dataset = "/masks";         ///< name of the dataset of the masks, [K, height, width]
  std::optional<std::vector<int>> steps;  ///< steps of the file to use; if absent, all steps
  Camera camera;
  int filter = SilhouetteOptions{}.filter;
  RegionName region;
  Place place;  ///< location of the key `observations` in the scene file

  std::unique_ptr<Loss> make_loss(const Scene& scene, DifferentiableScene& solver) const override;
  std::vector<RegionName> regions() const override { return {region}; }
  std::string observations_file() const override { return observations; }
};

std::unique_ptr<Loss> SilhouetteObjective::make_loss(const Scene& scene, DifferentiableScene& solver) const {
  const SilhouetteObjective& objective = *this;
  const TetrahedralMesh& mesh = *solver.mesh();
  require_readable(mesh.comm(), objective.observations, objective.place);
  std::map<int, std::vector<double>> masks;
  const auto height = static_cast<std::size_t>(objective.camera.height),
             width = static_cast<std::size_t>(objective.camera.width);
  at_place(objective.place, [&] {
    masks = read_observed_images(mesh.comm(), objective.observations, objective.dataset, height, width,
                                 objective.steps.value_or(std::vector<int>{}));
  });
  require_steps(objective.place, masks.rbegin()->first, scene);
  std::unique_ptr<Loss> loss;
  at_place(objective.place, [&] {
    loss = make_silhouette_loss(mesh, objective.camera, masks,
                                {.region = objective.region.name, .filter = objective.filter});
  });
  return loss;
}

Camera parse_camera(const Value& value) {
  const Mapping mapping(value, {"position", "target", "up", "field_of_view", "view_height", "size"});
  Camera camera;
  camera.position = to_vector(mapping.need("position", "the position [x, y, z] of the camera, in m"));
  camera.target = to_vector(mapping.need("target", "the point [x, y, z] at the centre of the image, in m"));
  if (const Value* up = mapping.find("up")) camera.up = to_vector(*up);
  const std::string angle = mapping.one_of({"field_of_view", "view_height"});
  if (angle == "field_of_view")
    camera.field_of_view = to_positive(*mapping.find("field_of_view"), "rad");
  else
    camera.view_height = to_positive(*mapping.find("view_height"), "m");
  const Value& size = mapping.need("size", "the numbers [width, height] of pixels");
  if (!size.is_list() || size.items.size() != 2)
    size.place.fail("is not a list of two numbers of pixels: width, height");
  camera.width = to_integer(size.items[0], 1, 16384);
  camera.height = to_integer(size.items[1], 1, 16384);
  return camera;
}

std::shared_ptr<const Objective> parse_silhouette(const Mapping& mapping, const Scene& scene) {
  auto made = std::make_shared<SilhouetteObjective>();
  SilhouetteObjective& objective = *made;
  const Value& path = mapping.need("observations", "the path of an HDF5 file with /masks [K, height, width]");
  objective.observations = beside_scene(to_text(path), scene);
  objective.place = path.place;
  objective.camera = parse_camera(mapping.need("camera", "{position:, target:, field_of_view:, size:}"));
  if (const Value* dataset = mapping.find("dataset")) objective.dataset = to_text(*dataset);
  if (const Value* filter = mapping.find("filter")) {
    objective.filter = to_integer(*filter, 1);
    if (objective.filter % 2 == 0) filter->place.fail(filter->text + " is even; give an odd number of pixels");
  }
  objective.region = parse_region_or_all(mapping);
  objective.steps = parse_steps(mapping, scene);
  return made;
}

}  // namespace

ObjectiveType silhouette_objective() {
  return {.name = "silhouette",
          .keys = {"type", "observations", "dataset", "steps", "camera", "region", "filter", "noise", "weight"},
          .parse = &parse_silhouette};
}

}  // namespace diffsim::app
