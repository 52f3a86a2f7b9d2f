// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <memory>
#include <vector>

#include "diffsim/core/field.hpp"
#include "diffsim/core/petsc_handle.hpp"

namespace diffsim {

/// Exchange between the owned vertices of a rank and the copies ("ghosts") that other ranks hold, by PetscSF.
///
/// Local vertices are numbered owned first, ghosts after. Only the vertices that are shared are packed and sent; sums
/// arrive in a fixed order, so a run repeats to the bit.
class Halo {
 public:
  /// `ghost_owner[g]` and `ghost_index[g]`: rank and local index there of ghost num_owned + g. Collective.
  Halo(MPI_Comm comm, int num_owned, const std::vector<PetscInt>& ghost_owner,
       const std::vector<PetscInt>& ghost_index);
  ~Halo();
  Halo(const Halo&) = delete;
  Halo& operator=(const Halo&) = delete;

  MPI_Comm comm() const;
  int num_owned() const { return num_owned_; }
  int num_local() const { return num_owned_ + num_ghosts_; }
  /// Owned vertices that some other rank has a copy of.
  int num_shared() const { return num_shared_; }
  /// One after the last of these, 0 without any.
  int shared_end() const { return shared_end_; }
  /// Whether no rank shares anything.
  bool is_alone() const { return alone_; }

  /// Adds the ghosts' values to their owners; ghosts keep theirs. `field`: [num_local, 3]. Collective.
  void add_to_owners(Field& field) const;
  /// Copies owners' values to the ghosts. `field`: [num_local, 3]. Collective.
  void copy_to_ghosts(Field& field) const;

  // The same in two halves, between which what is not shared may change. One exchange at a time.
  void begin_add_to_owners(const Field& field) const;
  void end_add_to_owners(Field& field) const;
  void begin_copy_to_ghosts(const Field& field) const;
  void end_copy_to_ghosts(Field& field) const;

 private:
  struct Buffers;
  PetscSFHandle sf_;
  int num_owned_ = 0;
  int num_ghosts_ = 0;
  int num_shared_ = 0;
  int shared_end_ = 0;
  bool alone_ = true;  // nothing is shared on any rank
  std::unique_ptr<Buffers> buffers_;
};

}  // namespace diffsim
