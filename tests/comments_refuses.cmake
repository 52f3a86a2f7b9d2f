# Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
#
# cmake -D SCRATCH=<folder> -P comments_refuses.cmake: comments.cmake accepts what it must, and refuses each violation.

cmake_minimum_required(VERSION 3.22)
include(${CMAKE_CURRENT_LIST_DIR}/verdict.cmake)

function(expect verdict name text)
  set(root ${SCRATCH}/${name})
  file(REMOVE_RECURSE ${root})
  file(WRITE ${root}/src/mesh/x.hpp "#pragma once\n\n${text}\n")
  expect_verdict(${verdict} comments ${root} "${text}")
endfunction()

expect(accepted noun "/// Sparsity pattern of the Jacobian, [rows; columns].\nint x;")
expect(accepted verb "int y;\n  /// Returns the energy, J.\n  int x;")
expect(accepted second_line "/// Returns the energy of all cells\n/// as a sum over ranks.\nint x;")
expect(accepted not_a_doc_comment "// For tests.\nint x;")
expect(accepted name "/// Returns what `tell()` returned.\nint tell();")
expect(accepted part_of_a_word "/// Constellation of vertices.\nint x;")

expect(refused pronoun "/// It is the energy.\nint x;")
expect(refused likewise "int y;\n\n/// Likewise for faces.\nint x;")
expect(refused whether "int y;\n  /// Whether there is one.\n  int x;")
expect(refused after_a_comment "// Faces.\n/// What they weigh.\nint x;")
expect(refused private_word "/// Returns the time, which callers are told.\nint x;")
expect(refused private_word_at_the_end "int x;  // a verb")
