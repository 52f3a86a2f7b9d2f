#!/usr/bin/env bash
# Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
#
# usage: scripts/test.sh [--quick] [ctest options]
# Installs missing dependencies, builds, and runs the tests that the ctest options select, or all tests; for example,
# scripts/test.sh -R mesh. With --quick, builds and runs only the tests with the label `quick`, which take three minutes
# at most. Without options, the script also builds and runs two subsets of the tests: with the code path of a GPU (preset
# device-path), and with SIMD packs of two doubles (preset portable).
set -euo pipefail
source "$(dirname "${BASH_SOURCE[0]}")/common.sh"

# run_tests DIRECTORY [ctest options] runs the tests of a build directory.
run_tests() {
  local directory=$1
  shift
  ctest --test-dir "$directory" --output-on-failure --no-tests=error -j "$(num_cores)" "$@"
}

short_forms=()
[ $# -gt 0 ] || short_forms=(device-path portable)
target=all
selection=()
if [ "${1:-}" = --quick ]; then
  shift
  target=diffsim_quick_tests
  selection=(-L quick)
fi
"$root/scripts/install-deps.sh"
python=(-DDIFFSIM_BUILD_PYTHON=OFF)
if [ -e "$build/deps/python/complete" ]; then
  python=(-DDIFFSIM_BUILD_PYTHON=ON -DPython_EXECUTABLE="$build/deps/python/bin/python")
fi
configure_and_build "$target" "${python[@]}"
status=0
run_tests "$build" "${selection[@]}" "$@" || status=$?
for preset in "${short_forms[@]}"; do
  { build_preset "$preset" "$root/build-$preset" all && run_tests "$root/build-$preset"; } || status=$?
done
exit "$status"
