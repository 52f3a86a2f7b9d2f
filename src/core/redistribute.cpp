// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
#include "diffsim/core/redistribute.hpp"

#include <petscsys.h>

#include <algorithm>
#include <cstdint>
#include <limits>
#include <numeric>

#include "diffsim/core/contiguous_type.hpp"
#include "diffsim/core/ranks.hpp"

namespace diffsim {
namespace {

/// Items of one origin or destination.
struct Part {
  PetscMPIInt rank;
  std::int64_t begin;
  std::int64_t count;
};

/// PETSc's duplicate of a communicator, whose messages meet no one else's, with a tag of its own.
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

/// Numbers of items that other ranks have for this one, by rank. Collective; ranks without items for each other
/// exchange no message.
std::vector<Part> parts_from(MPI_Comm comm, const std::vector<Part>& parts) {
  std::vector<PetscMPIInt> to;
  std::vector<std::int64_t> counts;
  for (const Part& part : parts) {
    to.push_back(part.rank);
    counts.push_back(part.count);
  }
  PetscMPIInt num_from = 0;
  PetscMPIInt* from = nullptr;
  void* from_counts = nullptr;
  DIFFSIM_PETSC(PetscCommBuildTwoSided(comm, 1, MPI_INT64_T, static_cast<PetscMPIInt>(to.size()), to.data(),
                                       counts.data(), &num_from, &from, &from_counts));
  std::vector<Part> result;
  for (PetscMPIInt i = 0; i < num_from; ++i) result.push_back({from[i], 0, static_cast<std::int64_t*>(from_counts)[i]});
  DIFFSIM_PETSC(PetscFree(from));
  DIFFSIM_PETSC(PetscFree(from_counts));
  std::sort(result.begin(), result.end(), [](const Part& a, const Part& b) { return a.rank < b.rank; });
  std::int64_t begin = 0;
  for (Part& part : result) {
    part.begin = begin;
    begin += part.count;
  }
  return result;
}

}  // namespace

std::vector<std::byte> redistribute_bytes(MPI_Comm comm, std::span<const std::byte> items, std::size_t width,
                                          const std::vector<int>& to) {
  if (num_ranks(comm) == 1) return {items.begin(), items.end()};
  std::vector<std::size_t> order(to.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::stable_sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) { return to[a] < to[b]; });
  std::vector<std::byte> sent(items.size());
  std::vector<Part> send;
  for (std::size_t i = 0; i < order.size(); ++i) {
    std::copy_n(items.begin() + static_cast<std::ptrdiff_t>(order[i] * width), width,
                sent.begin() + static_cast<std::ptrdiff_t>(i * width));
    if (send.empty() || send.back().rank != to[order[i]])
      send.push_back({to[order[i]], static_cast<std::int64_t>(i), 0});
    ++send.back().count;
  }
  collectively(comm, [&] {
    for (const Part& part : send)
      if (part.count > std::numeric_limits<int>::max())
        throw Error("more than 2^31 items to exchange between two ranks; use more ranks", ErrorKind::system);
  });
  const PrivateComm channel(comm);
  const std::vector<Part> receive = parts_from(channel, send);
  std::int64_t total = 0;
  for (const Part& part : receive) total += part.count;
  std::vector<std::byte> received(static_cast<std::size_t>(total) * width);
  const ContiguousType unit(static_cast<int>(width), MPI_BYTE);
  std::vector<MPI_Request> requests;
  for (const Part& part : receive)
    DIFFSIM_MPI(MPI_Irecv(received.data() + static_cast<std::size_t>(part.begin) * width, static_cast<int>(part.count),
                          unit, part.rank, channel.tag(), channel, &requests.emplace_back()));
  for (const Part& part : send)
    DIFFSIM_MPI(MPI_Isend(sent.data() + static_cast<std::size_t>(part.begin) * width, static_cast<int>(part.count),
                          unit, part.rank, channel.tag(), channel, &requests.emplace_back()));
  DIFFSIM_MPI(MPI_Waitall(static_cast<int>(requests.size()), requests.data(), MPI_STATUSES_IGNORE));
  return received;
}

}  // namespace diffsim
