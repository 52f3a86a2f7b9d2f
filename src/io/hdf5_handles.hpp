// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <hdf5.h>

#include <string>
#include <utility>

namespace diffsim {

/// Owner of an HDF5 identifier. The destructor of Hdf5Handle closes the HDF5 identifier with the function `Close`, and
/// ignores errors.
template <herr_t (*Close)(hid_t)>
class Hdf5Handle {
 public:
  Hdf5Handle() = default;
  explicit Hdf5Handle(hid_t id) : id_(id) {}
  Hdf5Handle(Hdf5Handle&& other) noexcept : id_(std::exchange(other.id_, H5I_INVALID_HID)) {}
  Hdf5Handle& operator=(Hdf5Handle&& other) noexcept {
    std::swap(id_, other.id_);
    return *this;
  }
  Hdf5Handle(const Hdf5Handle&) = delete;
  Hdf5Handle& operator=(const Hdf5Handle&) = delete;
  ~Hdf5Handle() { (void)close(); }

  operator hid_t() const { return id_; }  // NOLINT: implicit, so that the object can be passed to HDF5
  /// Closes the HDF5 identifier. Returns a negative value if HDF5 could not close the identifier. After `close`, the
  /// Hdf5Handle does not own the identifier, even if HDF5 could not close the identifier.
  herr_t close() noexcept {
    const hid_t id = std::exchange(id_, H5I_INVALID_HID);
    return id < 0 ? 0 : Close(id);
  }

 private:
  hid_t id_ = H5I_INVALID_HID;
};

using Hdf5FileId = Hdf5Handle<H5Fclose>;
using Hdf5Object = Hdf5Handle<H5Oclose>;
using Hdf5Dataset = Hdf5Handle<H5Dclose>;
using Hdf5Space = Hdf5Handle<H5Sclose>;
using Hdf5Type = Hdf5Handle<H5Tclose>;
using Hdf5Attribute = Hdf5Handle<H5Aclose>;
using Hdf5Properties = Hdf5Handle<H5Pclose>;

/// Object that suppresses HDF5's error output on this thread as long as the object exists, because diffsim throws
/// HDF5's errors as Error. The destructor of Hdf5Quiet restores HDF5's previous error handler.
class Hdf5Quiet {
 public:
  Hdf5Quiet() {
    H5Eget_auto2(H5E_DEFAULT, &function_, &data_);
    H5Eset_auto2(H5E_DEFAULT, nullptr, nullptr);
  }
  ~Hdf5Quiet() { H5Eset_auto2(H5E_DEFAULT, function_, data_); }
  Hdf5Quiet(const Hdf5Quiet&) = delete;
  Hdf5Quiet& operator=(const Hdf5Quiet&) = delete;

 private:
  H5E_auto2_t function_ = nullptr;
  void* data_ = nullptr;
};

/// Reason why the last HDF5 call failed: the innermost message of HDF5's error stack.
std::string hdf5_reason();

/// Throws Error of kind `system`, with the reason that hdf5_reason() returns, if the return code `code` of an HDF5 call
/// is negative.
void check_hdf5(long long code, const char* call, const char* file, int line);

}  // namespace diffsim

#define DIFFSIM_HDF5(call)                                    \
  do {                                                        \
    ::diffsim::check_hdf5((call), #call, __FILE__, __LINE__); \
  } while (0)
