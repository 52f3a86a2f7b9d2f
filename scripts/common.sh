# shellcheck shell=bash
# Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
#
# Sourced by the scripts beside it.

root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
build=$root/build

# Open MPI refuses root unless told twice; containers and fresh machines have nobody else.
if [ "$(id -u)" -eq 0 ]; then
  export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1
fi

# Ranks and threads are not pinned to cores, unless asked: a pinned rank shares its core with whatever else runs there.
export OMP_PROC_BIND=${OMP_PROC_BIND:-false}
export OMPI_MCA_hwloc_base_binding_policy=${OMPI_MCA_hwloc_base_binding_policy:-none}
export PRTE_MCA_hwloc_default_binding_policy=${PRTE_MCA_hwloc_default_binding_policy:-none}

# Ranks that wait leave their core to those that work.
export OMPI_MCA_mpi_yield_when_idle=${OMPI_MCA_mpi_yield_when_idle:-1}

# Kokkos' advice on binding threads is not for who runs scripts.
export KOKKOS_DISABLE_WARNINGS=${KOKKOS_DISABLE_WARNINGS:-true}

# A compiler job on Kokkos code may take 1.5 GB.
build_jobs() {
  local cores gigabytes
  cores=$(nproc)
  gigabytes=$(awk '/MemAvailable/ { print int($2 / 1572864) }' /proc/meminfo 2>/dev/null || echo "$cores")
  echo $((cores < gigabytes ? cores : (gigabytes > 1 ? gigabytes : 1)))
}

# The first Python that has what the pictures need, else any, else nothing. A user's own python3 may hide the
# distribution's, which is the one that install-deps.sh fits out.
find_python() {
  local python any=''
  for python in python3 /usr/bin/python3; do
    command -v "$python" >/dev/null || continue
    any=${any:-$python}
    if "$python" -c 'import h5py, matplotlib, numpy' 2>/dev/null; then
      echo "$python"
      return
    fi
  done
  echo "$any"
}

# build_preset PRESET DIRECTORY TARGET [CMake options]. Compiler warnings are errors where the environment says
# DIFFSIM_WARNINGS_AS_ERRORS=ON.
build_preset() {
  local preset=$1 directory=$2 target=$3
  shift 3
  if [ ! -f "$directory/CMakeCache.txt" ] && command -v ninja >/dev/null; then
    export CMAKE_GENERATOR=${CMAKE_GENERATOR:-Ninja}
  fi
  (cd "$root" && cmake --preset "$preset" -DDIFFSIM_WARNINGS_AS_ERRORS="${DIFFSIM_WARNINGS_AS_ERRORS:-OFF}" "$@") ||
    return 1
  # Objects done of all, seconds so far.
  NINJA_STATUS=${NINJA_STATUS:-'[%f/%t, %es] '} cmake --build "$directory" -j "$(build_jobs)" --target "$target"
}

# configure_and_build TARGET [CMake options]: the release preset, in build/.
configure_and_build() { build_preset release "$build" "$@"; }
