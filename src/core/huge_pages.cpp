// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
#include "diffsim/core/huge_pages.hpp"

#if defined(__linux__)

#include <sys/mman.h>
#include <unistd.h>

#include <cstdint>
#include <cstdlib>
#include <string_view>

namespace diffsim {
namespace {

constexpr std::size_t least = std::size_t{4} << 20;

bool wanted() {
  const char* const said = std::getenv("DIFFSIM_HUGE_PAGES");
  return !said || std::string_view(said) != "0";
}

}  // namespace

void advise_huge_pages(void* data, std::size_t bytes) noexcept {
  if (!data || bytes < least || !wanted()) return;
  const auto page = static_cast<std::uintptr_t>(sysconf(_SC_PAGESIZE));
  const auto begin = (reinterpret_cast<std::uintptr_t>(data) + page - 1) / page * page;
  const auto end = (reinterpret_cast<std::uintptr_t>(data) + bytes) / page * page;
  if (begin >= end) return;
  // Memory that was used before is in small pages, and would stay so. A system without huge ones says so; small ones
  // do.
  if (madvise(reinterpret_cast<void*>(begin), end - begin, MADV_HUGEPAGE) == 0)
    static_cast<void>(madvise(reinterpret_cast<void*>(begin), end - begin, MADV_DONTNEED));
}

}  // namespace diffsim

#else

namespace diffsim {
void advise_huge_pages(void*, std::size_t) noexcept {}
}  // namespace diffsim

#endif
