// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
#include "diffsim/core/impl/huge_pages.hpp"

#if defined(__linux__)

#include <sys/mman.h>
#include <unistd.h>

#include <cstdint>

#ifndef MADV_COLLAPSE
#define MADV_COLLAPSE 25  // since Linux 6.1; the C library's headers may be older and lack the constant
#endif

namespace diffsim {

void advise_huge_pages(void* data, std::size_t bytes) noexcept {
  constexpr std::size_t least = std::size_t{4} << 20;
  if (!data || bytes < least) return;
  const auto page = static_cast<std::uintptr_t>(sysconf(_SC_PAGESIZE));
  const std::uintptr_t begin = (reinterpret_cast<std::uintptr_t>(data) + page - 1) / page * page;
  const std::uintptr_t end = (reinterpret_cast<std::uintptr_t>(data) + bytes) / page * page;
  void* const first = reinterpret_cast<void*>(begin);
  // If the operating system refuses the request for huge pages, the array keeps its small pages.
  if (madvise(first, end - begin, MADV_HUGEPAGE) == 0) static_cast<void>(madvise(first, end - begin, MADV_COLLAPSE));
}

}  // namespace diffsim

#else

namespace diffsim {
void advise_huge_pages(void*, std::size_t) noexcept {}
}  // namespace diffsim

#endif
