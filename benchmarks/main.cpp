// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
//
// main() of all benchmark programs. All ranks run the same benchmarks, so with several ranks the numbers of iterations
// must be fixed. Only rank 0 prints results.

#include <benchmark/benchmark.h>

#include "diffsim/core/runtime.hpp"

namespace {

class NullReporter : public benchmark::BenchmarkReporter {
 public:
  bool ReportContext(const Context&) override { return true; }
  void ReportRuns(const std::vector<Run>&) override {}
};

}  // namespace

int main(int argc, char** argv) {
  benchmark::Initialize(&argc, argv);
  const diffsim::Runtime runtime(argc, argv);
  if (runtime.rank() == 0) {
    benchmark::RunSpecifiedBenchmarks();
  } else {
    NullReporter silent;
    benchmark::RunSpecifiedBenchmarks(&silent);
  }
  benchmark::Shutdown();
  return 0;
}
