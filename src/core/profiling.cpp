// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
#include "diffsim/core/impl/profiling.hpp"

#include <petscsys.h>

#include <unordered_map>

#include "diffsim/core/error.hpp"
#include "diffsim/core/impl/device.hpp"

namespace diffsim {
namespace {

/// Returns the map from the address of an event's name to the number that PETSc gave to the event. With this map, PETSc
/// does not have to search for events by name. PetscFinalize clears the map (`forget_events`).
std::unordered_map<const char*, PetscLogEvent>& events() {
  static std::unordered_map<const char*, PetscLogEvent> by_name;
  return by_name;
}

PetscErrorCode forget_events() {
  events().clear();
  return 0;
}

PetscClassId class_id() {
  static const PetscClassId id = [] {
    PetscClassId value = 0;
    DIFFSIM_PETSC(PetscClassIdRegister("diffsim", &value));
    return value;
  }();
  return id;
}

PetscLogEvent find_or_register(const char* name) {
  const auto known = events().find(name);
  if (known != events().end()) return known->second;
  if (events().empty()) DIFFSIM_PETSC(PetscRegisterFinalize(forget_events));
  PetscLogEvent event = -1;
  const PetscClassId owner = class_id();
  DIFFSIM_PETSC(PetscLogEventGetId(name, &event));
  if (event < 0) DIFFSIM_PETSC(PetscLogEventRegister(name, owner, &event));
  events().emplace(name, event);
  return event;
}

}  // namespace

ProfilingRegion::ProfilingRegion(const char* name) : event_(find_or_register(name)) {
  Kokkos::Profiling::pushRegion(name);
  // The error code is ignored, because a failure of logging must not stop a computation.
  (void)PetscLogEventBegin(event_, nullptr, nullptr, nullptr, nullptr);
}

ProfilingRegion::~ProfilingRegion() {
  (void)PetscLogEventEnd(event_, nullptr, nullptr, nullptr, nullptr);
  Kokkos::Profiling::popRegion();
}

}  // namespace diffsim
