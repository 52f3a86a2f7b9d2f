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

/// Base class that contains the parts of ElasticTerm that do not depend on the material law. ElasticTermBase stores the
/// force term's cells, the derivatives of the moduli along a direction, and the gradients with respect to the moduli
/// and the rest shape, summed over time steps.
class ElasticTermBase : public ForceTerm {
 public:
  void add_couplings(const Configuration&, Couplings& couplings) override;

 protected:
  using Specs = std::span<const ParameterSpec>;

  ElasticTermBase(const TetrahedralMesh& mesh, const std::vector<int>& cells, int nodes, int num_moduli,
                  Specs parameters, std::string_view signal);

  /// Returns true if `parameters` contains at least one parameter of the material law.
  bool any_modulus(const ParameterSet& parameters) const;
  /// Returns the material law's control signal in `parameters`, or nullptr if the law has no control signal or
  /// `parameters` does not contain the signal.
  const Parameter* signal_in(const ParameterSet& parameters) const;
  /// Returns the device address of the value of the control signal `signal` in time step `step`; nullptr if `signal` is
  /// nullptr.
  static const double* value_of(const Parameter* signal, int step);
  /// Returns the parameter in `gradient` that receives the gradient with respect to the material law's control signal,
  /// or nullptr if this gradient is not requested. If the gradient with respect to the control signal is requested,
  /// allocates `signal_gradient_`, which has one value per pack of cells.
  Parameter* start_signal(ParameterSet& gradient);
  /// Adds the sum of `signal_gradient_` over the packs of cells to the gradient with respect to the value of the
  /// material law's control signal in time step `step`. `signal`: result of `start_signal`; `add_signal_gradient` has
  /// no effect if `signal` is nullptr.
  void add_signal_gradient(int step, Parameter* signal) const;

  /// Allocates `moduli` as [packs, num_moduli, pack_width] and sets `stride` to the number of entries per pack,
  /// num_moduli · pack_width. If all cells of the force term on this rank have equal parameters, the array `moduli` has
  /// the entries of one pack only, which all packs use, and `stride` is 0. Returns the number of cells, including
  /// padding of the last pack, whose moduli must be computed.
  int allocate_moduli(const ParameterSet& parameters, DeviceArray<double>& moduli, int& stride) const;
  /// Throws the same Error (input) on every rank if the moduli of any cell are not finite, for example because a fibre
  /// direction has length 0. Collective.
  void require_moduli(const DeviceArray<double>& moduli, int stride) const;

  /// Allocates `array` as [packs, values, pack_width].
  void allocate(DeviceArray<double>& array, int values) const;
  /// Allocates `sums` as [packs, values, pack_width] and sets all entries to 0 if `wanted` is true; otherwise releases
  /// `sums`.
  void start_sums(DeviceArray<double>& sums, bool wanted, int values) const;

  /// Returns the BlockScatter that adds the blocks of the force term's cells to `matrix`. The first call of
  /// `blocks_for` creates the BlockScatter, and the first call after a change of the sparsity pattern of `matrix`
  /// creates a new BlockScatter.
  const BlockScatter& blocks_for(const BlockMatrix& matrix);

  const TetrahedralMesh* mesh_;
  std::vector<int> cells_;  // local indices of the cells; empty if the term has all cells of the mesh or no cell
  std::unique_ptr<CellScatter> some_;  // scatter of the term's cells; nullptr if the term has all cells of the mesh
  const CellScatter& scatter_;
  TermCells term_cells_;
  DeviceArray<double> moduli_tangent_, moduli_gradient_, moduli_gradient_tangent_, signal_gradient_, shape_sums_;
  const Parameter* signal_ = nullptr;  // control signal among the parameters passed to `prepare`, or nullptr
  bool has_moduli_tangent_ = false;

 private:
  std::vector<int> connectivity() const;

  int nodes_, num_moduli_;
  Specs parameters_;
  std::string_view signal_name_;          // empty: the law has no control signal
  std::unique_ptr<BlockScatter> blocks_;  // created by `blocks_for`
};

}  // namespace diffsim::elastic
