#!/usr/bin/env bash
# Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
#
# usage: scripts/test.sh [--quick] [ctest options]
# Installs what is missing, builds what is out of date, runs every test: scripts/test.sh -R mesh for some of them. With
# --quick: builds and runs the tests of the label `quick` only, which take three minutes at most.
set -euo pipefail
source "$(dirname "${BASH_SOURCE[0]}")/common.sh"

target=all
selection=()
if [ "${1:-}" = --quick ]; then
  shift
  target=diffsim_quick_tests
  selection=(-L quick)
fi
"$root/scripts/install-deps.sh"
configure_and_build "$target"
exec ctest --test-dir "$build" --output-on-failure --no-tests=error -j "$(nproc)" "${selection[@]}" "$@"
