// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <hdf5.h>

namespace diffsim {

/// Scope guard whose destructor restores HDF5's error-printing setting, because libraries that use HDF5 (MED, Exodus)
/// may change this setting.
class KeepsErrorPrinting {
 public:
  KeepsErrorPrinting() { H5Eget_auto2(H5E_DEFAULT, &function_, &data_); }
  ~KeepsErrorPrinting() { H5Eset_auto2(H5E_DEFAULT, function_, data_); }
  KeepsErrorPrinting(const KeepsErrorPrinting&) = delete;
  KeepsErrorPrinting& operator=(const KeepsErrorPrinting&) = delete;

 private:
  H5E_auto2_t function_ = nullptr;
  void* data_ = nullptr;
};

}  // namespace diffsim
