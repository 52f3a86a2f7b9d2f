// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
//
// The smallest program that uses diffsim: starts it and says what it runs on.

#include <diffsim/core/config.hpp>
#include <diffsim/core/runtime.hpp>
#include <iostream>

int main(int argc, char** argv) {
  const diffsim::Runtime runtime(argc, argv);
  if (runtime.rank() == 0) {
    std::cout << "diffsim " << DIFFSIM_VERSION << ": " << runtime.size() << " ranks, " << diffsim::back_end() << '\n';
  }
  return 0;
}
