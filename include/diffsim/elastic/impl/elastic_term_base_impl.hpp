// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <memory>
#include <span>
#include <string>
#include <vector>

#include "diffsim/core/force_term.hpp"
#include "diffsim/core/impl/block_matrix_impl.hpp"
#include "diffsim/core/impl/device.hpp"
#include "diffsim/elastic/impl/elements_impl.hpp"
#include "diffsim/mesh/tetrahedral_mesh.hpp"

namespace diffsim::elastic {

/// Base class that contains the parts of ElasticTerm that do not depend on the law. The class stores the cells, the
/// derivatives of the moduli, and the sums over time steps from which gradients are computed.
class ElasticTermBase : public ForceTerm {
 public:
  void add_couplings(const Configuration&, Couplings& couplings) override;

 protected:
  using Specs = std::span<const ParameterSpec>;

  ElasticTermBase(const TetrahedralMesh& mesh, const std::vector<int>& cells, int nodes, int num_moduli,
                  Specs parameters, std::string_view signal);

  /// Returns true if the set contains at least one of the law's parameters.
  bool any_modulus(const ParameterSet& parameters) const;
  /// Returns the signal in the set, or nullptr if the law has no signal or the set does not contain the signal.
  const Parameter* signal_in(const ParameterSet& parameters) const;
  /// Returns the device address of the value of `signal` in time step `step`; nullptr if `signal` is nullptr.
  static const double* value_of(const Parameter* signal, int step);
  /// Returns the entry of `gradient` for the signal, or nullptr if no gradient with respect to the signal is requested.
  /// If the gradient is requested, allocates `signal_gradient_`, which contains one contribution per pack.
  Parameter* start_signal(ParameterSet& gradient);
  /// Adds the sum of `signal_gradient_` over the packs to the gradient with respect to the signal's value in time step
  /// `step`. `signal`: result of `start_signal`; nullptr: no effect.
  void add_signal_gradient(int step, Parameter* signal) const;

  /// Allocates `moduli` as [packs, num_moduli, pack_width] and sets `stride` to the number of entries per pack. If all
  /// cells of the term on this rank have equal parameters, the entries of one pack are allocated for all packs, and
  /// `stride` is 0. Returns the number of lanes whose moduli must be computed.
  int allocate_moduli(const ParameterSet& parameters, DeviceArray<double>& moduli, int& stride) const;
  /// Throws the same Error (input) on every rank if the moduli of any cell are not finite, for example because a fibre
  /// direction has length 0. Collective.
  void require_moduli(const DeviceArray<double>& moduli, int stride) const;

  /// Allocates `array` as [packs, values, pack_width].
  void allocate(DeviceArray<double>& array, int values) const;
  /// Allocates `sums` as [packs, values, pack_width] and sets all entries to 0 if `wanted`; otherwise releases `sums`.
  void start_sums(DeviceArray<double>& sums, bool wanted, int values) const;

  /// Returns the scatter that adds the cells' blocks to `matrix`. The scatter is built at the first call and after each
  /// change of the sparsity pattern.
  const BlockScatter& blocks_for(const BlockMatrix& matrix);

  const TetrahedralMesh* mesh_;
  std::vector<int> cells_;  // local indices of the cells; empty if the term has all cells of the mesh or no cell
  std::unique_ptr<CellScatter> some_;  // scatter of the term's cells; nullptr if the term has all cells of the mesh
  const CellScatter& scatter_;
  TermCells term_cells_;
  DeviceArray<double> moduli_tangent_, moduli_gradient_, moduli_gradient_tangent_, signal_gradient_, shape_sums_;
  const Parameter* signal_ = nullptr;  // the signal among the parameters passed to `prepare`, or nullptr
  bool has_moduli_tangent_ = false;

 private:
  std::vector<int> connectivity() const;

  int nodes_, num_moduli_;
  Specs parameters_;
  std::string_view signal_name_;          // empty: the law has no signal
  std::unique_ptr<BlockScatter> blocks_;  // created at the first assembly
};

}  // namespace diffsim::elastic
