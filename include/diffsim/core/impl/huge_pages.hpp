// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>

namespace diffsim {

/// Requests huge pages from the operating system for the array [data, data + bytes), to reduce TLB misses. The contents
/// of the array do not change. The request is most effective before the array is first written; small pages that are
/// already in memory are merged to huge pages by Linux 6.1 and later. `advise_huge_pages` does nothing for arrays below
/// 4 MiB, so that the memory lost by rounding to page boundaries is negligible.
///
/// `advise_huge_pages` has an effect on Linux only. Pages that are not yet in memory become huge pages only if the mode
/// of transparent huge pages (`/sys/kernel/mm/transparent_hugepage/enabled`) is `madvise` or `always`.
void advise_huge_pages(void* data, std::size_t bytes) noexcept;

/// Reserves memory for `size` values in an empty std::vector, and requests huge pages if the memory is at least 4 MiB.
template <class Vector>
void reserve_in_huge_pages(Vector& vector, std::size_t size) {
  vector.reserve(size);
  advise_huge_pages(vector.data(), vector.capacity() * sizeof(typename Vector::value_type));
}

}  // namespace diffsim
