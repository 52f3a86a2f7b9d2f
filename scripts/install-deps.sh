#!/usr/bin/env bash
# Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
#
# Installs the dependencies of diffsim on Debian or Ubuntu, from the package archive of the distribution. The
# dependencies of the Python package's tests come from the Python Package Index. Steps that an earlier run has completed
# are skipped.
set -uo pipefail

root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
prefix=$root/build/deps
with_tests=yes
with_optional=yes

# Debian and Ubuntu packages for the library and the runner, except Kokkos. OpenBLAS is the variant without threads,
# because ranks provide the parallelism. The alternatives system prefers OpenBLAS to the reference BLAS.
required=(
  build-essential cmake ninja-build pkg-config xz-utils
  libopenmpi-dev openmpi-bin libpetsc-real-dev libhdf5-openmpi-dev libopenblas0-serial
  libyaml-cpp-dev libcli11-dev libfmt-dev libspdlog-dev nlohmann-json3-dev
  libtinyxml2-dev zlib1g-dev
)
# Packages for the tests and the benchmarks.
tests=(libgtest-dev libbenchmark-dev libgmp-dev doxygen)
# Packages for MED and Exodus files, for the conversion of other mesh formats, for robots in URDF files, and for
# posteriors of low rank. Without these packages, the tests of the formats and of these posteriors are left out.
formats=(libmedc-dev libnetcdf-mpi-dev meshio-tools liburdfdom-dev libslepc-real-dev)
# Packages for diffsim's Python package and its tests, and clang-format for the test `format`. Python packages are
# installed into the virtual environment DIR/python. Without this environment, diffsim's Python package is neither built
# nor tested.
python=(python3-dev python3-venv)
python_packages=(nanobind numpy pytest mpi4py jax tqdm meshio clang-format==14.0.6)
# Packages for the pictures of the examples. Without these packages, the examples run but draw no pictures.
optional=(python3-numpy python3-h5py python3-matplotlib)

usage() {
  cat <<TEXT
usage: scripts/install-deps.sh [--prefix DIR] [--no-tests] [--no-optional] [--help]

Installs what diffsim is built from, on Debian or Ubuntu, as root or through sudo:
  1. distribution packages: ${required[*]}
     for tests and benchmarks: ${tests[*]}
  2. optional ones, for pictures: ${optional[*]}
     with the tests, for formats of meshes and robots: ${formats[*]}
  3. Kokkos with OpenMP and Serial, built from the distribution's 'trilinos' source package into DIR.
     If that cannot be had, the packaged Kokkos (Serial only), with a warning.
  4. with the tests, for the Python package: ${python[*]}, and from the Python Package Index, into DIR/python:
     ${python_packages[*]}

  --prefix DIR     where Kokkos goes (default: build/deps of the source tree, where CMake looks for it)
  --no-tests       leave out what only tests and benchmarks need
  --no-optional    leave out 2 and 4
  --help           this text

Kokkos from elsewhere: set Kokkos_ROOT to its prefix, and step 3 is left out.
TEXT
}

say() { printf 'install-deps: %s\n' "$*"; }
warn() { printf 'install-deps: warning: %s\n' "$*" >&2; }
die() {
  printf 'install-deps: error: %s\n' "$*" >&2
  exit 1
}

while [ $# -gt 0 ]; do
  case $1 in
    --prefix)
      [ $# -ge 2 ] || die "--prefix needs a directory"
      prefix=$2
      shift 2
      ;;
    --prefix=*)
      prefix=${1#--prefix=}
      shift
      ;;
    --no-tests)
      with_tests=no
      shift
      ;;
    --no-optional)
      with_optional=no
      shift
      ;;
    -h | --help)
      usage
      exit 0
      ;;
    *)
      usage >&2
      die "unknown argument: $1"
      ;;
  esac
done
[ -n "$prefix" ] || die "--prefix needs a directory"
mkdir -p "$prefix" || die "cannot create $prefix"
prefix=$(cd "$prefix" && pwd)

# ---- 1, 2: packages ------------------------------------------------------------------------------------------

as_root() {
  if [ "$(id -u)" -eq 0 ]; then
    env DEBIAN_FRONTEND=noninteractive "$@"
  elif command -v sudo >/dev/null; then
    sudo env DEBIAN_FRONTEND=noninteractive "$@"
  else
    warn "this needs root, and there is no sudo: $*"
    return 1
  fi
}

missing_of() {
  local package
  for package in "$@"; do
    [ "$(dpkg-query -W -f '${db:Status-Status}' "$package" 2>/dev/null)" = installed ] || printf '%s\n' "$package"
  done
}

lists_updated=no
apt_install() {
  if [ "$lists_updated" = no ]; then
    # A broken third-party repository must not end this script; the exit status of the installation below decides.
    as_root apt-get -q -o DPkg::Lock::Timeout=600 update || warn "apt-get update reported errors; going on"
    lists_updated=yes
  fi
  as_root apt-get -q -y -o DPkg::Lock::Timeout=600 install --no-install-recommends "$@"
}

if ! command -v apt-get >/dev/null || ! command -v dpkg-query >/dev/null; then
  die "this script knows Debian and Ubuntu only; elsewhere install Kokkos, MPI, PETSc (real, double), parallel HDF5," \
    "yaml-cpp, CLI11, fmt, spdlog, tinyxml2, zlib, nlohmann_json, GoogleTest and Google Benchmark, and run cmake --preset release"
fi

[ "$with_tests" = no ] || required+=("${tests[@]}")
mapfile -t missing < <(missing_of "${required[@]}")
if [ ${#missing[@]} -eq 0 ]; then
  say "all required packages are installed"
else
  say "installing packages: ${missing[*]}"
  apt_install "${missing[@]}" || die "could not install: ${missing[*]}"
fi

# Warns if the alternatives system selects the reference BLAS or LAPACK, which happens only if an administrator has
# chosen it.
for name in $(update-alternatives --get-selections 2>/dev/null | awk '$1 ~ /^lib(blas|lapack)\.so\.3/ { print $1 }'); do
  library=$(update-alternatives --query "$name" | sed -n 's/^Value: //p')
  case $library in
    */blas/* | */lapack/*)
      warn "$name is the reference one, $library, which is slow; to change that: update-alternatives --auto $name"
      ;;
  esac
done

[ "$with_tests" = no ] || optional+=("${formats[@]}")
if [ "$with_optional" = yes ]; then
  mapfile -t missing < <(missing_of "${optional[@]}")
  if [ ${#missing[@]} -gt 0 ]; then
    say "installing optional packages (pictures, formats of meshes): ${missing[*]}"
    apt_install "${missing[@]}" ||
      warn "could not install ${missing[*]}; the examples may draw no pictures, and MED and Exodus files may not be read"
  fi
fi

# ---- 4: Python, while Kokkos is downloaded and built -----------------------------------------------------------

# Creates the virtual environment DIR/python. Packages without a wheel for this platform are not built from source.
make_environment() {
  rm -rf "$prefix/python"
  /usr/bin/python3 -m venv "$prefix/python" &&
    "$prefix/python/bin/pip" install --quiet --only-binary :all: "${python_packages[@]}" &&
    printf '%s\n' "${python_packages[*]}" >"$prefix/python/complete"
}

python_job='' scratch=''
end_jobs() {
  [ -z "$python_job" ] || kill "$python_job" 2>/dev/null
  [ -z "$scratch" ] || rm -rf "$scratch"
}
trap end_jobs EXIT
trap 'exit 130' INT TERM
if [ "$with_tests" = yes ] && [ "$with_optional" = yes ] &&
  [ "$(cat "$prefix/python/complete" 2>/dev/null)" != "${python_packages[*]}" ]; then
  say "installing Python packages into $prefix/python: ${python_packages[*]}"
  mapfile -t missing < <(missing_of "${python[@]}")
  if [ ${#missing[@]} -eq 0 ] || apt_install "${missing[@]}"; then
    make_environment &
    python_job=$!
  else
    warn "could not install ${missing[*]}; the Python package is neither built nor tested"
  fi
fi

# ---- 3: Kokkos -----------------------------------------------------------------------------------------------

# Prints the path of KokkosConfig.cmake under a prefix, or nothing if the file does not exist.
kokkos_config_in() { find "$1" -maxdepth 5 -path '*/lib*/cmake/Kokkos/KokkosConfig.cmake' -print -quit 2>/dev/null; }

# Writes apt source entries of type deb-src for the archive of the distribution, copied from the system's entries of
# type deb. Entries of other archives are left out if apt knows the publishers of the archives.
write_source_entries() { # directory
  local out=$1 own
  # shellcheck disable=SC1091
  own=$(. /etc/os-release && printf '%s %s' "${ID:-}" "${ID_LIKE:-}")
  # shellcheck disable=SC2016
  apt-get indextargets --format '$(ORIGIN) $(REPO_URI)' 'Created-By: Packages' 2>/dev/null |
    awk -v own="$own" 'BEGIN { n = split(tolower(own), ids, " "); for (i = 1; i <= n; ++i) ok[ids[i]] = 1 }
      tolower($1) in ok { sub(/\/+$/, "", $NF); print $NF }' | sort -u >"$out/own-uris"

  copy_source_entries "$out" && return
  # No entry was copied: with mirror lists, for example, apt reports other URIs than the entries contain. Copies all
  # entries.
  : >"$out/own-uris"
  copy_source_entries "$out"
}
copy_source_entries() { # directory
  local out=$1 file entries=0 sources_list='' sources_parts=''
  eval "$(apt-config shell sources_list Dir::Etc::SourceList/f sources_parts Dir::Etc::SourceParts/d)"
  mkdir -p "$out/sources.d"
  # Format of *.list files: one entry per line, deb [options] URI suite components...
  for file in "${sources_list:-/etc/apt/sources.list}" "${sources_parts:-/etc/apt/sources.list.d/}"/*.list; do
    [ -f "$file" ] || continue
    entries=$((entries + 1))
    awk -v uris="$out/own-uris" '
      BEGIN { while ((getline line < uris) > 0) { own[line] = 1; known = 1 } }
      /^[ \t]*deb[ \t]/ && !/cdrom:/ {
        uri = $0; sub(/^[ \t]*deb[ \t]+(\[[^]]*\][ \t]*)?/, "", uri); sub(/[ \t].*/, "", uri); sub(/\/+$/, "", uri)
        if (known && !(uri in own)) next
        sub(/^[ \t]*deb/, "deb-src"); print
      }' "$file" >"$out/sources.d/$entries.list"
  done
  # Format of *.sources files: paragraphs of fields, which may contain comment lines.
  for file in "${sources_parts:-/etc/apt/sources.list.d/}"/*.sources; do
    [ -f "$file" ] || continue
    entries=$((entries + 1))
    grep -v '^#' "$file" | awk -v uris="$out/own-uris" -v RS= '
      BEGIN { RS = "\n"; while ((getline line < uris) > 0) { own[line] = 1; known = 1 } RS = "" }
      {
        keep = !known; enabled = 1; text = ""; binary = 0
        n = split($0, lines, "\n")
        for (i = 1; i <= n; ++i) {
          field = lines[i]
          if (field !~ /^[ \t]/) { name = tolower(field); sub(/:.*/, "", name); sub(/^[^:]*:/, "", field) }
          if (name == "enabled" && tolower(field) ~ /no|false|off|0/) enabled = 0
          if (name == "uris") {
            m = split(field, list, " ")
            for (j = 1; j <= m; ++j) { sub(/\/+$/, "", list[j]); if (list[j] in own) keep = 1 }
          }
          if (name == "types") { if (field ~ /deb([ \t]|$)/) binary = 1 }
          else text = text lines[i] "\n"
        }
        if (keep && enabled && binary) printf "Types: deb-src\n%s\n", text
      }' >"$out/sources.d/$entries.sources"
  done
  find "$out/sources.d" -type f -empty -delete
  [ -n "$(find "$out/sources.d" -type f -print -quit)" ]
}

# Builds Kokkos from the trilinos source package in the scratch directory $1. Returns 1 if a step fails; the caller
# reports the failure.
build_kokkos() {
  local work=$1 tarball source jobs native
  mkdir -p "$work/lists/partial" "$work/cache/archives/partial" "$work/download" || return 1

  : >"$work/empty"
  if ! write_source_entries "$work"; then
    warn "no apt source of this distribution's own archive found"
    return 1
  fi
  local apt=(
    apt-get -q -o "Dir::State::Lists=$work/lists" -o "Dir::Cache=$work/cache" -o "Dir::Etc::SourceList=$work/empty"
    -o "Dir::Etc::SourceParts=$work/sources.d" -o "APT::Sandbox::User=root" -o "Acquire::Languages=none"
    -o "Acquire::IndexTargets::deb-src::DEP-11::DefaultEnabled=false"
  )
  say "reading the index of source packages"
  "${apt[@]}" update || warn "some source indices could not be read; going on"
  say "downloading the trilinos source package (about 170 MB; removed again afterwards)"
  (cd "$work/download" && "${apt[@]}" source --download-only --tar-only trilinos) || return 1

  tarball=$(find "$work/download" -name 'trilinos_*.orig.tar.*' ! -name '*.asc' -print -quit)
  [ -n "$tarball" ] || { warn "the source package holds no orig tarball"; return 1; }
  say "unpacking packages/kokkos"
  mkdir "$work/source" && tar -xf "$tarball" -C "$work/source" --wildcards '*/packages/kokkos/*' || return 1
  rm -rf "$work/download"
  source=$(find "$work/source" -maxdepth 4 -path '*/packages/kokkos' -type d -print -quit)
  if [ ! -f "${source:-.}/cmake/kokkos_arch.cmake" ]; then
    warn "no Kokkos in the source package"
    return 1
  fi

  # Kokkos is compiled for the processor of this computer, like the preset `release`. Kokkos before 3.6 has no option
  # for this.
  native=(-DCMAKE_CXX_FLAGS=-march=native)
  grep -q '(NATIVE ' "$source/cmake/kokkos_arch.cmake" && native=(-DKokkos_ARCH_NATIVE=ON)
  # The symbols are hidden because PETSc may load Trilinos, which contains another Kokkos. Symbols of one Kokkos must
  # not be bound to those of the other.
  say "building Kokkos (OpenMP, Serial) into $prefix"
  jobs=$(env -u OMP_NUM_THREADS -u OMP_THREAD_LIMIT nproc)  # nproc alone would print OMP_NUM_THREADS
  cmake -G Ninja -S "$source" -B "$work/build" -DCMAKE_BUILD_TYPE=Release -DCMAKE_INSTALL_PREFIX="$prefix" \
    -DCMAKE_INSTALL_LIBDIR=lib -DCMAKE_CXX_STANDARD=20 -DBUILD_SHARED_LIBS=OFF -DCMAKE_POSITION_INDEPENDENT_CODE=ON \
    -DCMAKE_CXX_VISIBILITY_PRESET=hidden -DCMAKE_VISIBILITY_INLINES_HIDDEN=ON \
    -DKokkos_ENABLE_OPENMP=ON -DKokkos_ENABLE_SERIAL=ON -DKokkos_ENABLE_TESTS=OFF -DKokkos_ENABLE_EXAMPLES=OFF \
    "${native[@]}" >"$work/log" 2>&1 &&
    cmake --build "$work/build" -j "$jobs" >>"$work/log" 2>&1 &&
    cmake --install "$work/build" >>"$work/log" 2>&1
  local status=$?
  if [ $status -ne 0 ]; then
    tail -n 30 "$work/log" >&2
    return 1
  fi
  [ -n "$(kokkos_config_in "$prefix")" ]
}

if [ -n "${Kokkos_ROOT:-}" ] && [ -n "$(kokkos_config_in "$Kokkos_ROOT")" ]; then
  say "Kokkos: using Kokkos_ROOT=$Kokkos_ROOT"
elif [ -n "$(kokkos_config_in "$prefix")" ]; then
  say "Kokkos: already in $prefix"
else
  rm -rf "$prefix"/.kokkos.* # left by a run that was killed
  scratch=$(mktemp -d "$prefix/.kokkos.XXXXXX") || die "cannot write to $prefix"
  if build_kokkos "$scratch"; then
    say "Kokkos: $(kokkos_config_in "$prefix")"
  else
    cat >&2 <<'TEXT'
******************************************************************************************************
install-deps: WARNING: Kokkos with OpenMP could not be built from the trilinos source package (see above).
  Falling back to the packaged Kokkos, which is SERIAL: diffsim will use ONE thread per MPI rank.
  To get threads, install a Kokkos with OpenMP and set Kokkos_ROOT, or run this script again later.
******************************************************************************************************
TEXT
    apt_install libtrilinos-kokkos-dev || die "the packaged Kokkos (libtrilinos-kokkos-dev) could not be installed either"
  fi
fi

[ -z "$python_job" ] || wait "$python_job" ||
  warn "could not install ${python_packages[*]}; the Python package is neither built nor tested"
python_job=''
say "done"
