#!/usr/bin/env bash
# Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
#
# usage: scripts/test.sh [ctest options]
# Installs what is missing, builds what is out of date, runs every test: scripts/test.sh -R mesh for some of them.
set -euo pipefail
source "$(dirname "${BASH_SOURCE[0]}")/common.sh"

"$root/scripts/install-deps.sh"
configure_and_build all
exec ctest --test-dir "$build" --output-on-failure --no-tests=error -j "$(nproc)" "$@"
