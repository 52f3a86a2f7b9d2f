// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <hdf5.h>

namespace diffsim {

/// Scope guard that restores HDF5's error-printing setting in the destructor. Libraries that use HDF5 can change the
/// setting.
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
