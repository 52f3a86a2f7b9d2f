// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <string>

#include "io/file_system.hpp"
#include "io/publish.hpp"

namespace diffsim {

// All functions of this file are serial, and must be called on one rank, inside collectively() (core/error.hpp), which
// passes errors to all ranks.

/// Throws InputError if `path` does not exist, is not a regular file, or cannot be opened for reading.
void require_readable_file(const std::string& path);
/// Creates an empty file `path`, or truncates an existing file `path` to 0 bytes. Throws InputError with the reason if
/// the file `path` cannot be written or if `final_path`, to which the caller will rename the file, is a directory; the
/// error message names `final_path`.
void require_writable_file(const std::string& path, const std::string& final_path);
/// Returns true if a file has the HDF5 signature at byte 0, 512, 1024, 2048 or a higher power of two.
bool has_hdf5_signature(const std::string& path);
/// Returns the number of bytes available to this user on the disk of the file `path`, or infinity if this number is
/// unknown. The file `path` need not exist.
double free_space(const std::string& path);
/// Reserves disk space, so that the file `path` can grow from `from` to `to` bytes. Throws Error if the disk is full or
/// if a quota or process limit is exceeded; the error message contains `name` as the name of the file. If the file
/// system can reserve space, reserve_space() extends the file `path` to the length `to`; otherwise reserve_space() only
/// checks the free space of the disk.
void reserve_space(FileSystem& files, const std::string& path, const std::string& name, std::uint64_t from,
                   std::uint64_t to);
/// Returns the file length in bytes (end-of-file address) that is stored in the superblock of an HDF5 file written by
/// this library. Returns 0 if the superblock cannot be read, or is older than version 2; this library writes
/// superblocks of version 2 or later.
std::uint64_t hdf5_length(const std::string& path);
/// Truncates a file to `length` bytes, to release reserved space that was not used. Throws Error if the file is shorter
/// than `length`, or if `length` is 0.
void cut_to_length(const std::string& path, std::uint64_t length);

/// Returns the word sum (checksum.hpp) of the bytes [begin, end) of a file. Throws Error if the bytes [begin, end) of
/// the file cannot be read.
std::uint64_t file_sum(const std::string& path, std::uint64_t begin, std::uint64_t end);

/// Synchronises the file `from` with the disk, renames the file to the path `to` and synchronises the directory that
/// contains the file. Once publish_file() has returned, a power failure cannot damage the file `to`. Throws Error of
/// kind `system` if a system call fails. If the directory cannot be read (EACCES), the directory is not synchronised,
/// and no Error is thrown.
void publish_file(FileSystem& files, const std::string& from, const std::string& to);
/// Renames the file `from` to the path `to`, without waiting until the file is on the disk. Throws Error of kind
/// `system` if the system call `rename` fails.
void rename_file(FileSystem& files, const std::string& from, const std::string& to);

}  // namespace diffsim
