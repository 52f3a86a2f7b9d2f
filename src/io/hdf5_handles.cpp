// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
#include "io/hdf5_handles.hpp"

#include "diffsim/core/error.hpp"

namespace diffsim {

std::string hdf5_reason() {
  std::string reason;
  const auto keep_first = [](unsigned, const H5E_error2_t* entry, void* data) -> herr_t {
    auto& text = *static_cast<std::string*>(data);
    if (text.empty() && entry->desc) text = entry->desc;
    return 0;
  };
  H5Ewalk2(H5E_DEFAULT, H5E_WALK_UPWARD, keep_first, &reason);
  return reason.empty() ? "unknown reason" : reason;
}

void check_hdf5(long long code, const char* call, const char* file, int line) {
  if (code >= 0) return;
  const std::string path(file);
  throw Error("HDF5: " + hdf5_reason() + " in " + call + " (" + path.substr(path.find_last_of('/') + 1) + ":" +
                  std::to_string(line) + ")",
              ErrorKind::system);
}

}  // namespace diffsim
