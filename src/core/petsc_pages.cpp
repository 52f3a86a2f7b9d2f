// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
#include "core/petsc_pages.hpp"

#include <petscsys.h>

#include "diffsim/core/huge_pages.hpp"

namespace diffsim {
namespace {

using Allocate = decltype(PetscTrMalloc);

Allocate allocate = nullptr;  // what PETSc allocates with by itself

PetscErrorCode allocate_in_huge_pages(std::size_t bytes, PetscBool clear, int line, const char function[],
                                      const char file[], void** result) {
  const PetscErrorCode code = allocate(bytes, clear, line, function, file, result);
  if (code == 0) advise_huge_pages(*result, bytes);
  return code;
}

}  // namespace

// Not PetscMallocSet, which keeps PetscInitialize from choosing an allocator of its own (-malloc_debug), and may be
// called once only.
void begin_petsc_huge_pages() {
  PetscBool filled = PETSC_FALSE;  // with what shows up where it is read before it is written
  if (PetscTrMalloc == allocate_in_huge_pages || PetscMallocGetDebug(nullptr, nullptr, &filled) || filled) return;
  allocate = PetscTrMalloc;
  PetscTrMalloc = allocate_in_huge_pages;
}

void end_petsc_huge_pages() {
  if (PetscTrMalloc == allocate_in_huge_pages) PetscTrMalloc = allocate;
}

}  // namespace diffsim
