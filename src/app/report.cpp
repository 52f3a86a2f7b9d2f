// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
#include "app/report.hpp"

#include "app/machine.hpp"
#include "diffsim/core/config.hpp"
#include "diffsim/core/error.hpp"
#include "diffsim/core/runtime.hpp"
#include "diffsim/mesh/tetrahedral_mesh.hpp"

namespace diffsim::app {

Report::Report(MPI_Comm comm, const std::string& command, std::optional<double> start)
    : comm_(comm), start_(start.value_or(MPI_Wtime())) {
  const int ranks = num_ranks(comm);
  root_["command"] = command;
  root_["version"] = DIFFSIM_VERSION;
  root_["ranks"] = ranks;
  root_["back_end"] = back_end();
  root_["threads"] = concurrency();
  root_["blas"] = blas_library();
  root_["mesh"];
  for (const char* key : {"loss", "gradient_norm", "converged", "iterations"}) root_[key];
  root_["wall_seconds"] = {{"setup", 0.0}, {"forward", 0.0}, {"backward", 0.0}, {"io", 0.0}};
  root_["peak_memory_bytes"];
}

void Report::set_mesh(const TetrahedralMesh& mesh) {
  root_["mesh"] = {{"vertices", mesh.num_global_vertices() - mesh.num_global_directors()},
                   {"cells", mesh.num_global_cells()}};
}

void Report::add_seconds(const std::string& phase, double seconds) {
  ReportValue& total = root_["wall_seconds"][phase];
  total = total.real() + seconds;
}

double Report::elapsed() const { return MPI_Wtime() - start_; }

void Report::write(const OutputFolder& folder) {
  double bytes = peak_memory_bytes();
  DIFFSIM_MPI(MPI_Allreduce(MPI_IN_PLACE, &bytes, 1, MPI_DOUBLE, MPI_SUM, comm_));
  root_["peak_memory_bytes"] = static_cast<std::int64_t>(bytes);
  folder.write("report.json", root_.json() + "\n");
}

}  // namespace diffsim::app
