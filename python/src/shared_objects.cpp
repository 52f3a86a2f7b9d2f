// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
#include "shared_objects.hpp"

#include <algorithm>
#include <iterator>
#include <mutex>
#include <vector>

#include "diffsim/core/error.hpp"

namespace diffsim::python {
namespace {

struct UnusedObject {
  SharedObjectNumber number;
  std::shared_ptr<const void> object;
};

// Never destroyed: handles may outlive static objects.
std::vector<UnusedObject>& unused_objects() {
  static auto* all = new std::vector<UnusedObject>;
  return *all;
}

std::mutex& mutex_of_unused() {
  static auto* mutex = new std::mutex;
  return *mutex;
}

/// Returns a number of this process that identifies a communicator. A communicator that reuses the handle of a freed
/// communicator has another number, because the number is an attribute of the communicator.
std::int64_t number_of(MPI_Comm comm) {
  static int key = MPI_KEYVAL_INVALID;
  static std::int64_t last = 0;
  if (key == MPI_KEYVAL_INVALID)
    DIFFSIM_MPI(MPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, MPI_COMM_NULL_DELETE_FN, &key, nullptr));
  void* value = nullptr;
  int found = 0;
  DIFFSIM_MPI(MPI_Comm_get_attr(comm, key, &value, &found));
  if (!found) {
    value = reinterpret_cast<void*>(static_cast<std::intptr_t>(++last));
    DIFFSIM_MPI(MPI_Comm_set_attr(comm, key, value));
  }
  return static_cast<std::int64_t>(reinterpret_cast<std::intptr_t>(value));
}

/// Removes the object with a number from the list, and returns the object; nullptr if the list has no such object.
std::shared_ptr<const void> take(std::int64_t number) {
  const std::lock_guard lock(mutex_of_unused());
  std::vector<UnusedObject>& all = unused_objects();
  const auto found =
      std::find_if(all.begin(), all.end(), [&](const UnusedObject& one) { return one.number.object == number; });
  if (found == all.end()) return nullptr;
  std::shared_ptr<const void> object = std::move(found->object);
  all.erase(found);
  return object;
}

/// Returns the numbers of the unused objects of a communicator, ascending.
std::vector<std::int64_t> numbers_of_unused(std::int64_t comm_number) {
  const std::lock_guard lock(mutex_of_unused());
  std::vector<std::int64_t> numbers;
  for (const UnusedObject& one : unused_objects())
    if (one.number.comm == comm_number) numbers.push_back(one.number.object);
  std::sort(numbers.begin(), numbers.end());
  return numbers;
}

/// Returns the numbers that the lists of all ranks have in common, descending. Collective.
std::vector<std::int64_t> common(MPI_Comm comm, const std::vector<std::int64_t>& numbers) {
  const int own = static_cast<int>(numbers.size());
  std::vector<int> counts(static_cast<std::size_t>(num_ranks(comm))), starts(counts.size());
  DIFFSIM_MPI(MPI_Allgather(&own, 1, MPI_INT, counts.data(), 1, MPI_INT, comm));
  if (*std::min_element(counts.begin(), counts.end()) == 0) return {};
  for (std::size_t r = 1; r < counts.size(); ++r) starts[r] = starts[r - 1] + counts[r - 1];
  std::vector<std::int64_t> all(static_cast<std::size_t>(starts.back() + counts.back()));
  DIFFSIM_MPI(
      MPI_Allgatherv(numbers.data(), own, MPI_INT64_T, all.data(), counts.data(), starts.data(), MPI_INT64_T, comm));
  std::vector<std::int64_t> left = numbers;
  for (std::size_t r = 0; r < counts.size(); ++r) {
    const auto begin = all.begin() + starts[r];
    std::vector<std::int64_t> both;
    std::set_intersection(left.begin(), left.end(), begin, begin + counts[r], std::back_inserter(both));
    left = std::move(both);
  }
  std::reverse(left.begin(), left.end());
  return left;
}

}  // namespace

SharedObjectNumber next_object_number(MPI_Comm comm) {
  static std::int64_t last = 0;
  ++last;
  DIFFSIM_MPI(MPI_Allreduce(MPI_IN_PLACE, &last, 1, MPI_INT64_T, MPI_MAX, comm));
  return {last, number_of(comm)};
}

void keep_unused(SharedObjectNumber number, std::shared_ptr<const void> object) {
  const std::lock_guard lock(mutex_of_unused());
  unused_objects().push_back({number, std::move(object)});
}

void destroy_unused(MPI_Comm comm) {
  if (num_ranks(comm) == 1) return;
  // The destruction of an object may release older objects that only this object refers to.
  for (std::vector<std::int64_t> numbers;;) {
    numbers = common(comm, numbers_of_unused(number_of(comm)));
    if (numbers.empty()) return;
    for (const std::int64_t number : numbers) take(number).reset();
  }
}

void destroy_all_unused() {
  for (;;) {
    std::int64_t number = -1;
    {
      const std::lock_guard lock(mutex_of_unused());
      for (const UnusedObject& one : unused_objects()) number = std::max(number, one.number.object);
    }
    if (number < 0) return;
    take(number).reset();
  }
}

}  // namespace diffsim::python
