# SPDX-License-Identifier: Apache-2.0
#
# Finds LibTorch's CPU libraries without LibTorch's own CMake package, which, for a wheel built
# with CUDA, fails on a machine that has no CUDA toolkit.
#
#   THAW_LIBTORCH  the torch folder: the one that holds include/ and lib/ (a Python
#                  installation's site-packages/torch, or an unpacked LibTorch archive)
#
# Defines the imported target LibTorch::CPU (torch_cpu, c10, system includes) and
# LibTorch_VERSION. Refuses versions older than 2.11 by name.

set(THAW_LIBTORCH "$ENV{THAW_LIBTORCH}" CACHE PATH "Folder of LibTorch: holds include/ and lib/")

set(_libtorch_hints ${THAW_LIBTORCH})
file(GLOB _libtorch_venv "${PROJECT_SOURCE_DIR}/.venv/lib/python3*/site-packages/torch")
list(APPEND _libtorch_hints ${_libtorch_venv})

find_path(LibTorch_INCLUDE_DIR ATen/ATen.h HINTS ${_libtorch_hints} PATH_SUFFIXES include NO_DEFAULT_PATH)
find_library(LibTorch_torch_cpu torch_cpu HINTS ${_libtorch_hints} PATH_SUFFIXES lib NO_DEFAULT_PATH)
find_library(LibTorch_c10 c10 HINTS ${_libtorch_hints} PATH_SUFFIXES lib NO_DEFAULT_PATH)
mark_as_advanced(LibTorch_INCLUDE_DIR LibTorch_torch_cpu LibTorch_c10)

if(LibTorch_INCLUDE_DIR)
  file(STRINGS "${LibTorch_INCLUDE_DIR}/torch/headeronly/version.h" _libtorch_version_lines
       REGEX "#define TORCH_VERSION_(MAJOR|MINOR|PATCH) ")
  string(REGEX REPLACE "[^0-9;]+" "" _libtorch_version "${_libtorch_version_lines}")
  string(REPLACE ";" "." LibTorch_VERSION "${_libtorch_version}")
endif()

include(FindPackageHandleStandardArgs)
find_package_handle_standard_args(
  LibTorch
  REQUIRED_VARS LibTorch_torch_cpu LibTorch_c10 LibTorch_INCLUDE_DIR
  VERSION_VAR LibTorch_VERSION)

if(LibTorch_FOUND AND NOT TARGET LibTorch::CPU)
  add_library(LibTorch::CPU INTERFACE IMPORTED)
  target_include_directories(
    LibTorch::CPU SYSTEM INTERFACE "${LibTorch_INCLUDE_DIR}"
                                   "${LibTorch_INCLUDE_DIR}/torch/csrc/api/include")
  get_filename_component(_libtorch_lib_dir "${LibTorch_torch_cpu}" DIRECTORY)
  target_link_libraries(LibTorch::CPU INTERFACE "${LibTorch_torch_cpu}" "${LibTorch_c10}")
  target_link_options(LibTorch::CPU INTERFACE "-Wl,-rpath,${_libtorch_lib_dir}")
endif()
