// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
#include <cstdlib>
#include <exception>
#include <iostream>
#include <string>
#include <vector>

#include "app/command_line.hpp"
#include "app/machine.hpp"
#include "app/run.hpp"
#include "diffsim/core/runtime.hpp"

int main(int argc, char** argv) {
  const diffsim::app::CommandLine line = diffsim::app::parse_command_line({argv + 1, argv + argc});
  // PETSc and Kokkos receive only the arguments after `--` and the arguments that begin with --kokkos-. Kokkos'
  // warnings about the binding of threads are disabled; KOKKOS_DISABLE_WARNINGS=false enables these warnings.
  std::vector<std::string> words{argv[0]};
  if (!std::getenv("KOKKOS_DISABLE_WARNINGS")) words.push_back("--kokkos-disable-warnings");
  words.insert(words.end(), line.kokkos.begin(), line.kokkos.end());
  words.insert(words.end(), line.petsc.begin(), line.petsc.end());
  std::vector<char*> pointers;
  for (std::string& word : words) pointers.push_back(word.data());
  pointers.push_back(nullptr);
  int count = static_cast<int>(words.size());
  char** arguments = pointers.data();
  try {
    const diffsim::Runtime runtime(count, arguments);
    if (!line.command.empty())
      for (const std::string& warning : diffsim::app::machine_warnings(runtime.comm()))
        if (runtime.rank() == 0) std::cerr << "diffsim: warning: " << warning << '\n';
    return diffsim::app::run(runtime.comm(), line, std::cout, std::cerr);
  } catch (const std::exception& error) {
    std::cerr << "diffsim: error: " << error.what() << '\n';
    return 1;
  }
}
