// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
#include "diffsim/core/impl/device.hpp"

#if defined(DIFFSIM_EMULATE_DEVICE)

#include <signal.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <map>
#include <mutex>
#include <vector>

#include "diffsim/core/error.hpp"

namespace diffsim {
namespace {

constexpr std::size_t reserved = std::size_t{1} << 36;  // bytes of reserved address space; pages are allocated on use
constexpr std::size_t line = 64;                        // alignment of arrays, bytes

[[noreturn]] void fail(const char* message) {
  std::fprintf(stderr, "diffsim: emulated device: %s\n", message);
  std::fflush(stderr);
  std::abort();
}

/// All emulated device memory of a process, stored as one contiguous range of pages. One call of mprotect changes the
/// access rights of all used pages.
class Memory {
 public:
  Memory()
      : page_(static_cast<std::size_t>(sysconf(_SC_PAGESIZE))),
        begin_(static_cast<char*>(
            mmap(nullptr, reserved, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0))) {
    if (begin_ == MAP_FAILED) throw Error("cannot reserve address space for the emulated device");
    struct sigaction action {};
    action.sa_sigaction = [](int, siginfo_t* info, void*) { memory().on_fault(info->si_addr); };
    action.sa_flags = SA_SIGINFO | SA_NODEFER;
    sigaction(SIGSEGV, &action, &previous_);
    Kokkos::Tools::Experimental::set_begin_deep_copy_callback([](Kokkos::Tools::SpaceHandle, const char*, const void*,
                                                                 Kokkos::Tools::SpaceHandle, const char*, const void*,
                                                                 std::uint64_t) { memory().open(); });
    Kokkos::Tools::Experimental::set_end_deep_copy_callback([] { memory().close(); });
  }

  static Memory& memory() {
    static Memory& only = *new Memory;  // never destroyed, because arrays may outlive static objects
    return only;
  }

  void* allocate(const std::string& label, std::size_t bytes) {
    const std::lock_guard lock(mutex_);
    const std::size_t size = (std::max<std::size_t>(bytes, 1) + line - 1) / line * line;
    std::vector<char*>& spare = spare_[size];
    char* data = begin_ + used_;
    if (spare.empty()) {
      if (used_ + size > reserved) throw Error("the emulated device is out of memory; cannot allocate '" + label + "'");
      used_ += size;
    } else {
      data = spare.back();
      spare.pop_back();
    }
    blocks_[data] = {label, size, 1};
    set_rights(PROT_READ | PROT_WRITE);
    std::memset(data, 0xff, size);  // doubles become NaN, integers become -1
    if (opened_ == 0) set_rights(PROT_NONE);
    return data;
  }

  void retain(void* data) {
    const std::lock_guard lock(mutex_);
    ++blocks_.at(static_cast<char*>(data)).shares;
  }
  int num_shares(void* data) {
    const std::lock_guard lock(mutex_);
    return blocks_.at(static_cast<char*>(data)).shares;
  }

  void release(void* data) {
    const std::lock_guard lock(mutex_);
    const auto block = blocks_.find(static_cast<char*>(data));
    if (--block->second.shares > 0) return;
    spare_[block->second.size].push_back(block->first);
    blocks_.erase(block);
  }

  void open() {
    const std::lock_guard lock(mutex_);
    if (opened_++ == 0) set_rights(PROT_READ | PROT_WRITE);
  }
  void close() {
    const std::lock_guard lock(mutex_);
    if (--opened_ == 0) set_rights(PROT_NONE);
  }

  bool holds(const void* address) const {
    const auto* const place = static_cast<const char*>(address);
    return place >= begin_ && place < begin_ + reserved;
  }

  /// Returns true if the process has a memory mapping at an address.
  bool is_mapped(std::uintptr_t address) const {
    unsigned char resident = 0;
    return mincore(reinterpret_cast<void*>(address / page_ * page_), page_, &resident) == 0;
  }

 private:
  struct Block {
    std::string label;
    std::size_t size = 0;
    int shares = 0;
  };

  void set_rights(int rights) {
    if (used_ > 0 && mprotect(begin_, used_, rights) != 0) fail("mprotect failed");
  }

  void on_fault(const void* address) {
    if (!holds(address)) {
      sigaction(SIGSEGV, &previous_, nullptr);  // the previous handler receives the signal when it is raised again
      return;
    }
    const auto* const place = static_cast<const char*>(address);
    auto block = blocks_.upper_bound(const_cast<char*>(place));
    const bool found = block != blocks_.begin() && place < (--block)->first + block->second.size;
    char text[256];
    if (found)
      std::snprintf(text, sizeof(text),
                    "host code accessed device array '%s' at byte %td outside a kernel: a copy to the host is missing",
                    block->second.label.c_str(), place - block->first);
    else
      std::snprintf(text, sizeof(text), "access to device memory that is not allocated");
    fail(text);
  }

  std::size_t page_;
  char* begin_;
  std::size_t used_ = 0;
  int opened_ = 0;
  std::mutex mutex_;
  std::map<char*, Block> blocks_;
  std::map<std::size_t, std::vector<char*>> spare_;  // free blocks, by size in bytes
  struct sigaction previous_ {};
};

}  // namespace

void* allocate_on_device(const std::string& label, std::size_t bytes) {
  return Memory::memory().allocate(label, bytes);
}
void free_on_device(void* data) noexcept {
  if (data) Memory::memory().release(data);
}

namespace emulation {

void retain(void* data) noexcept { Memory::memory().retain(data); }
int num_shares(void* data) noexcept { return Memory::memory().num_shares(data); }

void require_on_device(const void* address) {
  if (!Memory::memory().holds(address)) fail("a host address is used as a device address");
}

void require_no_host_address(const std::string& label, const void* captured, std::size_t bytes) {
  // Captured values that are not addresses are rarely mistaken for addresses: a double would have to be positive and
  // below 1e-309, and a pair of ints would have to match the address of a mapped page by chance.
  constexpr std::uintptr_t lowest = 1 << 16, highest = std::uintptr_t{1} << 47;
  for (std::size_t at = 0; at < bytes; at += sizeof(std::uintptr_t)) {
    std::uintptr_t word = 0;
    std::memcpy(&word, static_cast<const char*>(captured) + at, sizeof(word));
    if (word < lowest || word >= highest || Memory::memory().holds(reinterpret_cast<void*>(word)) ||
        !Memory::memory().is_mapped(word))
      continue;
    fail(("kernel '" + label + "' captures a host address at byte " + std::to_string(at) + " of " +
          std::to_string(bytes))
             .c_str());
  }
}

Access::Access() { Memory::memory().open(); }
Access::~Access() { Memory::memory().close(); }

}  // namespace emulation
}  // namespace diffsim

#endif
