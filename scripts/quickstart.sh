#!/usr/bin/env bash
# Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
#
# usage: scripts/quickstart.sh
# Installs the dependencies on Debian or Ubuntu, builds the runner, and solves the inverse problem of examples/quickstart.
# The results are in build/quickstart.
set -euo pipefail
source "$(dirname "${BASH_SOURCE[0]}")/common.sh"

scene=$root/examples/quickstart/quickstart.yaml
out=$build/quickstart

# step N WHAT prints the name of the step that begins, and the seconds since the start of the script.
step() { printf '\n==== quickstart: %d/4 %s (%d s so far)\n' "$1" "$2" "$SECONDS"; }

if [ ! -f "$scene" ]; then
  echo "quickstart: error: ${scene#"$root"/} is missing" >&2
  exit 1
fi

step 1 "installing packages and Kokkos"
"$root/scripts/install-deps.sh" --no-tests

step 2 "building the runner, build/bin/diffsim"
# Tests and benchmarks are off, because their packages may be missing; scripts/test.sh turns them on.
configure_and_build diffsim_app -D DIFFSIM_BUILD_TESTS=OFF -D DIFFSIM_BUILD_BENCHMARKS=OFF

# The output folder in the scene is relative to the current directory.
mkdir -p "$out"
cd "$out"
# One rank with one thread is used, because 5 thousand cells are too few for several ranks. Two ranks are 9 % faster on
# two idle cores, but 2.7 times slower if another program uses one of the cores.
export OMP_NUM_THREADS=1
step 3 "solving: mpirun -n 1 build/bin/diffsim invert ${scene#"$root"/}"
started=$SECONDS
mpirun -n 1 "$build/bin/diffsim" invert "$scene"
printf 'quickstart: solved in %d s\n' $((SECONDS - started))

step 4 "results and pictures"
# Simulates the motion with the initial guess, which the pictures show.
mpirun -n 1 "$build/bin/diffsim" simulate "$scene" --output start >start.log || cat start.log
report=$(find "$out" -path "$out/start" -prune -o -name report.json -newermt "-$((SECONDS - started + 5)) seconds" -print -quit)
if [ -z "$report" ]; then
  echo "quickstart: error: the run left no report.json under ${out#"$root"/}" >&2
  exit 1
fi
results=$(dirname "$report")

python=$(find_python)
if [ -n "$python" ]; then
  "$python" "$root/scripts/show_result.py" "$results" --truth "$root/examples/quickstart/truth.json" || true
  for script in "$root"/examples/quickstart/plot*.py; do
    if [ -f "$script" ]; then
      "$python" "$script" "$results" || echo "quickstart: no pictures; see the line above"
    fi
  done
else
  echo "quickstart: no python3, so no pictures; report.json says:"
  cat "$report"
fi

echo
echo "Files in ${results#"$root"/}:"
for file in "$results"/*; do
  case $file in
    *.png) what="picture" ;;
    *.xdmf) what="open it in ParaView" ;;
    */parameters.h5) what="what was recovered" ;;
    */history.csv) what="loss at each iteration" ;;
    */report.json) what="loss, iterations, times" ;;
    *) what="" ;;
  esac
  printf '  %-28s %s\n' "$(basename "$file")" "$what"
done
echo
echo "quickstart: done in $SECONDS s"
