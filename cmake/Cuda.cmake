# SPDX-License-Identifier: Apache-2.0
#
#   THAW_CUDA  compile the CUDA kernels; by default, where a CUDA toolkit is found that works
#
# Only the kernels need the toolkit. Everything else, the program `thaw` included, neither looks
# for it nor links it.
if(NOT DEFINED THAW_CUDA)
  include(CheckLanguage)
  check_language(CUDA)
  if(CMAKE_CUDA_COMPILER)
    set(_thaw_cuda_found ON)
  endif()
endif()
option(THAW_CUDA "Compile the CUDA kernels (needs the CUDA toolkit)" ${_thaw_cuda_found})

if(THAW_CUDA)
  if(NOT DEFINED CMAKE_CUDA_ARCHITECTURES)
    set(CMAKE_CUDA_ARCHITECTURES 80 90)
  endif()
  enable_language(CUDA)
  set(CMAKE_CUDA_STANDARD 17)
  set(CMAKE_CUDA_EXTENSIONS OFF)
endif()
