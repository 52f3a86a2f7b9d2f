// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <exception>
#include <random>
#include <string>
#include <vector>

#include "diffsim/core/error.hpp"
#include "gmsh_samples.hpp"
#include "mesh/readers/gmsh/gmsh_reader.hpp"
#include "mesh/validate.hpp"

namespace diffsim::gmsh_fuzz_test {
namespace {

using testing_mesh::Encoding;
using testing_mesh::Sample;

/// Generator of corrupted files. The result depends only on the file and the seed.
class Mutator {
 public:
  explicit Mutator(std::uint64_t seed) : random_(seed) {}

  std::string spoil(std::string content) {
    for (std::uint64_t left = 1 + below(3); left > 0; --left) change(content);
    return content;
  }

 private:
  /// Returns a number below `end`. std::uniform_int_distribution is not used, because its results differ between
  /// libraries.
  std::uint64_t below(std::uint64_t end) { return end == 0 ? 0 : random_() % end; }
  template <class T>
  const T& pick(const std::vector<T>& from) {
    return from[below(from.size())];
  }

  void change(std::string& content) {
    if (content.empty()) return;
    const std::size_t at = below(content.size());
    switch (below(10)) {
      case 0:
        content[at] = static_cast<char>(content[at] ^ (1 << below(8)));
        break;
      case 1:
        content[at] = static_cast<char>(below(256));
        break;
      case 2:
        content.resize(at);
        break;
      case 3:
        content.erase(at, 1 + below(16));
        break;
      case 4:
        content.insert(at, content.substr(below(content.size()), 1 + below(64)));
        break;
      case 5:
      case 6:
        change_line(content, at);
        break;
      case 7:
        put_integer(content, at);
        break;
      default:
        change_number(content, at);
    }
  }

  /// Removes or duplicates the line at `at`, or moves this line elsewhere.
  void change_line(std::string& content, std::size_t at) {
    const std::size_t first = at == 0 ? 0 : content.rfind('\n', at - 1) + 1;  // npos + 1 is 0
    const std::size_t size = std::min(content.find('\n', first), content.size() - 1) + 1 - first;
    const std::string line = content.substr(first, size);
    const std::uint64_t how = below(3);
    if (how != 0) content.erase(first, size);
    if (how == 0) content.insert(first, line);
    if (how == 1) content.insert(content.rfind('\n', below(content.size() + 1)) + 1, line);
  }

  /// Overwrites 4 or 8 bytes, which may be a binary number.
  void put_integer(std::string& content, std::size_t at) {
    static const std::vector<std::uint64_t> values = {0,
                                                      1,
                                                      2,
                                                      4,
                                                      11,
                                                      0x7fffffff,
                                                      0x80000000,
                                                      0xffffffff,
                                                      0x100000000,
                                                      0x7fffffffffffffff,
                                                      0x8000000000000000,
                                                      0xffffffffffffffff,
                                                      0x7ff0000000000000,
                                                      0x7ff8000000000000,
                                                      0x2000000000000000,
                                                      1000000000000000000};
    const std::uint64_t value = pick(values);
    const std::size_t size = std::min<std::size_t>(content.size() - at, below(2) == 0 ? 4 : 8);
    std::memcpy(content.data() + at, &value, size);
  }

  /// Replaces the first number in text at or after `at`.
  void change_number(std::string& content, std::size_t at) {
    static const std::vector<std::string> values = {"0",
                                                    "1",
                                                    "2",
                                                    "3",
                                                    "4",
                                                    "5",
                                                    "7",
                                                    "8",
                                                    "9",
                                                    "11",
                                                    "12",
                                                    "40",
                                                    "101",
                                                    "107",
                                                    "-1",
                                                    "-4",
                                                    "2147483647",
                                                    "-2147483648",
                                                    "2147483648",
                                                    "9223372036854775807",
                                                    "9223372036854775808",
                                                    "-9223372036854775808",
                                                    "1000000000000000000",
                                                    "99999999999999999999999999",
                                                    "nan",
                                                    "-inf",
                                                    "1e999",
                                                    "1e-999",
                                                    "1e308",
                                                    "-1e308",
                                                    "0x10",
                                                    "1.5",
                                                    "+1",
                                                    "",
                                                    "x",
                                                    "1e",
                                                    "\"",
                                                    "0 0",
                                                    "1\n1",
                                                    "4.1",
                                                    "2.2"};
    const std::size_t first = content.find_first_of("0123456789", at);
    if (first == std::string::npos) return;
    const std::size_t last = std::min(content.find_first_not_of("0123456789.e-", first), content.size());
    content.replace(first, last - first, pick(values));
  }

  std::mt19937_64 random_;
};

/// Checks that the reader either refuses the bytes with an input error, or reads a consistent mesh.
void expect_clean(const std::string& content, bool allow_coincident_vertices, int order, std::int64_t& num_read) {
  try {
    const auto mesh = parse_gmsh(content, "spoilt.msh", 1.0, allow_coincident_vertices, order);
    ++num_read;
    ValidateOptions options;
    options.allow_coincident_vertices = allow_coincident_vertices;
    EXPECT_EQ(validate_cells(mesh, "spoilt.msh", options), mesh.num_unused_vertices);
  } catch (const InputError& error) {
    const std::string text = error.what();
    EXPECT_EQ(text.rfind("spoilt.msh:", 0), 0u) << text;
    EXPECT_NE(text.find("; "), std::string::npos) << "says nothing to do: " << text;
    for (const char c : text) EXPECT_TRUE(static_cast<unsigned char>(c) >= 0x20) << text;
  } catch (const std::exception& error) {
    ADD_FAILURE() << "not an InputError: " << error.what();
  }
}

/// The environment variable DIFFSIM_FUZZ sets the number of corrupted files, for example for runs with sanitizers.
TEST(GmshFuzz, ReadsOrRefusesSpoiltFiles) {
  const char* asked = std::getenv("DIFFSIM_FUZZ");
  const std::int64_t count = asked ? std::atoll(asked) : 20000;
  std::vector<std::string> files;
  for (const int order : {1, 2})
    for (const int version : {22, 41})
      for (const Encoding encoding : {Encoding::text, Encoding::little_endian, Encoding::big_endian})
        files.push_back(Sample::file(version, encoding, order));

  std::int64_t num_read = 0;
  for (std::int64_t seed = 0; seed < count && !HasFailure(); ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    const auto& file = files[static_cast<std::size_t>(seed) % files.size()];
    expect_clean(Mutator(static_cast<std::uint64_t>(seed)).spoil(file), seed % 4 == 0, seed % 5 == 0 ? 1 : 2, num_read);
  }
  EXPECT_GT(num_read, count / 50) << "nearly nothing was read: the changes are too rough to reach far";
  EXPECT_LT(num_read, count / 2) << "nearly nothing was refused: the changes spoil nothing";
}

}  // namespace
}  // namespace diffsim::gmsh_fuzz_test
