// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <mpi.h>

#include <cstdint>
#include <string>
#include <variant>

#include "app/yaml_value.hpp"

namespace diffsim::app {

/// Content of a scalar of a scene document: `true` or `false`, a whole number, another number, or a text.
using ScalarContent = std::variant<bool, std::int64_t, double, std::string>;

/// Returns the content of a scalar. A quoted scalar is a text. Without quotes, the words `true` and `false` are
/// booleans, and the texts that scenes accept as numbers, .inf and .nan included, are numbers. All other words are
/// texts.
ScalarContent content_of(const Value& scalar);
/// Returns a scalar with the given content, without a location. `content_of` is the inverse function, except that a
/// floating-point number whose value is a whole number may become an integer.
Value scalar_with(const ScalarContent& content);

/// Returns true if the scalar value of a key of this name is, in any section of a scene, the path of an input file.
bool is_path_key(const std::string& key);
/// Returns the path of `path` relative to `folder`. Relative arguments are relative to the current directory. An empty
/// `folder` means the current directory.
std::string path_from(const std::string& path, const std::string& folder);
/// Changes relative paths of input files (`is_path_key`), which are relative to the folder `from`, so that the paths
/// are relative to the folder `to`. Absolute paths do not change.
void move_paths(Value& document, const std::string& from, const std::string& to);

/// Returns the YAML text of a document. `parse_yaml` reads the text as a Value with the same keys, items and texts.
std::string to_yaml(const Value& document);
/// Writes a scene document to the file `path` on rank 0. Relative paths of input files in `document` are relative to
/// `folder`, and in the written file relative to the folder of `path`. Throws InputError if the document is not a valid
/// scene, or if the file cannot be written. Collective.
void save_document(MPI_Comm comm, Value document, const std::string& folder, const std::string& path);

}  // namespace diffsim::app
