// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <string>

namespace diffsim {

// Serial; for one rank, inside `collectively`.

/// Throws InputError where `path` is not a regular file that can be read: missing, a directory, no permission.
void require_readable_file(const std::string& path);
/// Makes `path` an empty file; throws InputError with the reason where that cannot be done, or `final_path` is no file.
void require_writable_file(const std::string& path, const std::string& final_path);
/// Whether a file begins as HDF5 files do (at byte 0, 512, 1024, 2048, …).
bool has_hdf5_signature(const std::string& path);
/// Whether a file that this library wrote is as long as its first bytes say.
bool has_whole_hdf5(const std::string& path);

/// fsync, rename, fsync of the directory: after it returns, `to` is whole even if the power fails.
void publish_file(const std::string& from, const std::string& to);
/// Writes a text file under a temporary name and publishes it.
void publish_text(const std::string& path, const std::string& text);

}  // namespace diffsim
