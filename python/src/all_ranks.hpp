// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <mpi.h>
#include <nanobind/nanobind.h>

#include <array>
#include <bit>
#include <concepts>
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "runtime.hpp"

namespace diffsim::python {

namespace nb = nanobind;

/// Runs `body`, which calls Python functions, on every rank. If `body` throws on some ranks, these ranks throw their
/// own exceptions and the other ranks throw an Error. Collective; the caller must be in a LibraryScope.
void call_on_all_ranks(MPI_Comm comm, const std::function<void()>& body);

/// Runs `read`, which reads Python objects, with the GIL on every rank, and returns the result of `read`. If `read`
/// throws on some ranks, these ranks throw their own exceptions and the other ranks throw an Error. Collective; the
/// caller must hold the GIL.
template <class Read>
auto read_on_all_ranks(MPI_Comm comm, const Read& read) {
  std::optional<std::decay_t<decltype(read())>> result;
  {
    const LibraryScope scope;
    call_on_all_ranks(comm, [&] { result.emplace(read()); });
  }
  return std::move(*result);
}

/// Returns the text of a path, a str or an object with the method `__fspath__`. Collective; the caller must hold the
/// GIL.
std::string read_path(MPI_Comm comm, nb::handle path);

/// Hash value of a sequence of arguments, by which ranks compare their arguments.
class ArgumentHash {
 public:
  template <std::integral T>
  void add(T value) {
    mix(static_cast<std::uint64_t>(value));
  }
  void add(double value) { mix(std::bit_cast<std::uint64_t>(value)); }
  void add(const std::string& text) {
    mix(text.size());
    for (const char c : text) mix(static_cast<unsigned char>(c));
  }
  template <class T>
  void add(const std::vector<T>& values) {
    mix(values.size());
    for (const auto& value : values) add(value);
  }
  template <class T, std::size_t N>
  void add(const std::array<T, N>& values) {
    for (const T& value : values) add(value);
  }
  template <class T>
  void add(const std::optional<T>& value) {
    mix(value ? 1 : 0);
    if (value) add(*value);
  }
  template <class K, class V>
  void add(const std::map<K, V>& values) {
    mix(values.size());
    for (const auto& [key, value] : values) {
      add(key);
      add(value);
    }
  }
  std::uint64_t value() const { return value_; }

 private:
  void mix(std::uint64_t word);
  std::uint64_t value_ = 0;
};

/// Throws InputError on all ranks if the hash values of the ranks differ. `names`: names of the arguments, for the
/// message. Collective; the caller must be in a LibraryScope.
void require_same_hash(MPI_Comm comm, const char* names, const ArgumentHash& hash);

/// Throws InputError on all ranks if an argument, such as the name of a region, is not the same on all ranks. `names`:
/// names of the arguments, for the message. Collective; the caller must be in a LibraryScope.
template <class... Arguments>
void require_same_on_all_ranks(MPI_Comm comm, const char* names, const Arguments&... arguments) {
  ArgumentHash hash;
  (hash.add(arguments), ...);
  require_same_hash(comm, names, hash);
}

}  // namespace diffsim::python
