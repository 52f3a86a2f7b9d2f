// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <mpi.h>

#include <cstdint>
#include <memory>
#include <utility>

#include "diffsim/core/runtime.hpp"

namespace diffsim::python {

// Objects such as meshes and solvers own communicators and solvers of PETSc, which all ranks must destroy together. The
// garbage collector of Python may release such an object at a different time on each rank. Therefore a released object
// becomes an unused object, and a collective call, at which all ranks compare their unused objects, destroys those that
// are unused on all ranks. PETSc's PetscGarbageCleanup uses the same method.

/// Identity of an object that all ranks of a communicator have created together.
struct SharedObjectNumber {
  std::int64_t object = 0;  ///< the same on all ranks, and larger than the numbers of earlier objects on these ranks
  std::int64_t comm = 0;    ///< number of the communicator in this process
};

/// Returns the identity of a new object. Collective.
SharedObjectNumber next_object_number(MPI_Comm comm);
/// Keeps an object, which this rank has released, until `destroy_unused` or `destroy_all_unused`.
void keep_unused(SharedObjectNumber number, std::shared_ptr<const void> object);
/// Destroys the unused objects of `comm` that are unused on all ranks, the most recent object first. Collective; the
/// caller must be in a LibraryScope.
void destroy_unused(MPI_Comm comm);
/// Destroys all unused objects, the most recent object first. All ranks must have released the same objects. The caller
/// must be in a ReleaseScope.
void destroy_all_unused();

/// Returns a pointer to `object`, which all ranks of `comm` have created together. After the last copy of the pointer
/// has been released on this rank, the object is destroyed at once if `comm` has one rank, otherwise by
/// `destroy_unused`. Calls `destroy_unused`. Collective; the caller must be in a LibraryScope.
template <class T>
std::shared_ptr<T> share_on_all_ranks(MPI_Comm comm, std::shared_ptr<T> object) {
  if (num_ranks(comm) == 1) return object;
  destroy_unused(comm);
  const SharedObjectNumber number = next_object_number(comm);
  T* const address = object.get();
  return std::shared_ptr<T>(address,
                            [number, owner = std::move(object)](T*) mutable { keep_unused(number, std::move(owner)); });
}

}  // namespace diffsim::python
