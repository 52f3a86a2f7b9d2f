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

/// Throws Error (system) where a rank is to get more items than a message holds, 2³¹ - 1. Not collective.
void require_messages(const std::vector<int>& to);

/// Sends item i, the `width` bytes from items[i · width], to rank `to[i]`. Returns the items that this rank gets, by
/// rank of origin and in the order there. A rank sends one message to each other rank that it has items for, and takes
/// part in one barrier. Collective.
std::vector<std::byte> redistribute_bytes(MPI_Comm comm, std::span<const std::byte> items, std::size_t width,
                                          const std::vector<int>& to);
/// The same between ranks that know of each other: `receivers`, in the order of their numbers and without this rank,
/// are those that have it among their `senders`, and `to` names no others. By one message to each receiver, and without
/// a barrier. Collective.
std::vector<std::byte> redistribute_bytes_among(MPI_Comm comm, const std::vector<int>& receivers,
                                                const std::vector<int>& senders, std::span<const std::byte> items,
                                                std::size_t width, const std::vector<int>& to);

namespace detail {

/// Items whose bytes these are.
template <class Item>
std::vector<Item> items_of(const std::vector<std::byte>& bytes) {
  static_assert(std::is_trivially_copyable_v<Item>);
  std::vector<Item> items(bytes.size() / sizeof(Item));
  if (!items.empty()) std::memcpy(items.data(), bytes.data(), bytes.size());
  return items;
}

}  // namespace detail

/// Sends each of `items` to the rank that `destination(item)` names. Returns the items that this rank gets, by rank of
/// origin and in the order there. Collective, by an Allreduce of one number beside the barrier; throws the same Error
/// on every rank where `destination` throws on one.
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

/// Sends each of `items` to the one of `receivers` that `destination(item)` names, as `redistribute_bytes_among` does;
/// no more than 2³¹ - 1 to one. Collective; an Error on one rank leaves the others waiting.
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
