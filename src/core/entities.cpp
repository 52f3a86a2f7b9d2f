// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
#include "diffsim/core/field.hpp"

#include <utility>

#include "core/exchange.hpp"
#include "core/file_order.hpp"
#include "diffsim/core/error.hpp"
#include "diffsim/core/runtime.hpp"

namespace diffsim {

Entities::Entities(std::string name, MPI_Comm comm, std::size_t owned, std::shared_ptr<const FileOrder> order,
                   std::shared_ptr<const Exchange> exchange, std::int64_t generation)
    : name_(std::move(name)),
      comm_(comm),
      owned_(owned),
      local_(exchange ? static_cast<std::size_t>(exchange->num_local()) : owned),
      generation_(generation),
      order_(std::move(order)),
      exchange_(std::move(exchange)) {
  if (exchange_ && static_cast<std::size_t>(exchange_->num_owned()) != owned_)
    throw Error("the exchange of the " + name_ + " has " + std::to_string(exchange_->num_owned()) +
                " owned entities, but there are " + std::to_string(owned_));
  if (order_ && order_->file_index().size() < local_)
    throw Error("the file order of the " + name_ + " has " + std::to_string(order_->file_index().size()) +
                " positions for " + std::to_string(local_) + " local entities");
}

std::shared_ptr<const Entities> Entities::one_for_all(MPI_Comm comm) {
  auto one = std::make_shared<Entities>("one for all", comm, is_first_rank(comm) ? 1 : 0);
  one->local_ = 1;
  one->one_for_all_ = true;
  return one;
}

std::shared_ptr<const Entities> Entities::without_copies(const std::shared_ptr<const Entities>& all) {
  if (!all->exchange_) return all;
  return std::make_shared<Entities>(all->name_, all->comm_, all->owned_, all->order_, nullptr, all->generation_);
}

std::shared_ptr<const Entities> Entities::of_process(std::size_t count) {
  return std::make_shared<Entities>("entries", MPI_COMM_SELF, count);
}

}  // namespace diffsim
