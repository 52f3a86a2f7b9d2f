# Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
#
# cmake -D SCRATCH=<folder> -P sizes_refuses.cmake: checks that sizes.cmake accepts sizes at the limits and refuses sizes
# above the limits.

cmake_minimum_required(VERSION 3.22)
include(${CMAKE_CURRENT_LIST_DIR}/verdict.cmake)

function(expect verdict name)
  set(root ${SCRATCH}/${name})
  expect_verdict(${verdict} sizes ${root} "${name}")
endfunction()

file(REMOVE_RECURSE ${SCRATCH})
string(REPEAT "  x += 1;\n" 57 body) # and the two lines of the signature, and the closing brace: 60 lines
string(REPEAT "    x += 1;\n" 57 body_of_member)
set(free_function "void f(int x,\n       int y) {\n")
set(member "struct S {\n  int y;\n\n  void f(int x,\n         int y) {\n")
file(WRITE ${SCRATCH}/function/src/x.cpp "namespace a {\n\n${free_function}${body}}\n\n}  // namespace a\n")
file(WRITE ${SCRATCH}/long_function/src/x.cpp "namespace a {\n\n${free_function}${body}\n}\n\n}  // namespace a\n")
file(WRITE ${SCRATCH}/member/src/x.hpp "${member}${body_of_member}  }\n};\n")
file(WRITE ${SCRATCH}/long_member/src/x.hpp "${member}${body_of_member}\n  }\n};\n")
file(WRITE ${SCRATCH}/long_class/src/x.hpp "class X {\n${body}${body}};\n")
file(WRITE ${SCRATCH}/raw_string/python/src/x.cpp "${free_function}  g(R\"(\ntext\n)\");\n${body}}\n")
expect(accepted function)
expect(refused long_function)
expect(accepted member)
expect(refused long_member)
expect(accepted long_class)
expect(refused raw_string)

foreach(name IN ITEMS headers many_headers many_author_headers)
  foreach(number RANGE 1 35)
    file(WRITE ${SCRATCH}/${name}/include/diffsim/core/x${number}.hpp "int x;\n")
  endforeach()
endforeach()
file(WRITE ${SCRATCH}/headers/include/diffsim/core/impl/y.hpp "int y;\n")
foreach(name IN ITEMS headers many_author_headers)
  foreach(number RANGE 1 5)
    file(WRITE ${SCRATCH}/${name}/include/diffsim/core/y${number}_impl.hpp "int y;\n")
  endforeach()
  file(WRITE ${SCRATCH}/${name}/include/diffsim/elastic/law.hpp "int y;\n")
endforeach()
file(WRITE ${SCRATCH}/many_headers/include/diffsim/core/y.hpp "int y;\n")
file(WRITE ${SCRATCH}/many_author_headers/include/diffsim/core/y_impl.hpp "int y;\n")
expect(accepted headers)
expect(refused many_headers)
expect(refused many_author_headers)

string(REPEAT "int x;\n" 120 lines)
file(WRITE ${SCRATCH}/median/include/diffsim/core/x.hpp "${lines}")
file(WRITE ${SCRATCH}/long_median/include/diffsim/core/x.hpp "${lines}\n")
expect(accepted median)
expect(refused long_median)
