# SPDX-License-Identifier: Apache-2.0
#
# Finds LibTorch's libraries without LibTorch's own CMake package, which, for a wheel built
# with CUDA, fails on a machine that has no CUDA toolkit.
#
#   THAW_LIBTORCH  the torch folder: the one that holds include/ and lib/ (a Python
#                  installation's site-packages/torch, or an unpacked LibTorch archive).
#                  Where it is empty: the one in .venv, else that of `python3`.
#
# Defines the imported target LibTorch::CPU (torch_cpu, c10, system includes), LibTorch_VERSION,
# LibTorch_FOLDER and LibTorch_CUDA_MAJOR (the CUDA that it was built with; empty: none). Refuses by
# name what is too old.
#
# With COMPONENTS CUDA it also defines LibTorch::CUDA (torch_cuda, c10_cuda and the toolkit's
# cudart), which needs find_package(CUDAToolkit) before it.

set(THAW_LIBTORCH "$ENV{THAW_LIBTORCH}" CACHE PATH "Folder of LibTorch: holds include/ and lib/")

set(_libtorch "${THAW_LIBTORCH}")
if(NOT _libtorch)
  file(GLOB _libtorch "${PROJECT_SOURCE_DIR}/.venv/lib/python3*/site-packages/torch")
endif()
if(NOT _libtorch)
  # Found, not imported: importing takes seconds, and fails where torch's dependencies are absent.
  execute_process(
    COMMAND python3 -c "from importlib.util import find_spec as f; print(*f('torch').submodule_search_locations)"
    OUTPUT_VARIABLE _libtorch OUTPUT_STRIP_TRAILING_WHITESPACE ERROR_QUIET)
endif()

set(LibTorch_VERSION)
foreach(_libtorch_header torch/headeronly/version.h torch/csrc/api/include/torch/version.h)
  if(NOT LibTorch_VERSION AND EXISTS "${_libtorch}/include/${_libtorch_header}")
    file(STRINGS "${_libtorch}/include/${_libtorch_header}" LibTorch_VERSION
         REGEX "#define TORCH_VERSION_(MAJOR|MINOR|PATCH) ")
    list(TRANSFORM LibTorch_VERSION REPLACE "[^0-9]+" "")
    list(JOIN LibTorch_VERSION "." LibTorch_VERSION)
  endif()
endforeach()

set(_libtorch_cpu "${_libtorch}/lib/libtorch_cpu.so")
set(_libtorch_c10 "${_libtorch}/lib/libc10.so")
set(_libtorch_problem)
if(NOT LibTorch_VERSION OR NOT EXISTS "${_libtorch_cpu}" OR NOT EXISTS "${_libtorch_c10}")
  set(_libtorch_problem "There is no LibTorch in '${_libtorch}'")
elseif(LibTorch_VERSION VERSION_LESS LibTorch_FIND_VERSION)
  set(_libtorch_problem
      "LibTorch ${LibTorch_VERSION} in '${_libtorch}' is older than ${LibTorch_FIND_VERSION}")
endif()
if(_libtorch_problem)
  message(FATAL_ERROR "${_libtorch_problem}. Set THAW_LIBTORCH to the torch folder of LibTorch "
                      "${LibTorch_FIND_VERSION} or newer (it holds include/ and lib/), or let "
                      "./dev install one.")
endif()
set(LibTorch_FOUND TRUE)
set(LibTorch_FOLDER "${_libtorch}")

# A library is loaded by the name that it was linked with: libcudart.so.13.
set(LibTorch_CUDA_MAJOR)
if(NOT DEFINED CACHE{CMAKE_READELF})
  find_program(CMAKE_READELF readelf)
endif()
if(EXISTS "${_libtorch}/lib/libtorch_cuda.so" AND CMAKE_READELF)
  execute_process(COMMAND "${CMAKE_READELF}" -d "${_libtorch}/lib/libtorch_cuda.so"
                  OUTPUT_VARIABLE LibTorch_CUDA_MAJOR)
  string(REGEX MATCH "libcudart\\.so\\.([0-9]+)" LibTorch_CUDA_MAJOR "${LibTorch_CUDA_MAJOR}")
  set(LibTorch_CUDA_MAJOR "${CMAKE_MATCH_1}")
endif()

if(NOT TARGET LibTorch::CPU)
  message(STATUS "LibTorch ${LibTorch_VERSION}: ${_libtorch}")
endif()
if(NOT TARGET LibTorch::CPU)
  add_library(LibTorch::CPU INTERFACE IMPORTED)
  target_include_directories(
    LibTorch::CPU SYSTEM INTERFACE "${_libtorch}/include"
                                   "${_libtorch}/include/torch/csrc/api/include")
  # Without it, narrow headers such as <ATen/TensorOperators.h> include those of all operators.
  target_compile_definitions(LibTorch::CPU INTERFACE AT_PER_OPERATOR_HEADERS)
  # A program that calls no LibTorch should not load it either.
  target_link_options(LibTorch::CPU INTERFACE LINKER:--as-needed)
  target_link_libraries(LibTorch::CPU INTERFACE "${_libtorch_cpu}" "${_libtorch_c10}")
endif()

if("CUDA" IN_LIST LibTorch_FIND_COMPONENTS AND NOT TARGET LibTorch::CUDA)
  add_library(LibTorch::CUDA INTERFACE IMPORTED GLOBAL)
  target_include_directories(LibTorch::CUDA SYSTEM INTERFACE ${CUDAToolkit_INCLUDE_DIRS})
  # Its operators register themselves, so it is needed whether or not a symbol of it is used. What
  # it needs in turn lies in the toolkit or beside LibTorch: the first is found by the program's
  # RPATH (a RUNPATH would not count for it), the second by its own.
  target_link_options(LibTorch::CUDA INTERFACE LINKER:--disable-new-dtags
                                               LINKER:--unresolved-symbols=ignore-in-shared-libs)
  target_link_libraries(
    LibTorch::CUDA
    INTERFACE LibTorch::CPU -Wl,--push-state,--no-as-needed "${_libtorch}/lib/libtorch_cuda.so"
              "${_libtorch}/lib/libc10_cuda.so" -Wl,--pop-state "${CUDA_cudart_LIBRARY}")
endif()
