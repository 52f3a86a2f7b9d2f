// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <memory>
#include <span>
#include <string>
#include <vector>

#include "diffsim/core/block_matrix_impl.hpp"
#include "diffsim/core/device.hpp"
#include "diffsim/core/force_term.hpp"
#include "diffsim/elastic/elements_impl.hpp"
#include "diffsim/mesh/tetrahedral_mesh.hpp"

namespace diffsim::elastic {

/// Base of the terms of all laws: the cells, and the arrays of moduli and of sums over steps.
class ElasticTermBase : public ForceTerm {
 public:
  void add_couplings(const Configuration&, Couplings& couplings) override;

 protected:
  using Specs = std::span<const ParameterSpec>;

  ElasticTermBase(const TetrahedralMesh& mesh, const std::vector<int>& cells, int nodes, int num_moduli,
                  Specs parameters, std::string_view signal);

  bool any_modulus(const ParameterSet& parameters) const;
  /// The signal, if the law has one and the set has it.
  const Parameter* signal_in(const ParameterSet& parameters) const;
  static const double* value_of(const Parameter* signal, int step);
  /// The signal's gradient, if it is asked for, with room for the sums over packs.
  Parameter* start_signal(ParameterSet& gradient);
  void add_signal_gradient(int step, Parameter* signal) const;

  /// Allocates the moduli: one row for all packs where this rank's cells all have the same parameters. Returns the
  /// number of lanes to compute.
  int allocate_moduli(const ParameterSet& parameters, DeviceArray<double>& moduli, int& stride) const;
  /// Throws the same Error on every rank where the parameters of a cell give no finite moduli: a fibre without length,
  /// say. Collective.
  void require_moduli(const DeviceArray<double>& moduli, int stride) const;

  /// Makes `array` [packs, values, pack_width].
  void allocate(DeviceArray<double>& array, int values) const;
  /// Array of zeros where it is wanted, else none.
  void start_sums(DeviceArray<double>& sums, bool wanted, int values) const;

  const BlockScatter& blocks_for(const BlockMatrix& matrix);

  const TetrahedralMesh* mesh_;
  std::vector<int> cells_;             // of the mesh; empty: all, or none
  std::unique_ptr<CellScatter> some_;  // nullptr: all of the mesh's cells
  const CellScatter& scatter_;
  TermCells term_cells_;
  DeviceArray<double> moduli_tangent_, moduli_gradient_, moduli_gradient_tangent_, signal_gradient_, shape_sums_;
  const Parameter* signal_ = nullptr;  // of the parameters prepared with
  bool has_moduli_tangent_ = false;

 private:
  std::vector<int> connectivity() const;

  int nodes_, num_moduli_;
  Specs parameters_;
  std::string_view signal_name_;          // may be empty
  std::unique_ptr<BlockScatter> blocks_;  // made when first assembled
};

}  // namespace diffsim::elastic
