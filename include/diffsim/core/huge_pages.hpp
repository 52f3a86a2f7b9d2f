// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>

namespace diffsim {

/// Asks the system to keep the library's own array [data, data + bytes) in huge pages, which spare most translations of
/// addresses. Contents stay. Best called before the array is first written to; small pages that have memory already
/// are joined where the system can (Linux 6.1). Arrays of less than 4 MiB are left alone, so that rounding to pages
/// costs nothing worth a mention.
///
/// Linux only, where the system's mode (`/sys/kernel/mm/transparent_hugepage/enabled`) is `madvise` or `always`; else
/// does nothing.
void advise_huge_pages(void* data, std::size_t bytes) noexcept;

/// Room for `size` values in an empty std::vector, in huge pages where it is large.
template <class Vector>
void reserve_in_huge_pages(Vector& vector, std::size_t size) {
  vector.reserve(size);
  advise_huge_pages(vector.data(), vector.capacity() * sizeof(typename Vector::value_type));
}

}  // namespace diffsim
