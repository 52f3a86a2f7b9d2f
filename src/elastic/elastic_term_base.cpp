// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>

#include "core/file_order.hpp"
#include "diffsim/core/error.hpp"
#include "diffsim/core/impl/block_matrix.hpp"
#include "diffsim/core/impl/device.hpp"
#include "diffsim/elastic/impl/elastic_term_base_impl.hpp"
#include "mesh/bodies.hpp"

namespace diffsim::elastic {
namespace {

/// Returns the local vertices of the given cells, [cells, nodes].
std::vector<int> connectivity_of(const TetrahedralMesh& mesh, const std::vector<int>& cells, int nodes) {
  std::vector<int> result;
  result.reserve(static_cast<std::size_t>(nodes) * cells.size());
  for (const int cell : cells)
    for (int a = 0; a < nodes; ++a) result.push_back(mesh.cells()[static_cast<std::size_t>(nodes * cell + a)]);
  return result;
}

/// Returns the number of shared cells in `cells`, which must be ascending. The mesh numbers shared cells before all
/// other cells.
int num_shared(const TetrahedralMesh& mesh, const std::vector<int>& cells) {
  return static_cast<int>(std::lower_bound(cells.begin(), cells.end(), mesh.num_shared_cells()) - cells.begin());
}

/// Returns the scatter of the given cells, or nullptr if `cells` contains all cells of the mesh.
std::unique_ptr<CellScatter> scatter_of_some(const TetrahedralMesh& mesh, const std::vector<int>& cells, int nodes) {
  if (cells.size() == static_cast<std::size_t>(mesh.num_cells())) return nullptr;
  return std::make_unique<CellScatter>(connectivity_of(mesh, cells, nodes), num_shared(mesh, cells), nodes,
                                       mesh.num_vertices());
}

/// Returns the number of the term's cells in which `value` differs from the value in the first of these cells.
int num_differing(const TermCells& cells, const double* value) {
  int count = 0;
  Kokkos::parallel_reduce(
      "diffsim::elastic::num_differing", Range(0, cells.num_cells),
      KOKKOS_LAMBDA(int entry, int& sum) {
        if (value[cells.cell_of(entry)] != value[cells.cell_of(0)]) ++sum;
      },
      count);
  return count;
}

/// Returns the index, among the term's cells, of the first cell whose moduli are not all finite, or `num_cells` if all
/// moduli are finite.
int first_without_moduli(const DeviceArray<double>& moduli, int stride, int num_moduli, int num_cells) {
  int first = num_cells;
  Kokkos::parallel_reduce(
      "diffsim::elastic::first_without_moduli", Range(0, num_cells),
      KOKKOS_LAMBDA(int entry, int& smallest) {
        for (int k = 0; k < num_moduli; ++k) {
          const double m = moduli(stride * (entry / pack_width) + pack_width * k + entry % pack_width);
          if (!(m - m == 0.0) && entry < smallest) smallest = entry;
        }
      },
      Kokkos::Min<int>(first));
  return first;
}

/// Adds the sum of `values` to *target. `target`: device address.
void add_sum(const DeviceArray<double>& values, double* target) {
  double sum = 0.0;
  Kokkos::parallel_reduce(
      "diffsim::elastic::sum", Range(0, static_cast<int>(values.size())),
      KOKKOS_LAMBDA(int i, double& s) { s += values(i); }, sum);
  Kokkos::parallel_for(
      "diffsim::elastic::add", Range(0, 1), KOKKOS_LAMBDA(int) { *target += sum; });
  Kokkos::fence();
}

}  // namespace

ElasticTermBase::ElasticTermBase(const TetrahedralMesh& mesh, const std::vector<int>& cells, int nodes, int num_moduli,
                                 Specs parameters, std::string_view signal)
    : mesh_(&mesh),
      some_(scatter_of_some(mesh, cells, nodes)),
      scatter_(some_ ? *some_ : mesh.scatter()),
      nodes_(nodes),
      num_moduli_(num_moduli),
      parameters_(parameters),
      signal_name_(signal) {
  term_cells_.num_cells = scatter_.num_cells();
  if (!some_) return;
  cells_ = cells;
  term_cells_.cells = to_device("diffsim::elastic::cells", cells);
}

std::vector<int> ElasticTermBase::connectivity() const {
  return some_ ? connectivity_of(*mesh_, cells_, nodes_)
               : std::vector<int>(mesh_->cells().begin(), mesh_->cells().end());
}

void ElasticTermBase::add_couplings(const Configuration&, Couplings& couplings) {
  if (term_cells_.num_cells > 0) couplings.add(connectivity(), nodes_);
}

const BlockScatter& ElasticTermBase::blocks_for(const BlockMatrix& matrix) {
  if (!blocks_ || !blocks_->fits(matrix)) blocks_ = std::make_unique<BlockScatter>(matrix, connectivity(), nodes_);
  return *blocks_;
}

bool ElasticTermBase::any_modulus(const ParameterSet& parameters) const {
  return std::any_of(parameters_.begin(), parameters_.end(),
                     [&](const ParameterSpec& spec) { return parameters.find(spec.name) != nullptr; });
}

const Parameter* ElasticTermBase::signal_in(const ParameterSet& parameters) const {
  return !signal_name_.empty() ? parameters.find(signal_name_) : nullptr;
}

const double* ElasticTermBase::value_of(const Parameter* signal, int step) {
  return signal ? signal->field.data() + signal->offset(step) : nullptr;
}

Parameter* ElasticTermBase::start_signal(ParameterSet& gradient) {
  Parameter* const signal = !signal_name_.empty() ? gradient.find(signal_name_) : nullptr;
  if (signal && signal_gradient_.size() == 0)
    signal_gradient_ =
        make_device_array<double>("diffsim::elastic::signal_gradient", static_cast<std::size_t>(scatter_.num_packs()));
  return signal;
}

void ElasticTermBase::add_signal_gradient(int step, Parameter* signal) const {
  if (signal) add_sum(signal_gradient_, signal->field.data() + signal->offset(step));
}

int ElasticTermBase::allocate_moduli(const ParameterSet& parameters, DeviceArray<double>& moduli, int& stride) const {
  const bool uniform = std::all_of(parameters_.begin(), parameters_.end(), [&](const ParameterSpec& spec) {
    return num_differing(term_cells_, parameters.at(spec.name).field.data()) == 0;
  });
  const int lanes = uniform ? pack_width : pack_width * scatter_.num_packs();
  stride = uniform ? 0 : num_moduli_ * pack_width;
  const auto size = static_cast<std::size_t>(num_moduli_) * static_cast<std::size_t>(lanes);
  if (moduli.size() != size) moduli = make_device_array<double>("diffsim::elastic::moduli", size);
  return lanes;
}

void ElasticTermBase::require_moduli(const DeviceArray<double>& moduli, int stride) const {
  const int first = first_without_moduli(moduli, stride, num_moduli_, term_cells_.num_cells);
  collectively(mesh_->comm(), [&] {
    if (first >= term_cells_.num_cells) return;
    const auto entry = static_cast<std::size_t>(first);
    const std::size_t cell = cells_.empty() ? entry : static_cast<std::size_t>(cells_[entry]);
    throw Error(name() + ": the moduli computed from the parameters of cell " +
                    cell_name(mesh_->bodies(), mesh_->cell_order().file_index()[cell]) +
                    " are not finite; see the ranges in the law's table",
                ErrorKind::input);
  });
}

void ElasticTermBase::allocate(DeviceArray<double>& array, int values) const {
  const std::size_t size =
      static_cast<std::size_t>(values * pack_width) * static_cast<std::size_t>(scatter_.num_packs());
  if (array.size() != size) array = make_device_array<double>("diffsim::elastic::derivative", size);
}

void ElasticTermBase::start_sums(DeviceArray<double>& sums, bool wanted, int values) const {
  if (!wanted) {
    sums = {};
    return;
  }
  allocate(sums, values);
  Kokkos::deep_copy(sums, 0.0);
}

}  // namespace diffsim::elastic
