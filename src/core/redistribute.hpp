// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <mpi.h>

#include <cstddef>
#include <cstring>
#include <span>
#include <type_traits>
#include <vector>

#include "diffsim/core/error.hpp"

namespace diffsim {

/// Throws Error (system) if `to`, the list of the destination ranks of items, contains the same rank more than 2³¹ - 1
/// times. An MPI message contains at most 2³¹ - 1 items. Not collective.
void require_messages(const std::vector<int>& to);

/// Sends item i to rank `to[i]`. Item i consists of `width` bytes that begin at items[i · width]. Returns the items
/// that were sent to this rank, ordered by sender; items of the same sender are in the sender's order. Sends one
/// message to each other rank that receives items from this rank, and uses one barrier. Collective.
std::vector<std::byte> redistribute_bytes(MPI_Comm comm, std::span<const std::byte> items, std::size_t width,
                                          const std::vector<int>& to);
/// Variant of `redistribute_bytes` for ranks that know their senders and receivers. `receivers`: ranks to which this
/// rank may send items, in ascending order and without this rank; every destination rank in `to` must be in
/// `receivers`. `senders`: ranks whose argument `receivers` contains this rank. Returns the received items in the order
/// of the ranks in `senders`. Sends one message to each receiver, and uses no barrier. Collective.
std::vector<std::byte> redistribute_bytes_among(MPI_Comm comm, const std::vector<int>& receivers,
                                                const std::vector<int>& senders, std::span<const std::byte> items,
                                                std::size_t width, const std::vector<int>& to);

namespace detail {

/// Returns the items that are stored in `bytes`.
template <class Item>
std::vector<Item> items_of(const std::vector<std::byte>& bytes) {
  static_assert(std::is_trivially_copyable_v<Item>);
  std::vector<Item> items(bytes.size() / sizeof(Item));
  if (!items.empty()) std::memcpy(items.data(), bytes.data(), bytes.size());
  return items;
}

}  // namespace detail

/// Sends each item of `items` to the rank `destination(item)`. Returns the items that were sent to this rank, ordered
/// by sender; items of the same sender are in the sender's order. Collective: uses the barrier of `redistribute_bytes`
/// and an Allreduce of one integer. If the function `destination` throws on one rank, every rank throws the same Error.
template <class Item, class Destination>
std::vector<Item> redistribute(MPI_Comm comm, const std::vector<Item>& items, const Destination& destination) {
  std::vector<int> to;
  collectively(comm, [&] {
    to.reserve(items.size());
    for (const Item& item : items) to.push_back(destination(item));
    require_messages(to);
  });
  return detail::items_of<Item>(redistribute_bytes(comm, std::as_bytes(std::span(items)), sizeof(Item), to));
}

/// Sends each item of `items` to the rank `destination(item)`, which must be in the list `receivers`, and returns the
/// received items; see `redistribute_bytes_among`. At most 2³¹ - 1 items may be sent to one rank. Collective. If one
/// rank throws an Error, other ranks may wait forever for messages from that rank.
template <class Item, class Destination>
std::vector<Item> redistribute_among(MPI_Comm comm, const std::vector<int>& receivers, const std::vector<int>& senders,
                                     const std::vector<Item>& items, const Destination& destination) {
  std::vector<int> to;
  to.reserve(items.size());
  for (const Item& item : items) to.push_back(destination(item));
  return detail::items_of<Item>(
      redistribute_bytes_among(comm, receivers, senders, std::as_bytes(std::span(items)), sizeof(Item), to));
}

}  // namespace diffsim
