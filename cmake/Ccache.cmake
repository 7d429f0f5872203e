# SPDX-License-Identifier: Apache-2.0
#
# Compiles through ccache where it is installed, so that an object which was compiled once is not
# compiled again: not after a clean, not in another build folder, not in another clone.
find_program(THAW_CCACHE ccache)
mark_as_advanced(THAW_CCACHE)
if(THAW_CCACHE AND NOT CMAKE_CXX_COMPILER_LAUNCHER)
  # Paths below the source folder are hashed as relative ones. Precompiled headers need the
  # sloppiness: ccache cannot see which of their macros a file uses.
  set(CMAKE_CXX_COMPILER_LAUNCHER
      "${CMAKE_COMMAND}" -E env "CCACHE_BASEDIR=${PROJECT_SOURCE_DIR}" CCACHE_NOHASHDIR=1
      CCACHE_SLOPPINESS=pch_defines,time_macros "${THAW_CCACHE}")
  set(CMAKE_CUDA_COMPILER_LAUNCHER ${CMAKE_CXX_COMPILER_LAUNCHER})
endif()
