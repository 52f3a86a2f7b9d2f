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

/// Sends item i, the `width` bytes from items[i · width], to rank `to[i]`. Returns the items that this rank gets, by
/// rank of origin and in the order there. Ranks exchange messages with those only that have items for each other.
/// Collective.
std::vector<std::byte> redistribute_bytes(MPI_Comm comm, std::span<const std::byte> items, std::size_t width,
                                          const std::vector<int>& to);

/// Sends each of `items` to the rank that `destination(item)` names. Returns the items that this rank gets, by rank of
/// origin and in the order there. Collective; throws the same Error on every rank where `destination` throws on one.
template <class Item, class Destination>
std::vector<Item> redistribute(MPI_Comm comm, const std::vector<Item>& items, const Destination& destination) {
  static_assert(std::is_trivially_copyable_v<Item>);
  std::vector<int> to;
  collectively(comm, [&] {
    to.reserve(items.size());
    for (const Item& item : items) to.push_back(destination(item));
  });
  const std::vector<std::byte> bytes = redistribute_bytes(comm, std::as_bytes(std::span(items)), sizeof(Item), to);
  std::vector<Item> received(bytes.size() / sizeof(Item));
  if (!received.empty()) std::memcpy(received.data(), bytes.data(), bytes.size());
  return received;
}

}  // namespace diffsim
