#!/usr/bin/env bash
# Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
#
# Scenes of contact against exact arithmetic at length: longer, larger, more heaps. tests/campaigns/contact_scenes.sh
# [filter], such as '*heaps*'. DIFFSIM_DATA names a folder that holds meshes/ made elsewhere.
set -euo pipefail
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)
cmake --build "$root/build" --target simulation_contact_scenes_test
DIFFSIM_SCENES=long "$root/build/tests/bin/simulation_contact_scenes_test" --gtest_filter="${1:-*}"
