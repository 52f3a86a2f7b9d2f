// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
#include "core/redistribute.hpp"

#include <petscsys.h>

#include <algorithm>
#include <cstdint>
#include <limits>
#include <numeric>
#include <unordered_map>

#include "core/contiguous_type.hpp"
#include "diffsim/core/runtime.hpp"

namespace diffsim {
namespace {

/// Range of consecutive items with the same destination rank.
struct Part {
  int rank;
  std::int64_t begin;
  std::int64_t count;
};

/// Items sorted by destination rank.
struct Sorted {
  std::vector<std::byte> items;
  std::vector<Part> parts;
};

Sorted sort_by_rank(std::span<const std::byte> items, std::size_t width, const std::vector<int>& to) {
  std::vector<std::size_t> order(to.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::stable_sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) { return to[a] < to[b]; });
  Sorted sorted{std::vector<std::byte>(items.size()), {}};
  std::vector<Part>& parts = sorted.parts;
  for (std::size_t i = 0; i < order.size(); ++i) {
    std::copy_n(items.begin() + static_cast<std::ptrdiff_t>(order[i] * width), width,
                sorted.items.begin() + static_cast<std::ptrdiff_t>(i * width));
    if (parts.empty() || parts.back().rank != to[order[i]])
      parts.push_back({to[order[i]], static_cast<std::int64_t>(i), 0});
    ++parts.back().count;
  }
  return sorted;
}

/// Bytes of the items received from one rank.
struct Parcel {
  int rank;
  std::vector<std::byte> bytes;
};

/// Duplicate of a communicator that PETSc provides, with a tag that no other code uses. Messages sent with this
/// communicator and this tag do not match messages of other code.
class PrivateComm {
 public:
  explicit PrivateComm(MPI_Comm comm) { DIFFSIM_PETSC(PetscCommDuplicate(comm, &comm_, &tag_)); }
  ~PrivateComm() { (void)PetscCommDestroy(&comm_); }
  PrivateComm(const PrivateComm&) = delete;
  PrivateComm& operator=(const PrivateComm&) = delete;
  operator MPI_Comm() const { return comm_; }  // NOLINT
  PetscMPIInt tag() const { return tag_; }

 private:
  MPI_Comm comm_ = MPI_COMM_NULL;
  PetscMPIInt tag_ = 0;
};

/// Receives a message that a probe has matched, and appends its contents to `bytes`.
void receive(MPI_Message message, const MPI_Status& status, MPI_Datatype unit, std::size_t width,
             std::vector<std::byte>& bytes) {
  int count = 0;
  DIFFSIM_MPI(MPI_Get_count(&status, unit, &count));
  const std::size_t before = bytes.size();
  bytes.resize(before + static_cast<std::size_t>(count) * width);
  DIFFSIM_MPI(MPI_Mrecv(bytes.data() + before, count, unit, &message, MPI_STATUS_IGNORE));
}

/// Sends the parts of `sorted` to the destination ranks, and returns the parts that other ranks send to this rank. The
/// senders need not be known in advance. A rank enters a barrier when all messages that the rank has sent have been
/// received. When all ranks have entered the barrier, all messages have been received (Hoefler, Siebert, Lumsdaine
/// 2010, Scalable Communication Protocols for Dynamic Sparse Data Exchange: NBX). Collective.
std::vector<Parcel> exchange(const PrivateComm& channel, const Sorted& sorted, std::size_t width) {
  const ContiguousType unit(static_cast<int>(width), MPI_BYTE);
  const int mine = rank_of(channel);
  std::vector<Parcel> received;
  std::vector<MPI_Request> sends;
  for (const Part& part : sorted.parts) {
    const std::byte* const first = sorted.items.data() + static_cast<std::size_t>(part.begin) * width;
    if (part.rank == mine)
      received.push_back({mine, {first, first + static_cast<std::size_t>(part.count) * width}});
    else
      DIFFSIM_MPI(MPI_Issend(first, static_cast<int>(part.count), unit, part.rank, channel.tag(), channel,
                             &sends.emplace_back()));
  }
  MPI_Request barrier = MPI_REQUEST_NULL;
  for (int in_barrier = 0, done = 0; !done;) {
    int there = 0;
    MPI_Message message = MPI_MESSAGE_NULL;
    MPI_Status status;
    DIFFSIM_MPI(MPI_Improbe(MPI_ANY_SOURCE, channel.tag(), channel, &there, &message, &status));
    if (there) receive(message, status, unit, width, received.emplace_back(Parcel{status.MPI_SOURCE, {}}).bytes);
    if (in_barrier) {
      DIFFSIM_MPI(MPI_Test(&barrier, &done, MPI_STATUS_IGNORE));
    } else {
      DIFFSIM_MPI(MPI_Testall(static_cast<int>(sends.size()), sends.data(), &in_barrier, MPI_STATUSES_IGNORE));
      if (in_barrier) DIFFSIM_MPI(MPI_Ibarrier(channel, &barrier));
    }
  }
  std::sort(received.begin(), received.end(), [](const Parcel& a, const Parcel& b) { return a.rank < b.rank; });
  return received;
}

}  // namespace

void require_messages(const std::vector<int>& to) {
  constexpr std::size_t most = std::numeric_limits<int>::max();
  if (to.size() <= most) return;
  std::unordered_map<int, std::size_t> counts;
  for (const int rank : to)
    if (++counts[rank] > most)
      throw Error("more than 2^31 - 1 items to exchange between two ranks; use more ranks", ErrorKind::system);
}

std::vector<std::byte> redistribute_bytes(MPI_Comm comm, std::span<const std::byte> items, std::size_t width,
                                          const std::vector<int>& to) {
  if (num_ranks(comm) == 1) return {items.begin(), items.end()};
  Sorted sorted = sort_by_rank(items, width, to);
  std::vector<Parcel> parcels = exchange(PrivateComm(comm), sorted, width);
  std::vector<std::byte>().swap(sorted.items);
  std::size_t total = 0;
  for (const Parcel& parcel : parcels) total += parcel.bytes.size();
  std::vector<std::byte> received;
  received.reserve(total);
  for (Parcel& parcel : parcels) {
    received.insert(received.end(), parcel.bytes.begin(), parcel.bytes.end());
    std::vector<std::byte>().swap(parcel.bytes);
  }
  return received;
}

std::vector<std::byte> redistribute_bytes_among(MPI_Comm comm, const std::vector<int>& receivers,
                                                const std::vector<int>& senders, std::span<const std::byte> items,
                                                std::size_t width, const std::vector<int>& to) {
  const Sorted sorted = sort_by_rank(items, width, to);
  for (const auto& part : sorted.parts)  // before any message is sent
    if (!std::binary_search(receivers.begin(), receivers.end(), part.rank))
      throw Error("items for rank " + std::to_string(part.rank) + ", which is not among the receivers");
  const PrivateComm channel(comm);
  const ContiguousType unit(static_cast<int>(width), MPI_BYTE);
  std::vector<MPI_Request> sends;
  auto part = sorted.parts.begin();
  for (const int receiver : receivers) {
    const bool any = part != sorted.parts.end() && part->rank == receiver;
    const std::byte* const first = any ? sorted.items.data() + static_cast<std::size_t>(part->begin) * width : nullptr;
    DIFFSIM_MPI(MPI_Isend(first, any ? static_cast<int>(part->count) : 0, unit, receiver, channel.tag(), channel,
                          &sends.emplace_back()));
    if (any) ++part;
  }
  std::vector<std::byte> received;
  for (const int sender : senders) {
    MPI_Message message = MPI_MESSAGE_NULL;
    MPI_Status status;
    DIFFSIM_MPI(MPI_Mprobe(sender, channel.tag(), channel, &message, &status));
    receive(message, status, unit, width, received);
  }
  DIFFSIM_MPI(MPI_Waitall(static_cast<int>(sends.size()), sends.data(), MPI_STATUSES_IGNORE));
  return received;
}

}  // namespace diffsim
