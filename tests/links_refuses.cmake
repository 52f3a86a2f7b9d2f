# Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
#
# cmake -D SCRATCH=<folder> -P links_refuses.cmake: checks that links.cmake accepts links to existing files and headings
# and names of existing tests, and refuses other links and names.

cmake_minimum_required(VERSION 3.22)
include(${CMAKE_CURRENT_LIST_DIR}/verdict.cmake)

function(expect verdict name link)
  set(root ${SCRATCH}/${name})
  file(REMOVE_RECURSE ${root})
  file(WRITE ${root}/README.md "# A project\n\nSee [the page](${link}).\n")
  file(WRITE ${root}/docs/page.md "# Page\n\n## Steps, and `names` of files\n")
  expect_verdict(${verdict} links ${root} "${link}")
endfunction()

expect(accepted file docs/page.md)
expect(accepted folder docs)
expect(accepted heading "docs/page.md#steps-and-names-of-files")
expect(accepted own_heading "#a-project")
expect(refused no_file docs/pages.md)
expect(refused no_heading "docs/page.md#steps")
expect(refused no_own_heading "#page")
expect(refused no_link "https://example.org") # nothing to check

function(expect_test verdict name test)
  set(root ${SCRATCH}/test_${name})
  file(REMOVE_RECURSE ${root})
  file(WRITE ${root}/README.md "# A project\n\nSee [the table](docs/interface.md).\n")
  file(WRITE ${root}/docs/interface.md "# Table\n\n| member | `argument[3]` | test |\n|---|---|---|\n"
                                       "| `f(x)` | `x.y` | `bar.bends` |\n| `g(x)` | `x.z` | ${test} |\n")
  file(WRITE ${root}/tests/solid/time/bar_test.cpp "TEST(bar, bends) {}\nTEST_P(Beams,\n       vibrate_and_buckle) {}\n")
  expect_verdict(${verdict} links ${root} "${test}")
endfunction()

expect_test(accepted source "`solid.bar`")
expect_test(accepted case "`Beams.vibrate_and_buckle`")
expect_test(accepted beginning "`Beams.vibrate_…`")
expect_test(accepted several "`solid.bar`, `bar.bends`")
expect_test(refused no_source "`solid.bars`")
expect_test(refused no_case "`Beams.vibrate`")
expect_test(refused no_beginning "`Beams.buckle_…`")
expect_test(refused one_of_several "`solid.bar`, `bar.breaks`")
expect_test(refused not_a_test "`bar`")
