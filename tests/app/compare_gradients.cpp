// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
//
// Usage: compare_gradients TOLERANCE NAME,NAME… A.h5 B.h5 …
// Compares the loss and the gradients with respect to the named parameters in the files B with those in A. Differences
// are relative to the largest value of a dataset. A name that begins with / is the name of a dataset. Prints the
// differences. The exit code is 1 if a difference exceeds the tolerance.

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <sstream>
#include <string>
#include <vector>

#include "diffsim/core/error.hpp"
#include "diffsim/core/runtime.hpp"
#include "io/hdf5_file.hpp"

namespace diffsim {
namespace {

double difference(const Hdf5File& one, const Hdf5File& other, const std::string& dataset) {
  const std::vector<double> a = one.read_array<double>(dataset), b = other.read_array<double>(dataset);
  if (a.size() != b.size()) return HUGE_VAL;
  double size = 0.0, most = 0.0;
  for (std::size_t i = 0; i < a.size(); ++i) {
    if (!std::isfinite(a[i]) || !std::isfinite(b[i])) return HUGE_VAL;
    size = std::max(size, std::abs(a[i]));
    most = std::max(most, std::abs(a[i] - b[i]));
  }
  return size > 0.0 ? most / size : HUGE_VAL;  // a gradient of zeros would not test anything
}

int compare(double tolerance, const std::string& names, const std::vector<std::string>& files) {
  std::vector<std::string> datasets{"/loss"};
  std::istringstream list(names);
  for (std::string name; std::getline(list, name, ',');)
    datasets.push_back(name[0] == '/' ? name : "/gradient/" + name);
  const Hdf5File first = Hdf5File::open(MPI_COMM_WORLD, files.at(0));
  bool good = true;
  for (std::size_t k = 1; k < files.size(); ++k) {
    const Hdf5File other = Hdf5File::open(MPI_COMM_WORLD, files[k]);
    for (const std::string& dataset : datasets) {
      const double found = difference(first, other, dataset);
      std::printf("%s %s: %.2e\n", files[k].c_str(), dataset.c_str(), found);
      good = good && found <= tolerance;
    }
  }
  return good ? 0 : 1;
}

}  // namespace
}  // namespace diffsim

int main(int argc, char** argv) {
  const diffsim::Runtime runtime(argc, argv);
  try {
    if (argc < 5) throw diffsim::Error("usage: compare_gradients TOLERANCE NAME,NAME… A.h5 B.h5 …");
    return diffsim::compare(std::atof(argv[1]), argv[2], {argv + 3, argv + argc});
  } catch (const std::exception& error) {
    std::fprintf(stderr, "%s\n", error.what());
    return 2;
  }
}
