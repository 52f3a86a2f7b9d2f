// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
#include "dynamics/linear/fast_paths.hpp"

#include "dynamics/linear/block_product.hpp"
#include "dynamics/linear/single_smoother.hpp"

namespace diffsim::dynamics {
namespace {

class HostFastPaths final : public FastPaths {
 public:
  void use_products(Mat matrix) override { use_block_products(matrix); }
  void use_products(PC pc) override { use_block_products(pc); }
  bool use_smoothers(PC pc, double least_bound, double norm) override {
    if (!smooth_in_single_precision(pc, least_bound)) return false;
    set_smoothed_norm(pc, norm);
    return true;
  }
  void update_finest_level(PC pc, Mat matrix, bool with_diagonal) override {
    dynamics::update_finest_level(pc, matrix, with_diagonal);
  }
  Mat single_precision_operator(PC pc) override { return finest_operator(pc); }
};

class NoFastPaths final : public FastPaths {
 public:
  void use_products(Mat) override {}
  void use_products(PC) override {}
  bool use_smoothers(PC, double, double) override { return false; }
  void update_finest_level(PC, Mat, bool) override {}
  Mat single_precision_operator(PC) override { return nullptr; }
};

}  // namespace

std::unique_ptr<FastPaths> make_host_fast_paths() { return std::make_unique<HostFastPaths>(); }
std::unique_ptr<FastPaths> make_no_fast_paths() { return std::make_unique<NoFastPaths>(); }

}  // namespace diffsim::dynamics
