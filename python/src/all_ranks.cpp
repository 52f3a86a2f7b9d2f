// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
#include "all_ranks.hpp"

#include <nanobind/stl/string.h>

#include <exception>

#include "diffsim/core/error.hpp"
#include "diffsim/core/runtime.hpp"

namespace diffsim::python {

void call_on_all_ranks(MPI_Comm comm, const std::function<void()>& body) {
  std::exception_ptr exception;
  try {
    const nb::gil_scoped_acquire with_gil;
    body();
  } catch (...) {
    exception = std::current_exception();
  }
  if (num_ranks(comm) > 1) {
    const std::int64_t failed = sum_over_ranks(static_cast<std::int64_t>(exception ? 1 : 0), comm);
    if (failed > 0 && !exception)
      throw Error("the same call failed on another rank; read the message of that rank", ErrorKind::system);
  }
  if (exception) std::rethrow_exception(exception);
}

std::string read_path(MPI_Comm comm, nb::handle path) {
  return read_on_all_ranks(
      comm, [&] { return nb::cast<std::string>(nb::object(nb::module_::import_("os").attr("fspath")(path))); });
}

void ArgumentHash::mix(std::uint64_t word) {
  // FNV-1a on words, with a rotation that moves high bits to low bits.
  value_ = std::rotl((value_ ^ word) * 0x100000001b3U + 0xcbf29ce484222325U, 29);
}

void require_same_hash(MPI_Comm comm, const char* names, const ArgumentHash& hash) {
  if (num_ranks(comm) == 1) return;
  std::array<std::uint64_t, 2> smallest{hash.value(), ~hash.value()};
  DIFFSIM_MPI(MPI_Allreduce(MPI_IN_PLACE, smallest.data(), 2, MPI_UINT64_T, MPI_MIN, comm));
  if (smallest[0] != ~smallest[1])
    throw InputError(std::string("the ranks pass different arguments (") + names +
                     "); pass the same arguments on all ranks");
}

}  // namespace diffsim::python
