# Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
#
# cmake -D SCRATCH=<folder> -P comments_refuses.cmake: comments.cmake accepts what it must, and refuses each violation.

cmake_minimum_required(VERSION 3.22)
include(${CMAKE_CURRENT_LIST_DIR}/verdict.cmake)

# Checks a folder with a header of src/mesh, to which TEXT belongs or, with another argument FILE, a second file with TEXT.
function(expect verdict name text)
  set(root ${SCRATCH}/${name})
  file(REMOVE_RECURSE ${root})
  file(WRITE ${root}/src/mesh/x.hpp "#pragma once\n")
  set(file src/mesh/x.hpp)
  if(ARGC GREATER 3)
    set(file ${ARGV3})
  endif()
  file(APPEND ${root}/${file} "\n${text}\n")
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
expect(refused phrase "// Both sums have the same bits.\nint x;")

expect(accepted identifier "const std::string told = text + \"[a]\" + told + \"; b\";")
expect(accepted word_after_quotes "f('\"', told, \"\\\"\", told, '\"');")
expect(refused message "throw Error(\"no \\\"mesh\\\", whatever \" + name);")
expect(refused message_of_two_lines "const char* text = \"a\\ntold\";")
expect(refused raw_string "f(R\"(Return the mesh, which\n  callers are told.)\");" python/src/x.cpp)
expect(accepted raw_string_before_names "f(R\"(Return \"x\".\n)\", told, \"y\");" python/src/x.cpp)

foreach(file IN ITEMS tests/mesh/x_test.cpp tests/mesh/x.hpp benchmarks/x_bench.cpp examples/x/main.cpp)
  expect(refused other_comment "int x = 1;  // Nobody reads x." ${file})
endforeach()
expect(accepted string_of_a_test "write(\"/told\");" tests/mesh/x_test.cpp)
expect(refused comment_of_a_scene "mesh: a.msh  # whatever the format" examples/x/x.yaml)
expect(refused comment_of_cmake "# Tests tell more." tests/mesh/CMakeLists.txt)
