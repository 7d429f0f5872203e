# SPDX-License-Identifier: Apache-2.0
#
#   THAW_CUDA  build the program thaw-cuda; by default, where a CUDA toolkit is found that works and
#              LibTorch was built with the same CUDA
#
# Everything else, the program `thaw` included, neither looks for the toolkit nor links it.

# Why thaw-cuda cannot be built, with the remedy; empty: it can.
function(_thaw_cuda_problem result)
  set(${result} "" PARENT_SCOPE)
  include(CheckLanguage)
  check_language(CUDA)
  if(NOT CMAKE_CUDA_COMPILER)
    set(${result} "there is no CUDA toolkit that works; install one, or set CUDACXX to its nvcc"
        PARENT_SCOPE)
    return()
  endif()
  find_package(CUDAToolkit REQUIRED)
  if(NOT LibTorch_CUDA_MAJOR)
    set(${result} "LibTorch in ${LibTorch_FOLDER} was built without CUDA; set THAW_LIBTORCH to one \
that was" PARENT_SCOPE)
    return()
  endif()
  if(NOT LibTorch_CUDA_MAJOR EQUAL CUDAToolkit_VERSION_MAJOR)
    set(${result} "the CUDA toolkit has version ${CUDAToolkit_VERSION}, LibTorch in \
${LibTorch_FOLDER} was built with ${LibTorch_CUDA_MAJOR}; set CUDACXX or THAW_LIBTORCH" PARENT_SCOPE)
    return()
  endif()
  # What libtorch_cuda is linked with; a program could not start without it.
  execute_process(
    COMMAND "${CMAKE_COMMAND}" -E env "LD_LIBRARY_PATH=${CUDAToolkit_LIBRARY_DIR}" ldd
            "${LibTorch_FOLDER}/lib/libtorch_cuda.so"
    OUTPUT_VARIABLE needed ERROR_QUIET)
  string(REGEX MATCHALL "[^ \t\n]+ => not found" absent "${needed}")
  if(absent)
    list(REMOVE_DUPLICATES absent)
    list(TRANSFORM absent REPLACE " => not found" "")
    list(JOIN absent ", " absent)
    set(${result} "LibTorch's CUDA part needs ${absent}; './dev test' installs into .venv/ what the \
toolkit lacks" PARENT_SCOPE)
  endif()
endfunction()

# The default is not kept in the cache: what was missing may be there next time.
if(NOT DEFINED THAW_CUDA)
  _thaw_cuda_problem(_thaw_cuda_problem)
  if(_thaw_cuda_problem)
    message(STATUS "Without thaw-cuda: ${_thaw_cuda_problem}")
    set(THAW_CUDA OFF)
  else()
    set(THAW_CUDA ON)
  endif()
elseif(THAW_CUDA)
  _thaw_cuda_problem(_thaw_cuda_problem)
  if(_thaw_cuda_problem)
    message(FATAL_ERROR "THAW_CUDA is on, but ${_thaw_cuda_problem}. Or set THAW_CUDA=OFF.")
  endif()
endif()

if(THAW_CUDA)
  if(NOT DEFINED CMAKE_CUDA_ARCHITECTURES)
    set(CMAKE_CUDA_ARCHITECTURES 80 90)
  endif()
  enable_language(CUDA)
  set(CMAKE_CUDA_STANDARD 17)
  set(CMAKE_CUDA_EXTENSIONS OFF)
  set(CMAKE_CUDA_RUNTIME_LIBRARY Shared)  # LibTorch's: two in one process know nothing of each other
endif()
