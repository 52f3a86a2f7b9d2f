#!/usr/bin/env bash
# Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
#
# Scenes of contact against exact arithmetic at length, in explicit and implicit steps: longer, larger, more heaps.
# tests/campaigns/contact_scenes.sh [filter], such as '*heaps*'. DIFFSIM_DATA names a folder that holds meshes/ made
# elsewhere. SECONDS_A_TEST, 3600: what each of the tests may take.
set -euo pipefail
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)
program=$root/build/tests/bin/simulation_tests
cmake --build "$root/build" --target simulation_tests
export DIFFSIM_SCENES=long
failed=0
for source in contact_scenes_test.cpp implicit_contact_scenes_test.cpp; do
  # The list has lines "Suite." and "  test".
  names=$("$program" --source="$source" --gtest_list_tests --gtest_filter="${1:-*}" |
    awk '/^[^ ].*\.$/ { suite = $1 } /^  / { print suite $1 }')
  for name in $names; do
    timeout "${SECONDS_A_TEST:-3600}" "$program" --source="$source" --gtest_brief=1 --gtest_filter="$name" && continue
    echo "$source: $name failed, or took too long"
    failed=1
  done
done
exit $failed
