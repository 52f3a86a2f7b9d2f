// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
#include "app/machine.hpp"

#include <dlfcn.h>
#include <sched.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <iterator>

#include "diffsim/core/error.hpp"
#include "diffsim/core/runtime.hpp"

namespace diffsim::app {
namespace {

/// Path, with links resolved, of the loaded library that defines a symbol; empty if no library defines the symbol.
std::string library_of(const char* symbol) {
  Dl_info info{};
  void* const address = dlsym(RTLD_DEFAULT, symbol);
  if (!address || dladdr(address, &info) == 0 || !info.dli_fname) return "";
  std::error_code code;
  const std::filesystem::path path = std::filesystem::canonical(info.dli_fname, code);
  return code ? info.dli_fname : path.string();
}

/// Returns whether a library is Netlib's reference BLAS. A tuned library may have the same file name, but exports
/// symbols that the reference BLAS does not have: a function that reports the library's version or build, or additional
/// operations. (Debian's BLIS exports only additional operations. The reference BLAS has daxpby since version 3.12.1.)
bool is_reference(const std::string& library) {
  if (!std::filesystem::path(library).filename().string().starts_with("libblas.")) return false;
  void* const loaded = dlopen(library.c_str(), RTLD_LAZY | RTLD_NOLOAD);
  if (!loaded) return false;
  bool is_tuned = false;
  for (const char* symbol :
       {"openblas_get_config", "bli_info_get_version_str", "mkl_get_version", "ATL_buildinfo", "zgemm3m_"})
    is_tuned = is_tuned || dlsym(loaded, symbol) != nullptr;  // dlsym also searches the libraries that `library` links
  dlclose(loaded);
  return !is_tuned;
}

/// Name of the processor type whose kernels OpenBLAS has chosen; empty for another BLAS.
std::string openblas_core() {
  void* const address = dlsym(RTLD_DEFAULT, "openblas_get_corename");
  if (!address) return "";
  const char* const name = reinterpret_cast<const char* (*)()>(address)();
  return name ? name : "";
}

/// Number of threads that OpenBLAS itself starts; 1 for another BLAS, and for a build of OpenBLAS without threads or
/// with threads of OpenMP.
int openblas_threads() {
  void* const parallel = dlsym(RTLD_DEFAULT, "openblas_get_parallel");
  void* const number = dlsym(RTLD_DEFAULT, "openblas_get_num_threads");
  constexpr int own_threads = 1;  // other values: 0 (no threads), 2 (threads of OpenMP)
  if (!parallel || !number || reinterpret_cast<int (*)()>(parallel)() != own_threads) return 1;
  return reinterpret_cast<int (*)()>(number)();
}

/// Value of OPENBLAS_CORETYPE for the kernels with the widest vectors of this processor; empty if the processor has no
/// vectors of 256 bits or more.
const char* widest_core() {
#if defined(__x86_64__)
  if (__builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512vl"))
    return "SKYLAKEX";
  if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma")) return "HASWELL";
#endif
  return "";
}

/// Warning if OpenBLAS uses kernels with vectors of 128 bits on a processor with wider vectors. An OpenBLAS older than
/// the processor falls back to kernels with vectors of 128 bits.
std::string core_warning() {
  constexpr const char* narrow[] = {"Generic", "Prescott", "Core2", "Penryn", "Dunnington", "Nehalem", "Atom"};
  const std::string core = openblas_core(), better = widest_core();
  if (better.empty() || std::find(std::begin(narrow), std::end(narrow), core) == std::end(narrow)) return "";
  return "OpenBLAS uses its kernels for the processor " + core +
         ", which factorise linear systems slowly on this machine; set OPENBLAS_CORETYPE=" + better;
}

#if defined(__linux__)

/// Number of cores in the union of the ranks' affinity masks. All ranks of `node` must be on one node.
int cores_of(MPI_Comm node) {
  cpu_set_t mine;
  CPU_ZERO(&mine);
  sched_getaffinity(0, sizeof(mine), &mine);
  DIFFSIM_MPI(MPI_Allreduce(MPI_IN_PLACE, &mine, sizeof(mine), MPI_BYTE, MPI_BOR, node));
  return CPU_COUNT(&mine);
}

std::vector<std::string> sharing_warnings(MPI_Comm comm) {
  MPI_Comm node = MPI_COMM_NULL;
  DIFFSIM_MPI(MPI_Comm_split_type(comm, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &node));
  const int ranks = num_ranks(node);
  int threads = back_end() == "OpenMP" ? concurrency() : 1, blas_threads = openblas_threads();
  for (int* const number : {&threads, &blas_threads})
    DIFFSIM_MPI(MPI_Allreduce(MPI_IN_PLACE, number, 1, MPI_INT, MPI_MAX, node));
  const int cores = cores_of(node);
  DIFFSIM_MPI(MPI_Comm_free(&node));
  std::vector<std::string> warnings;
  if (ranks > 1 && blas_threads > 1 && ranks * blas_threads > cores)
    warnings.push_back(std::to_string(ranks) + " ranks with " + std::to_string(blas_threads) +
                       " threads of OpenBLAS each share " + std::to_string(cores) +
                       " cores; set OPENBLAS_NUM_THREADS=1, or use a build of OpenBLAS without threads");
  // No warning is needed with one thread per rank. A rank with one thread waits only in MPI calls, and MPI adapts the
  // waiting if ranks share cores.
  if (threads == 1 || ranks * threads <= cores || std::getenv("OMP_WAIT_POLICY")) return warnings;
  warnings.push_back(
      std::to_string(ranks) + " ranks of " + std::to_string(threads) + " threads share " + std::to_string(cores) +
      " cores; set OMP_NUM_THREADS=" + std::to_string(std::max(1, cores / ranks)) + ", or OMP_WAIT_POLICY=passive");
  return warnings;
}

#else

std::vector<std::string> sharing_warnings(MPI_Comm) { return {}; }

#endif

}  // namespace

std::string blas_library() { return library_of("dgemm_"); }

std::vector<std::string> machine_warnings(MPI_Comm comm) {
  std::vector<std::string> warnings;
  const std::string blas = blas_library();
  if (is_reference(blas))
    warnings.push_back("the reference BLAS is in use (" + blas +
                       "), which factorises linear systems slowly; install OpenBLAS or BLIS");
  if (std::string core = core_warning(); !core.empty()) warnings.push_back(std::move(core));
  for (std::string& warning : sharing_warnings(comm)) warnings.push_back(std::move(warning));
  return warnings;
}

}  // namespace diffsim::app
