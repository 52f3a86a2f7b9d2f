# shellcheck shell=bash
# Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
#
# Sourced by the other scripts of this folder.

root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
build=$root/build

# Open MPI refuses to run as root unless both variables are set. Containers often have no other user.
if [ "$(id -u)" -eq 0 ]; then
  export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1
fi

# By default, ranks and threads are not bound to cores: a bound rank cannot move away from a core that another program
# uses.
export OMP_PROC_BIND=${OMP_PROC_BIND:-false}
export OMPI_MCA_hwloc_base_binding_policy=${OMPI_MCA_hwloc_base_binding_policy:-none}
export PRTE_MCA_hwloc_default_binding_policy=${PRTE_MCA_hwloc_default_binding_policy:-none}

# Waiting ranks and waiting threads yield their cores to other processes.
export OMPI_MCA_mpi_yield_when_idle=${OMPI_MCA_mpi_yield_when_idle:-1}
export OMP_WAIT_POLICY=${OMP_WAIT_POLICY:-passive}

# Suppresses the warnings of Kokkos about threads that are not bound to cores.
export KOKKOS_DISABLE_WARNINGS=${KOKKOS_DISABLE_WARNINGS:-true}

# Prints the number of processor cores. `nproc` alone would print OMP_NUM_THREADS, if this variable is set.
num_cores() { env -u OMP_NUM_THREADS -u OMP_THREAD_LIMIT nproc; }

# Prints the number of parallel compiler jobs. A job that compiles Kokkos code may need 1.5 GB of memory.
build_jobs() {
  local cores gigabytes
  cores=$(num_cores)
  gigabytes=$(awk '/MemAvailable/ { print int($2 / 1572864) }' /proc/meminfo 2>/dev/null || echo "$cores")
  echo $((cores < gigabytes ? cores : (gigabytes > 1 ? gigabytes : 1)))
}

# Prints the path of the first Python that has h5py, matplotlib and numpy, else the path of any Python, else nothing.
# install-deps.sh installs these packages for /usr/bin/python3, which another python3 of the user may hide.
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

# build_preset PRESET DIRECTORY TARGET [CMake options] configures and builds a preset. Compiler warnings are errors if
# the environment has DIFFSIM_WARNINGS_AS_ERRORS=ON.
build_preset() {
  local preset=$1 directory=$2 target=$3
  shift 3
  if [ ! -f "$directory/CMakeCache.txt" ] && command -v ninja >/dev/null; then
    export CMAKE_GENERATOR=${CMAKE_GENERATOR:-Ninja}
  fi
  (cd "$root" && cmake --preset "$preset" -DDIFFSIM_WARNINGS_AS_ERRORS="${DIFFSIM_WARNINGS_AS_ERRORS:-OFF}" "$@") ||
    return 1
  # Progress of the build: finished and total number of objects, and seconds since the start.
  NINJA_STATUS=${NINJA_STATUS:-'[%f/%t, %es] '} cmake --build "$directory" -j "$(build_jobs)" --target "$target"
}

# configure_and_build TARGET [CMake options] configures and builds the preset `release` in build/.
configure_and_build() { build_preset release "$build" "$@"; }
