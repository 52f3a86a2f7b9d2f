// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
#include <fmt/format.h>

#include <filesystem>

#include "app/job.hpp"
#include "app/setup.hpp"
#include "diffsim/core/error.hpp"
#include "diffsim/io/mesh_file.hpp"

namespace diffsim::app {
namespace {

nlohmann::ordered_json region_json(const TetrahedralMesh& mesh, const std::string& name) {
  const Region& region = mesh.region(name);
  auto faces = static_cast<std::int64_t>(mesh.faces(name).size());
  DIFFSIM_MPI(MPI_Allreduce(MPI_IN_PLACE, &faces, 1, MPI_INT64_T, MPI_SUM, mesh.comm()));
  return {{"name", name}, {"vertices", region.num_vertices}, {"cells", region.num_cells}, {"faces", faces}};
}

/// The mesh's groups, with dimension and tag, and the scene's regions.
nlohmann::ordered_json regions_json(const Scene& scene, const TetrahedralMesh& mesh) {
  nlohmann::ordered_json regions = nlohmann::ordered_json::array();
  for (const RegionInfo& info : mesh.region_infos()) {
    nlohmann::ordered_json region = region_json(mesh, info.name);
    region["dimension"] = info.dimension;
    region["tag"] = info.tag;
    regions.push_back(region);
  }
  for (const RegionEntry& entry : scene.regions) {
    nlohmann::ordered_json region = region_json(mesh, entry.name);
    region["defined_in"] = "scene";
    regions.push_back(region);
  }
  regions.push_back(region_json(mesh, "all"));
  return regions;
}

nlohmann::ordered_json partition_json(const TetrahedralMesh& mesh) {
  const std::int64_t mine[4] = {mesh.num_cells(), mesh.num_owned_vertices(), -mesh.num_cells(),
                                -mesh.num_owned_vertices()};
  std::int64_t most[4];
  DIFFSIM_MPI(MPI_Allreduce(mine, most, 4, MPI_INT64_T, MPI_MAX, mesh.comm()));
  return {{"cells_min", -most[2]}, {"cells_max", most[0]}, {"vertices_min", -most[3]}, {"vertices_max", most[1]}};
}

}  // namespace

bool report_mesh(Job& job) {
  const Scene& scene = job.scene;
  const MeshData data = load_mesh(job.comm, scene);
  const std::shared_ptr<TetrahedralMesh> mesh = make_mesh(job.comm, scene, data);
  job.report.set_mesh(*mesh);
  const bool has_body = !scene.materials.empty();
  const double stable = has_body ? make_body(scene, mesh).stable_substep() : 0.0;
  const MeshQuality quality = mesh->quality();
  const nlohmann::ordered_json regions = regions_json(scene, *mesh);
  const nlohmann::ordered_json partition = partition_json(*mesh);
  job.begin();
  if (!job.line.convert.empty()) {
    const Stopwatch io(job.report, "io");
    OutputFolder(job.comm, std::filesystem::absolute(job.line.convert).parent_path().string()).create();
    write_mesh_file(job.comm, job.line.convert, data);
  }

  job.report["mesh"]["order"] = mesh->order();
  job.report["mesh"]["nodes_per_cell"] = mesh->nodes_per_cell();
  job.report["mesh"]["unused_vertices"] = mesh->num_unused_vertices();
  job.report["quality"] = {{"volume", quality.volume},
                           {"min_edge", quality.min_edge},
                           {"max_edge", quality.max_edge},
                           {"min_mean_ratio", quality.min_mean_ratio},
                           {"average_mean_ratio", quality.average_mean_ratio}};
  job.report["regions"] = regions;
  job.report["partition"] = partition;
  job.out << fmt::format("mesh: {} vertices ({} unused), {} cells of {} nodes\n", mesh->num_global_vertices(),
                         mesh->num_unused_vertices(), mesh->num_global_cells(), mesh->nodes_per_cell())
          << fmt::format("volume {:.6g} m³, edges {:.3g} to {:.3g} m, mean ratio {:.3g} (worst) {:.3g} (average)\n",
                         quality.volume, quality.min_edge, quality.max_edge, quality.min_mean_ratio,
                         quality.average_mean_ratio);
  for (const auto& region : regions)
    job.out << fmt::format("  region {:<16} {} vertices, {} cells, {} faces\n", region["name"].get<std::string>(),
                           region["vertices"].get<std::int64_t>(), region["cells"].get<std::int64_t>(),
                           region["faces"].get<std::int64_t>());
  if (has_body) {
    job.report["stable_time_step"] = stable;
    job.report["stable_dt"] = stable * scene.solver.substeps;
    job.out << fmt::format("stable explicit substep {:.4g} s: dt below {:.4g} s with {} substeps\n", stable,
                           stable * scene.solver.substeps, scene.solver.substeps);
  }
  job.out << "wrote " << job.output.path("report.json") << (job.line.convert.empty() ? "" : ", " + job.line.convert)
          << '\n';
  return true;
}

}  // namespace diffsim::app
