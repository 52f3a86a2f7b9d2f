# Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
#
# diffsim_configure_target(TARGET): warnings, instruction set and sanitizers, the same for all that is ours.
# The instruction set is public: SIMD types of the headers must be as wide in a user's code as in the library.

function(diffsim_configure_target target)
  set(warnings -Wall -Wextra)
  if(NOT DIFFSIM_EXECUTION_SPACE STREQUAL "CUDA")
    # nvcc's intermediate code is not free of these
    list(APPEND warnings -Wpedantic -Wshadow -Wnon-virtual-dtor -Woverloaded-virtual)
  endif()
  if(DIFFSIM_WARNINGS_AS_ERRORS AND NOT DIFFSIM_EXECUTION_SPACE STREQUAL "CUDA")
    list(APPEND warnings -Werror)
  endif()
  if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU" AND CMAKE_CXX_COMPILER_VERSION VERSION_LESS 13)
    list(APPEND warnings -Wno-restrict) # false alarms from std::string, GCC bug 105651
  endif()
  target_compile_options(${target} PRIVATE "$<$<COMPILE_LANGUAGE:CXX>:${warnings}>")

  get_target_property(type ${target} TYPE)
  set(scope PUBLIC)
  if(type STREQUAL "EXECUTABLE")
    set(scope PRIVATE)
  endif()
  if(DIFFSIM_NATIVE)
    target_compile_options(${target} ${scope} -march=native)
  endif()
  if(DIFFSIM_EXECUTION_SPACE STREQUAL "CUDA")
    target_compile_options(${target} ${scope} --expt-relaxed-constexpr) # std::array in kernels
    target_compile_definitions(${target} PRIVATE FMT_USE_CONSTEXPR=1) # fmt 9 leaves half of its constexpr out for nvcc
  endif()
  if(DIFFSIM_SANITIZE)
    target_compile_options(${target} ${scope} -fsanitize=${DIFFSIM_SANITIZE} -fno-omit-frame-pointer)
    target_link_options(${target} ${scope} -fsanitize=${DIFFSIM_SANITIZE})
  endif()
endfunction()
