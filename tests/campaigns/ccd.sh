#!/usr/bin/env bash
# Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
#
# Compares collision detection with rational arithmetic for many queries: tests/campaigns/ccd.sh [queries of each kind of pair]
set -euo pipefail
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)
cmake --build "$root/build" --target contact_tests
DIFFSIM_CCD_QUERIES=${1:-600000} "$root/build/tests/bin/contact_tests" --source=ccd_test.cpp --gtest_filter='ccd.*false_negatives'
