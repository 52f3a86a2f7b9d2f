// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
#include <fmt/core.h>
#include <cmath>

#include <filesystem>

#include "app/job.hpp"
#include "app/setup.hpp"
#include "diffsim/core/error.hpp"
#include "dynamics/time/explicit_model.hpp"
#include "io/mesh_file.hpp"

namespace diffsim::app {
namespace {

/// Name of a region, and numbers of its vertices, cells and faces on all ranks.
struct CountedRegion {
  std::string name;
  std::int64_t vertices, cells, faces;
  ReportValue report;
};

CountedRegion counted(const TetrahedralMesh& mesh, const std::string& name) {
  const Region& region = mesh.region(name);
  auto faces = static_cast<std::int64_t>(mesh.faces(name).size());
  DIFFSIM_MPI(MPI_Allreduce(MPI_IN_PLACE, &faces, 1, MPI_INT64_T, MPI_SUM, mesh.comm()));
  return {name,
          region.num_vertices,
          region.num_cells,
          faces,
          {{"name", name}, {"vertices", region.num_vertices}, {"cells", region.num_cells}, {"faces", faces}}};
}

/// Numbers of vertices, cells and faces of the mesh's groups (with dimension and tag), the bodies, the scene's regions
/// and the whole mesh.
std::vector<CountedRegion> counted_regions(const Scene& scene, const TetrahedralMesh& mesh) {
  std::vector<CountedRegion> regions;
  for (const RegionInfo& info : mesh.region_infos()) {
    regions.push_back(counted(mesh, info.name));
    regions.back().report["dimension"] = info.dimension;
    regions.back().report["tag"] = info.tag;
  }
  for (const MeshBody& body : mesh.bodies()) {
    regions.push_back(counted(mesh, body.name + "/all"));
    regions.back().report["body"] = body.name;
  }
  for (const RegionEntry& entry : scene.regions) {
    regions.push_back(counted(mesh, entry.name));
    regions.back().report["defined_in"] = "scene";
  }
  regions.push_back(counted(mesh, "all"));
  return regions;
}

ReportValue partition_report(const TetrahedralMesh& mesh) {
  const std::int64_t mine[4] = {mesh.num_cells(), mesh.num_owned_vertices(), -mesh.num_cells(),
                                -mesh.num_owned_vertices()};
  std::int64_t most[4];
  DIFFSIM_MPI(MPI_Allreduce(mine, most, 4, MPI_INT64_T, MPI_MAX, mesh.comm()));
  return {{"cells_min", -most[2]}, {"cells_max", most[0]}, {"vertices_min", -most[3]}, {"vertices_max", most[1]}};
}

/// Writes the mesh to the files of --convert: one file per body, or a single file for a scene without `bodies`.
/// Collective.
void write_converted(Job& job, const MeshData& data, const std::vector<std::string>& files) {
  const Scene& scene = job.scene;
  const Stopwatch io(job.report, "io");
  OutputFolder(job.comm, std::filesystem::absolute(job.line.convert).parent_path().string()).create();
  if (scene.bodies.empty()) write_mesh_file(job.comm, files.front(), data);
  for (std::size_t b = 0; b < scene.bodies.size(); ++b)
    write_mesh_file(job.comm, files[b], load_source(job.comm, scene.bodies[b].mesh));
}

/// Adds the largest stable substep (s) to the report and to the printed text. `stable` is 0 if no substep is stable.
void report_stable_substep(Job& job, Integrator integrator, double stable) {
  if (std::isinf(stable)) {
    job.out << "no force limits the explicit substep\n";
    return;
  }
  const int substeps = job.scene.solver.substeps;
  job.report["stable_time_step"] = stable;
  job.report["stable_dt"] = stable * substeps;
  if (stable == 0.0)
    job.out << name_of(integrator) << " has no stable substep: undamped oscillations grow at every substep\n";
  else
    job.out << fmt::format("stable explicit substep {:.4g} s: dt below {:.4g} s with {} substeps\n", stable,
                           stable * substeps, substeps);
}

}  // namespace

bool report_mesh(Job& job) {
  const Scene& scene = job.scene;
  const std::vector<std::string> converted = converted_files(job.line.convert, scene);
  const MeshData data = load_mesh(job.comm, scene);
  const std::shared_ptr<TetrahedralMesh> mesh = make_mesh(job.comm, scene, data);
  job.report.set_mesh(*mesh);
  const bool has_body = !scene.materials.empty();
  const Integrator integrator =
      is_explicit(scene.solver.integrator) ? scene.solver.integrator : DifferentiableSolver{}.integrator;
  const double stable = has_body ? make_body(scene, mesh, integrator).stable_substep() : 0.0;
  const MeshQuality quality = mesh->quality();
  const std::vector<CountedRegion> regions = counted_regions(scene, *mesh);
  const ReportValue partition = partition_report(*mesh);
  job.begin();
  if (!job.line.convert.empty()) write_converted(job, data, converted);

  job.report["mesh"]["order"] = mesh->order();
  job.report["mesh"]["quadrature_degree"] = mesh->quadrature_degree();
  job.report["mesh"]["nodes_per_cell"] = mesh->nodes_per_cell();
  for (const CellKind kind : lower_kinds)
    if (mesh->num_global(kind) > 0) job.report["mesh"][name_of(kind)] = mesh->num_global(kind);
  job.report["mesh"]["unused_vertices"] = mesh->num_unused_vertices();
  job.report["quality"] = {{"volume", quality.volume},
                           {"min_edge", quality.min_edge},
                           {"max_edge", quality.max_edge},
                           {"min_mean_ratio", quality.min_mean_ratio},
                           {"average_mean_ratio", quality.average_mean_ratio}};
  job.report["regions"] = ReportValue::list();
  for (const CountedRegion& region : regions) job.report["regions"].push_back(region.report);
  job.report["partition"] = partition;
  job.out << fmt::format("mesh: {} vertices ({} unused), {} cells of {} nodes\n",
                         mesh->num_global_vertices() - mesh->num_global_directors(), mesh->num_unused_vertices(),
                         mesh->num_global_cells(), mesh->nodes_per_cell());
  for (const CellKind kind : lower_kinds)
    if (mesh->num_global(kind) > 0) job.out << fmt::format("and {} {}\n", mesh->num_global(kind), name_of(kind));
  job.out << fmt::format("volume {:.6g} m³, edges {:.3g} to {:.3g} m, mean ratio {:.3g} (worst) {:.3g} (average)\n",
                         quality.volume, quality.min_edge, quality.max_edge, quality.min_mean_ratio,
                         quality.average_mean_ratio);
  for (const CountedRegion& region : regions)
    job.out << fmt::format("  region {:<16} {} vertices, {} cells, {} faces\n", region.name, region.vertices,
                           region.cells, region.faces);
  if (has_body) report_stable_substep(job, integrator, stable);
  job.out << "wrote " << job.output.path("report.json");
  for (const std::string& file : converted) job.out << ", " << file;
  job.out << '\n';
  return true;
}

}  // namespace diffsim::app
