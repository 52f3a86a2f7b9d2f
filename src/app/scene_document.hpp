// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <mpi.h>

#include <cstdint>
#include <string>
#include <variant>

#include "app/yaml_value.hpp"

namespace diffsim::app {

/// Content of a YAML scalar in a scene document: a boolean, an integer, a floating-point number, or a text.
using ScalarContent = std::variant<bool, std::int64_t, double, std::string>;

/// Returns the content of a YAML scalar. The content of a quoted scalar is a text. The content of an unquoted scalar is
/// a boolean for `true` and `false`, a number for every notation of a number that scenes allow (including .inf and
/// .nan), and otherwise a text.
ScalarContent content_of(const Value& scalar);
/// Returns a YAML scalar with the given content and without a location in a file. `content_of` is the inverse of
/// `scalar_with`, except that a floating-point number whose value is a whole number may become an integer.
Value scalar_with(const ScalarContent& content);

/// Returns true if scalar values of the YAML key `key` are paths of input files, regardless of the section of the
/// scene.
bool is_path_key(const std::string& key);
/// Converts `path` to a path relative to `folder`. A relative `path` and a relative `folder` are relative to the
/// current directory. An empty `folder` means the current directory.
std::string path_from(const std::string& path, const std::string& folder);
/// Replaces the relative paths of input files (`is_path_key`) in `document`: paths relative to the folder `from` become
/// paths relative to the folder `to`. Absolute paths in `document` do not change.
void move_paths(Value& document, const std::string& from, const std::string& to);

/// Returns the YAML text of a scene document: a text that `parse_yaml` converts to a Value with the same keys, items
/// and texts as `document`.
std::string to_yaml(const Value& document);
/// Writes the scene document `document` to the file `path` on rank 0. Relative paths of input files in `document` are
/// relative to the folder `folder`; relative paths in the written file are relative to the folder of the written file.
/// Throws InputError if `document` is not a valid scene, or if the file `path` cannot be written. Collective.
void save_document(MPI_Comm comm, Value document, const std::string& folder, const std::string& path);

}  // namespace diffsim::app
