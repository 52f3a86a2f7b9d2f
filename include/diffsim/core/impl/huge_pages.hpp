// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>

namespace diffsim {

/// Asks the operating system to keep [data, data + bytes), an array of the library, in huge pages to reduce TLB misses.
/// The contents do not change. Best called before the array is first written to; small pages that are already in memory
/// are merged if the system supports this (Linux 6.1). Arrays below 4 MiB are left unchanged, so that the memory lost
/// by rounding to page boundaries is negligible.
///
/// Takes effect on Linux only, if the system's mode (`/sys/kernel/mm/transparent_hugepage/enabled`) is `madvise` or
/// `always`.
void advise_huge_pages(void* data, std::size_t bytes) noexcept;

/// Reserves memory for `size` values in an empty std::vector, in huge pages if the memory is large.
template <class Vector>
void reserve_in_huge_pages(Vector& vector, std::size_t size) {
  vector.reserve(size);
  advise_huge_pages(vector.data(), vector.capacity() * sizeof(typename Vector::value_type));
}

}  // namespace diffsim
