// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <gtest/gtest.h>
#include <mpi.h>

#include <cstdint>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include "diffsim/core/error.hpp"
#include "diffsim/mesh/tetrahedral_mesh.hpp"

namespace diffsim::testing_io {

inline int rank() {
  int result = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &result);
  return result;
}

inline int num_ranks() {
  int result = 1;
  MPI_Comm_size(MPI_COMM_WORLD, &result);
  return result;
}

/// Runs `body` on rank 0 while the other ranks wait.
template <class Body>
void on_rank_0(const Body& body) {
  MPI_Barrier(MPI_COMM_WORLD);
  if (rank() == 0) body();
  MPI_Barrier(MPI_COMM_WORLD);
}

/// Returns the message of the Error of kind `kind` that `body` must throw on every rank.
template <class Body>
std::string error_of(ErrorKind kind, const Body& body) {
  try {
    body();
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), kind) << error.what();
    return error.what();
  }
  ADD_FAILURE() << "no error";
  return "";
}

#define EXPECT_CONTAINS(text, part) EXPECT_NE((text).find(part), std::string::npos) << (text)

inline std::string read_bytes(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

inline void write_bytes(const std::string& path, const std::string& bytes) {
  std::ofstream(path, std::ios::binary).write(bytes.data(), static_cast<std::streamsize>(bytes.size()));
}

/// Copies `from` to `to` with one bit flipped in the first value that equals `marker`. Rank 0 does the work.
template <class T>
void damage_value(const std::string& from, const std::string& to, T marker) {
  on_rank_0([&] {
    std::string bytes = read_bytes(from);
    const std::string pattern(reinterpret_cast<const char*>(&marker), sizeof(T));
    const std::size_t place = bytes.find(pattern);
    EXPECT_NE(place, std::string::npos) << "the marker is not in " << from;
    if (place != std::string::npos) bytes[place + 3] = static_cast<char>(bytes[place + 3] ^ 0x10);
    write_bytes(to, bytes);
  });
}

/// Returns this rank's rows out of `count`. The distribution is deliberately uneven: the first of several ranks has no
/// row.
inline std::vector<std::int64_t> my_rows(std::int64_t count) {
  const int ranks = num_ranks(), me = rank();
  std::vector<std::int64_t> rows;
  for (std::int64_t i = 0; i < count; ++i) {
    const int owner = ranks == 1 ? 0 : 1 + static_cast<int>(i * (ranks - 1) / count);
    if (owner == me) rows.push_back(i);
  }
  return rows;
}

/// Compares values bitwise, so that NaN equals itself and 0 differs from -0.
inline ::testing::AssertionResult same_bits(const std::vector<double>& a, const std::vector<double>& b) {
  if (a.size() != b.size()) return ::testing::AssertionFailure() << a.size() << " values against " << b.size();
  for (std::size_t i = 0; i < a.size(); ++i)
    if (std::memcmp(&a[i], &b[i], sizeof(double)) != 0)
      return ::testing::AssertionFailure() << "value " << i << ": " << a[i] << " against " << b[i];
  return ::testing::AssertionSuccess();
}

}  // namespace diffsim::testing_io
