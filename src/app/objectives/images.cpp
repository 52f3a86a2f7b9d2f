// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
#include "app/inputs.hpp"
#include "app/objective_types.hpp"
#include "app/scene_sections.hpp"
#include "app/text_file.hpp"
#include "diffsim/inverse/losses.hpp"
#include "io/observations.hpp"

namespace diffsim::app {
namespace {

/// Objective that compares images of a region's surface with images in a file.
class ImageObjective : public Objective {
 public:
  std::string observations;               ///< path of the file with the images
  std::string dataset;                    ///< name of the dataset of the images, [K, height, width]
  std::optional<std::vector<int>> steps;  ///< steps of the file to use; if absent, all steps
  Camera camera;
  RegionName region;
  Place place;  ///< location of the key `observations` in the scene file

  std::unique_ptr<Loss> make_loss(const Scene& scene, DifferentiableScene& solver) const override;
  std::vector<RegionName> regions() const override { return {region}; }
  std::string observations_file() const override { return observations; }

 protected:
  /// Makes the loss. `images`: map from the number of each observed step to the image, [height, width].
  virtual std::unique_ptr<Loss> make_image_loss(const TetrahedralMesh& mesh,
                                                const std::map<int, std::vector<double>>& images) const = 0;
};

class SilhouetteObjective final : public ImageObjective {
 public:
  int filter = SilhouetteOptions{}.filter;

 private:
  std::unique_ptr<Loss> make_image_loss(const TetrahedralMesh& mesh,
                                        const std::map<int, std::vector<double>>& images) const override {
    return make_silhouette_loss(mesh, camera, images, {.region = region.name, .filter = filter});
  }
};

class DepthObjective final : public ImageObjective {
 public:
  double huber = 0.0;  ///< m; 0: none

 private:
  std::unique_ptr<Loss> make_image_loss(const TetrahedralMesh& mesh,
                                        const std::map<int, std::vector<double>>& images) const override {
    return make_depth_loss(mesh, camera, images, {.region = region.name, .huber = huber});
  }
};

std::unique_ptr<Loss> ImageObjective::make_loss(const Scene& scene, DifferentiableScene& solver) const {
  const TetrahedralMesh& mesh = *solver.mesh();
  require_readable(mesh.comm(), observations, place);
  std::map<int, std::vector<double>> images;
  at_place(place, [&] {
    images = read_observed_images(mesh.comm(), observations, dataset, static_cast<std::size_t>(camera.height),
                                  static_cast<std::size_t>(camera.width), steps.value_or(std::vector<int>{}));
  });
  require_steps(place, images.rbegin()->first, scene);
  std::unique_ptr<Loss> loss;
  at_place(place, [&] { loss = make_image_loss(mesh, images); });
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

/// Parses the keys that all objectives of images have. `dataset`: default name of the dataset.
void parse_images(const Mapping& mapping, const Scene& scene, const std::string& dataset, ImageObjective& objective) {
  const Value& path = mapping.need("observations", "the path of an HDF5 file with " + dataset + " [K, height, width]");
  objective.observations = beside_scene(to_text(path), scene);
  objective.place = path.place;
  objective.camera = parse_camera(mapping.need("camera", "{position:, target:, field_of_view:, size:}"));
  const Value* const given = mapping.find("dataset");
  objective.dataset = given ? to_text(*given) : dataset;
  objective.region = parse_region_or_all(mapping);
  objective.steps = parse_steps(mapping, scene);
}

std::shared_ptr<const Objective> parse_silhouette(const Mapping& mapping, const Scene& scene) {
  auto objective = std::make_shared<SilhouetteObjective>();
  parse_images(mapping, scene, "/masks", *objective);
  if (const Value* filter = mapping.find("filter")) {
    objective->filter = to_integer(*filter, 1);
    if (objective->filter % 2 == 0) filter->place.fail(filter->text + " is even; give an odd number of pixels");
  }
  return objective;
}

std::shared_ptr<const Objective> parse_depth(const Mapping& mapping, const Scene& scene) {
  auto objective = std::make_shared<DepthObjective>();
  parse_images(mapping, scene, "/depths", *objective);
  if (const Value* huber = mapping.find("huber")) objective->huber = to_positive(*huber, "m");
  return objective;
}

}  // namespace

ObjectiveType silhouette_objective() {
  return {.name = "silhouette",
          .keys = {"type", "observations", "dataset", "steps", "camera", "region", "filter", "noise", "weight"},
          .parse = &parse_silhouette};
}

ObjectiveType depth_objective() {
  return {.name = "depth",
          .keys = {"type", "observations", "dataset", "steps", "camera", "region", "huber", "noise", "weight"},
          .parse = &parse_depth};
}

}  // namespace diffsim::app
