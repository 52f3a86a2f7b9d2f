// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
#include "app/job.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <filesystem>

#include "app/inputs.hpp"
#include "app/text_file.hpp"
#include "diffsim/core/runtime.hpp"
#include "dynamics/time/explicit_model.hpp"
#include "dynamics/time/implicit_model.hpp"

namespace diffsim::app {

std::vector<std::string> converted_files(const std::string& file, const Scene& scene) {
  if (file.empty()) return {};
  if (scene.bodies.empty()) return {file};
  const std::filesystem::path path(file);
  std::vector<std::string> files;
  for (const BodyEntry& body : scene.bodies)
    files.push_back(
        (path.parent_path() / (path.stem().string() + "-" + body.name + path.extension().string())).string());
  return files;
}

std::vector<const Scene*> experiments_of(const Scene& scene) {
  std::vector<const Scene*> scenes{&scene};
  for (const Scene& further : scene.further_experiments) scenes.push_back(&further);
  return scenes;
}

Job job_of_experiment(const Job& job, const Scene& experiment) {
  Scene scene = experiment;
  scene.further_experiments.clear();
  return {job.comm,
          job.rank,
          job.line,
          job.agreement,
          scene,
          job.scene_text,
          OutputFolder(job.comm, job.output.path(experiment.experiment)),
          Report(job.comm, job.line.command, job.report.start()),
          job.out,
          job.err};
}

JobGroups make_groups(MPI_Comm comm, int count, const std::vector<std::string>& names, int windows) {
  const Place place{nullptr, 0, "--groups"};
  int ranks = 1;
  DIFFSIM_MPI(MPI_Comm_size(comm, &ranks));
  const bool share_windows = names.empty() && windows > 0;
  if (count > 1 && names.empty() && !share_windows)
    place.fail("needs a scene with `experiments`, or `invert` with `optimiser.shooting`");
  const int parts = share_windows ? windows : static_cast<int>(names.size());
  if (count > 1 && count > parts)
    place.fail(fmt::format("{} groups are more than the {} {} of the scene", count, parts,
                           share_windows ? "windows" : "experiments"));
  if (count > ranks) place.fail(fmt::format("{} groups are more than the {} processes", count, ranks));
  // Processes with consecutive ranks form a group.
  JobGroups groups{
      comm, count, static_cast<int>(std::int64_t{rank_of(comm)} * count / ranks), {}, share_windows && count > 1,
      names};
  if (groups.share_windows) groups.experiments.push_back(0);
  for (int k = groups.number; k < static_cast<int>(names.size()); k += count) groups.experiments.push_back(k);
  return groups;
}

Scene scene_with(const Scene& scene, const std::vector<int>& experiments) {
  const std::vector<const Scene*> all = experiments_of(scene);
  Scene first = *all.at(static_cast<std::size_t>(experiments.front()));
  first.further_experiments.clear();
  for (std::size_t k = 1; k < experiments.size(); ++k) {
    first.further_experiments.push_back(*all.at(static_cast<std::size_t>(experiments[k])));
    first.further_experiments.back().further_experiments.clear();
  }
  return first;
}

void tell_defaults(Job& job) {
  const SolverSection& solver = job.scene.solver;
  std::vector<std::string> parts;
  if (!solver.damping_given && has_damping_factor(solver.integrator)) {
    const double damping = solver.damping.array()->values.at(0);
    const long substeps = static_cast<long>(solver.steps) * solver.substeps;
    parts.push_back(
        fmt::format("solver.damping: {} per substep (over the run of {} substeps in {:.3g} s, 1 m/s decays to {:.3g} "
                    "m/s without forces)",
                    damping, substeps, solver.steps * solver.dt, std::pow(damping, substeps)));
  }
  if (!solver.gravity_given) {
    const std::vector<double>& gravity = solver.gravity.array()->values;
    parts.push_back(fmt::format("solver.gravity: [{}, {}, {}] m/s²", gravity.at(0), gravity.at(1), gravity.at(2)));
  }
  if (parts.empty()) return;
  job.out << "defaults: " << parts.front() << (parts.size() > 1 ? "; " + parts.back() : "") << '\n' << std::flush;
}

void warn_about_solver(Job& job, DifferentiableScene& solver) {
  for (const std::string& key : job.scene.solver.unused)
    job.warn("solver." + key + " has no effect with integrator: " + name_of(job.scene.solver.integrator));
  if (solver.is_implicit()) return;
  const double stable = solver.stable_substep();
  const double substep = job.scene.solver.dt / job.scene.solver.substeps;
  if (!(substep > stable)) return;
  if (stable == 0.0) {
    job.warn(std::string(name_of(job.scene.solver.integrator)) +
             " is unstable for undamped oscillations at every substep; symplectic_euler, velocity_verlet and "
             "runge_kutta_4 are not");
    return;
  }
  job.warn(fmt::format(
      "the substep, solver.dt/substeps = {:.3g} s, exceeds {:.3g} s, up to which small motions about rest are "
      "certain to be stable; if the run fails, use substeps: {:.0f}",
      substep, stable, std::ceil(job.scene.solver.dt / stable)));
}

void report_solver(Job& job, DifferentiableScene& solver) {
  const auto* model = dynamic_cast<const ImplicitModel*>(&solver.time_stepper());
  if (!model) return;
  const ImplicitStatistics& counts = model->statistics();
  job.report["implicit"] = {{"steps", counts.steps},
                            {"newton_iterations", counts.newton_iterations},
                            {"linear_iterations", counts.linear_iterations},
                            {"projections", counts.projections},
                            {"cuts", counts.cuts},
                            {"held_rounds", counts.held_rounds},
                            {"obstructions", counts.obstructions},
                            {"reductions", counts.reductions},
                            {"changes_to_factors", counts.changes_to_factors},
                            {"derivative_solves", counts.derivative_solves},
                            {"indefinite", counts.indefinite}};
  if (counts.indefinite > 0)
    job.warn(
        fmt::format("{} of {} linear systems of the derivatives are indefinite: there, the gradient is evaluated at an "
                    "unstable equilibrium",
                    counts.indefinite, counts.derivative_solves));
}

void warn_about_contact(Job& job, const TetrahedralMesh& mesh) {
  if (!job.scene.contact) return;
  const ContactOptions& options = job.scene.contact->options;
  const auto distance_of = [&](ContactLawKind law, double of) { return law == ContactLawKind::impact ? 0.0 : of; };
  double distance = distance_of(options.law, options.barrier_distance);
  for (const ContactPair& pair : options.pairs)
    distance = std::max(distance, distance_of(pair.law.value_or(options.law),
                                              pair.barrier_distance.value_or(options.barrier_distance)));
  const double edge = mesh.quality().min_edge;
  if (edge == 0.0 || distance <= 0.5 * edge) return;
  job.warn(
      fmt::format("contact.barrier_distance, {:.3g} m, is above half of the mesh's smallest edge, {:.3g} m; contact "
                  "then depends on the mesh: use at most {:.3g}",
                  distance, edge, 0.5 * edge));
}

std::string size_text(const Scene& scene, const TetrahedralMesh& mesh) {
  std::string cells = fmt::format("{} cells", mesh.num_global_cells());
  if (mesh.num_global_cells() == 0) {
    cells.clear();
    for (const CellKind kind : lower_kinds)
      if (mesh.num_global(kind) > 0)
        cells += fmt::format("{}{} {}", cells.empty() ? "" : ", ", mesh.num_global(kind), name_of(kind));
  }
  return fmt::format("{} steps, {} vertices, {}", scene.solver.steps,
                     mesh.num_global_vertices() - mesh.num_global_directors(), cells);
}

}  // namespace diffsim::app
