// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
#include "diffsim/core/error.hpp"

#include <petscsys.h>

#include <climits>
#include <new>
#include <vector>

#include "core/broadcast.hpp"
#include "diffsim/core/runtime.hpp"

namespace diffsim {
namespace {

std::string place(const std::string& file, long line, const std::string& key, const std::string& what) {
  std::string text = file;
  if (line > 0) text += ":" + std::to_string(line);
  text += ": ";
  if (!key.empty()) text += key + ": ";
  return text + what;
}

std::string base_name(const char* file) {
  const std::string path(file);
  return path.substr(path.find_last_of('/') + 1);
}

}  // namespace

InputError::InputError(const std::string& file, long line, const std::string& key, const std::string& what)
    : Error(place(file, line, key, what), ErrorKind::input) {}

void collectively(MPI_Comm comm, const std::function<void()>& body) {
  std::string message;
  int kind = -1;
  try {
    body();
  } catch (const Error& error) {
    kind = static_cast<int>(error.kind());
    message = error.what();
  } catch (const std::bad_alloc&) {
    kind = static_cast<int>(ErrorKind::system);
    message = "out of memory; use more ranks or a smaller mesh";
  } catch (const std::exception& error) {
    kind = static_cast<int>(ErrorKind::system);
    message = error.what();
  }
  const int rank = rank_of(comm);
  int first_failed = kind < 0 ? INT_MAX : rank;
  DIFFSIM_MPI(MPI_Allreduce(MPI_IN_PLACE, &first_failed, 1, MPI_INT, MPI_MIN, comm));
  if (first_failed == INT_MAX) return;
  DIFFSIM_MPI(MPI_Bcast(&kind, 1, MPI_INT, first_failed, comm));
  broadcast_text(message, comm, first_failed);
  throw Error(message, static_cast<ErrorKind>(kind));
}

void check_mpi(int code, const char* call, const char* file, int line) {
  if (code == MPI_SUCCESS) return;
  char text[MPI_MAX_ERROR_STRING] = "unknown error";
  int length = 0;
  MPI_Error_string(code, text, &length);
  throw Error("MPI: " + std::string(text) + " in " + call + " (" + base_name(file) + ":" + std::to_string(line) + ")",
              ErrorKind::system);
}

void check_petsc(int code, const char* call, const char* file, int line) {
  if (code == 0) return;
  const char* text = nullptr;
  PetscErrorMessage(static_cast<PetscErrorCode>(code), &text, nullptr);
  throw Error("PETSc: error " + std::to_string(code) + (text ? " (" + std::string(text) + ")" : std::string()) +
                  " in " + call + " (" + base_name(file) + ":" + std::to_string(line) + ")",
              ErrorKind::system);
}

}  // namespace diffsim
