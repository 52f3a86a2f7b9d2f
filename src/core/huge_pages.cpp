// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
#include "diffsim/core/huge_pages.hpp"

#if defined(__linux__)

#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <iterator>
#include <map>
#include <mutex>
#include <new>
#include <string_view>

namespace diffsim {
namespace {

constexpr std::size_t least = std::size_t{4} << 20;

bool wanted() {
  const char* const said = std::getenv("DIFFSIM_HUGE_PAGES");
  return !said || std::string_view(said) != "0";
}

using Address = std::uintptr_t;

/// Whether the first, the middle and the last page have memory, as those of a recycled array do.
bool is_in_use(Address begin, Address end, Address page) {
  for (const Address at : {begin, begin + (end - begin) / page / 2 * page, end - page}) {
    unsigned char there = 0;
    if (mincore(reinterpret_cast<void*>(at), page, &there) != 0 || (there & 1) == 0) return false;
  }
  return true;
}

/// What was asked for before.
class AdvisedRanges {
 public:
  bool cover(Address begin, Address end) {
    const std::lock_guard lock(mutex_);
    const auto next = ranges_.upper_bound(begin);
    return next != ranges_.begin() && std::prev(next)->second >= end;
  }
  void add(Address begin, Address end) {
    const std::lock_guard lock(mutex_);
    auto at = ranges_.upper_bound(begin);
    if (at != ranges_.begin() && std::prev(at)->second >= begin) --at;
    for (; at != ranges_.end() && at->first <= end; at = ranges_.erase(at)) {
      begin = std::min(begin, at->first);
      end = std::max(end, at->second);
    }
    ranges_[begin] = end;
  }

 private:
  std::mutex mutex_;
  std::map<Address, Address> ranges_;  // first to last, apart from each other
};

AdvisedRanges& advised_ranges() {
  static auto* const ranges = new AdvisedRanges;  // arrays are made and freed until the very end
  return *ranges;
}

}  // namespace

void advise_huge_pages(void* data, std::size_t bytes) noexcept try {
  if (!data || bytes < least || !wanted()) return;
  const auto page = static_cast<Address>(sysconf(_SC_PAGESIZE));
  const Address begin = (reinterpret_cast<Address>(data) + page - 1) / page * page;
  const Address end = (reinterpret_cast<Address>(data) + bytes) / page * page;
  if (begin >= end || (is_in_use(begin, end, page) && advised_ranges().cover(begin, end))) return;
  // Memory that was used before is in small pages, and would stay so. A system without huge ones says so; small ones
  // do.
  if (madvise(reinterpret_cast<void*>(begin), end - begin, MADV_HUGEPAGE) != 0) return;
  static_cast<void>(madvise(reinterpret_cast<void*>(begin), end - begin, MADV_DONTNEED));
  advised_ranges().add(begin, end);
} catch (const std::bad_alloc&) {
  // Pages are small then.
}

}  // namespace diffsim

#else

namespace diffsim {
void advise_huge_pages(void*, std::size_t) noexcept {}
}  // namespace diffsim

#endif
