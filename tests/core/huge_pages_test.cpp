// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
#include "diffsim/core/impl/huge_pages.hpp"

#include <gtest/gtest.h>
#include <sys/mman.h>

#include <algorithm>
#include <cstdint>
#include <fstream>
#include <sstream>
#include <string>
#include <vector>

#include "diffsim/core/error.hpp"
#include "diffsim/core/field.hpp"
#include "diffsim/core/impl/device.hpp"

namespace diffsim::huge_pages_test {
namespace {

constexpr std::size_t large = 1 << 20, small = 1 << 18;  // doubles

/// Returns the kernel's flags of the memory mapping that contains an address; empty if the flags are not available.
std::string flags_at(const void* address) {
  std::ifstream maps("/proc/self/smaps");
  const auto place = reinterpret_cast<std::uintptr_t>(address);
  bool here = false;
  for (std::string line; std::getline(maps, line);) {
    std::istringstream text(line);
    std::uintptr_t begin = 0, end = 0;
    char dash = ' ';
    if (text >> std::hex >> begin >> dash >> end && dash == '-') here = begin <= place && place < end;
    if (here && line.starts_with("VmFlags:")) return line + " ";
  }
  return {};
}

/// Returns true if huge pages were requested for the middle of an array.
bool advised(const double* data, std::size_t size) {
  return flags_at(data + size / 2).find(" hg ") != std::string::npos;
}

class huge_pages : public testing::Test {
 protected:
  void SetUp() override {
    if (!kernels_on_host) GTEST_SKIP() << "arrays are not in host memory";
    std::ifstream mode("/sys/kernel/mm/transparent_hugepage/enabled");
    if (!mode || flags_at(this).empty()) GTEST_SKIP() << "the system has no huge pages, or does not report them";
  }
};

// This test must run first, and only one test checks large arrays, because freed memory keeps its advice and may be
// allocated again.
TEST_F(huge_pages, keep_large_arrays) {
  const Field field("field", large);
  const auto array = make_zeroed_device_array<double>("array", large);
  std::vector<double> vector;
  reserve_in_huge_pages(vector, large);
  vector.resize(large, 2.0);

  EXPECT_TRUE(advised(field.data(), large));
  EXPECT_TRUE(advised(array.data(), large));
  EXPECT_TRUE(advised(vector.data(), large));

  EXPECT_EQ(field.to_host(), std::vector<double>(large, 0.0));
  EXPECT_EQ(array(large / 2), 0.0);
  EXPECT_EQ(vector, std::vector<double>(large, 2.0));
}

/// Memory mapped for this object alone, never used before.
class Mapping {
 public:
  explicit Mapping(std::size_t size)
      : bytes_(size * sizeof(double)),
        data_(mmap(nullptr, bytes_, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0)) {
    if (data_ == MAP_FAILED) throw Error("no memory");
  }
  Mapping(const Mapping&) = delete;
  Mapping& operator=(const Mapping&) = delete;
  ~Mapping() { munmap(data_, bytes_); }
  double* data() const { return static_cast<double*>(data_); }

 private:
  std::size_t bytes_;
  void* data_;
};

TEST_F(huge_pages, keep_contents) {
  const Mapping used(3 * large);
  double* const values = used.data();
  std::fill_n(values, 3 * large, 1.0);
  advise_huge_pages(values + large, large * sizeof(double));
  EXPECT_TRUE(advised(values + large, large));
  EXPECT_FALSE(advised(values, large));
  EXPECT_EQ(std::count(values, values + 3 * large, 1.0), 3 * static_cast<std::ptrdiff_t>(large));
}

TEST_F(huge_pages, are_for_large_arrays) {
  const Mapping fresh(large);
  advise_huge_pages(fresh.data(), small * sizeof(double));
  EXPECT_FALSE(advised(fresh.data(), small));
}

}  // namespace
}  // namespace diffsim::huge_pages_test
