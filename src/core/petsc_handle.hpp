// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <petscsf.h>

#include <utility>

namespace diffsim {

/// Owning handle of one PETSc object. `Destroy` is PETSc's destroy function for the object's type, for example
/// PetscSFDestroy. Errors of the function `Destroy` are ignored.
template <class Object, PetscErrorCode (*Destroy)(Object*)>
class PetscHandle {
 public:
  PetscHandle() = default;
  explicit PetscHandle(Object object) : object_(object) {}
  PetscHandle(PetscHandle&& other) noexcept : object_(std::exchange(other.object_, nullptr)) {}
  PetscHandle& operator=(PetscHandle&& other) noexcept {
    std::swap(object_, other.object_);
    return *this;
  }
  PetscHandle(const PetscHandle&) = delete;
  PetscHandle& operator=(const PetscHandle&) = delete;
  ~PetscHandle() {
    if (object_) (void)Destroy(&object_);
  }

  operator Object() const { return object_; }  // NOLINT: implicit, for PETSc calls
  /// Destroys the object of this handle, if there is one, and returns the address of the empty handle. The returned
  /// address is the output argument for a PETSc function that creates an object, such as PetscSFCreate.
  Object* out() {
    if (object_) (void)Destroy(&object_);
    object_ = nullptr;
    return &object_;
  }

 private:
  Object object_ = nullptr;
};

using PetscSFHandle = PetscHandle<PetscSF, PetscSFDestroy>;

}  // namespace diffsim
