# Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
#
# cmake -D SCRATCH=<folder> -P links_refuses.cmake: checks that links.cmake accepts links to existing files and headings,
# and refuses other links.

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
