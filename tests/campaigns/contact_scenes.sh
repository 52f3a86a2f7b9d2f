#!/usr/bin/env bash
# Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
#
# Runs the tests of scenes with contact, whose results are checked in exact arithmetic, with explicit and implicit steps. The
# runs are longer and the scenes larger and more numerous than in ctest.
# Usage: tests/campaigns/contact_scenes.sh [filter of GoogleTest, such as '*heaps*']
# The environment variable DIFFSIM_DATA names a folder that contains meshes/ with meshes produced by other programs.
# SECONDS_A_TEST is the time limit of each test, s (default 3600).
set -euo pipefail
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)
program=$root/build/tests/bin/simulation_tests
cmake --build "$root/build" --target simulation_tests
export DIFFSIM_SCENES=long
failed=0
for source in contact_scenes_test.cpp implicit_contact_scenes_test.cpp; do
  # The output of --gtest_list_tests has lines "Suite." and "  test".
  names=$("$program" --source="$source" --gtest_list_tests --gtest_filter="${1:-*}" |
    awk '/^[^ ].*\.$/ { suite = $1 } /^  / { print suite $1 }')
  for name in $names; do
    timeout "${SECONDS_A_TEST:-3600}" "$program" --source="$source" --gtest_brief=1 --gtest_filter="$name" && continue
    echo "$source: $name failed, or took too long"
    failed=1
  done
done
exit $failed
