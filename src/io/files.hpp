// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <string>

#include "diffsim/io/file_system.hpp"
#include "diffsim/io/publish.hpp"

namespace diffsim {

// Serial; for one rank, inside `collectively`.

/// Throws InputError where `path` is not a regular file that can be read: missing, a directory, no permission.
void require_readable_file(const std::string& path);
/// Makes `path` an empty file; throws InputError with the reason where that cannot be done, or `final_path` is no file.
void require_writable_file(const std::string& path, const std::string& final_path);
/// Whether a file begins as HDF5 files do (at byte 0, 512, 1024, 2048, …).
bool has_hdf5_signature(const std::string& path);
/// Bytes free to this user on the disk of a file that is to be written; infinite where that is not known.
double free_space(const std::string& path);
/// Makes sure that `path` can grow from `from` to `to` bytes; throws Error where the disk has no room (or the quota, or
/// the process, does not allow it), naming the file `name`. The file becomes as long as `to` where space can be
/// reserved.
void reserve_space(FileSystem& files, const std::string& path, const std::string& name, std::uint64_t from,
                   std::uint64_t to);
/// How long an HDF5 file that this library wrote says it is, bytes; 0 where it does not say.
std::uint64_t hdf5_length(const std::string& path);
/// Cuts off what was reserved in vain; throws Error where the file is shorter than `length`.
void cut_to_length(const std::string& path, std::uint64_t length);

/// The sum of `word_sum` over bytes [begin, end) of a file, which must be there; throws Error where they cannot be
/// read.
std::uint64_t file_sum(const std::string& path, std::uint64_t begin, std::uint64_t end);

/// Synchronises, renames, synchronises the directory: after it returns, `to` is whole even if the power fails.
void publish_file(FileSystem& files, const std::string& from, const std::string& to);
/// Renames without waiting for the disk.
void rename_file(FileSystem& files, const std::string& from, const std::string& to);

}  // namespace diffsim
