# SPDX-License-Identifier: Apache-2.0
#
# The kinds of targets that thaw is made of.
#
#   thaw_room(NAME [TORCH] [DEPENDS rooms...])   the sources of the current folder, as one room
#   thaw_program(NAME ROOMS rooms...)            a program that links rooms
#   thaw_tests(NAME ROOMS rooms...)              the GoogleTest sources of the current folder
#   thaw_benchmarks(NAME [TORCH] ROOMS rooms...) the Google Benchmark sources of the current folder
#
# Rooms are object libraries: the simulated device and the operators register themselves by
# static initialisers, which a linker would drop from a static library.

add_library(thaw_options INTERFACE)
target_compile_options(thaw_options INTERFACE -Wall -Wextra -Wpedantic -Werror -Wno-unused-parameter)
target_include_directories(thaw_options INTERFACE "${PROJECT_SOURCE_DIR}/src"
                                                  "${PROJECT_SOURCE_DIR}/harness")
if(CMAKE_CXX_COMPILER_ID STREQUAL "Clang" AND CMAKE_CXX_COMPILER_VERSION VERSION_GREATER_EQUAL 18)
  # LibTorch's wheels were built with an older mangling of constrained templates.
  target_compile_options(thaw_options INTERFACE -fclang-abi-compat=17)
endif()

# LibTorch's include folder carries an fmt of its own, of another version than the library that is
# linked. A folder with nothing but the right one goes before it.
get_target_property(_fmt_include fmt::fmt INTERFACE_INCLUDE_DIRECTORIES)
find_path(_fmt_headers fmt/format.h HINTS ${_fmt_include} NO_CACHE REQUIRED)
file(MAKE_DIRECTORY "${PROJECT_BINARY_DIR}/include_first")
file(CREATE_LINK "${_fmt_headers}/fmt" "${PROJECT_BINARY_DIR}/include_first/fmt" SYMBOLIC)
target_include_directories(thaw_options SYSTEM INTERFACE "${PROJECT_BINARY_DIR}/include_first")

# The headers of LibTorch cost seconds a file; they are compiled once and reused.
function(_thaw_use_torch target)
  if(NOT TARGET thaw_torch_headers)
    file(WRITE "${PROJECT_BINARY_DIR}/torch_headers.cpp" "")
    add_library(thaw_torch_headers OBJECT "${PROJECT_BINARY_DIR}/torch_headers.cpp")
    target_link_libraries(thaw_torch_headers PRIVATE thaw_options LibTorch::CPU)
    target_precompile_headers(thaw_torch_headers PRIVATE "${PROJECT_SOURCE_DIR}/cmake/torch_headers.h")
  endif()
  target_link_libraries(${target} PUBLIC LibTorch::CPU)
  target_precompile_headers(${target} REUSE_FROM thaw_torch_headers)
endfunction()

function(thaw_room name)
  cmake_parse_arguments(ARG "TORCH" "" "DEPENDS" ${ARGN})
  file(GLOB sources CONFIGURE_DEPENDS "${CMAKE_CURRENT_SOURCE_DIR}/*.cpp")
  if(NOT sources)
    add_library(thaw_${name} INTERFACE)
    return()
  endif()
  add_library(thaw_${name} OBJECT ${sources})
  list(TRANSFORM ARG_DEPENDS PREPEND thaw_)
  target_link_libraries(thaw_${name} PUBLIC thaw_options fmt::fmt ${ARG_DEPENDS})
  if(ARG_TORCH)
    _thaw_use_torch(thaw_${name})
  endif()
endfunction()

# An object library's objects reach only those that link it directly, so rooms that a program
# needs through other rooms are collected here.
function(_thaw_link_rooms target)
  set(pending ${ARGN})
  set(rooms)
  while(pending)
    list(POP_FRONT pending room)
    if(NOT room IN_LIST rooms)
      list(APPEND rooms ${room})
      get_target_property(libraries thaw_${room} LINK_LIBRARIES)
      foreach(library IN LISTS libraries)
        if(library MATCHES "^thaw_" AND NOT library STREQUAL "thaw_options")
          string(REGEX REPLACE "^thaw_" "" next ${library})
          list(APPEND pending ${next})
        endif()
      endforeach()
    endif()
  endwhile()
  list(TRANSFORM rooms PREPEND thaw_)
  target_link_libraries(${target} PRIVATE ${rooms})
endfunction()

function(thaw_program name)
  cmake_parse_arguments(ARG "" "" "ROOMS;SOURCES" ${ARGN})
  add_executable(${name} ${ARG_SOURCES})
  target_link_libraries(${name} PRIVATE thaw_options fmt::fmt Threads::Threads)
  _thaw_link_rooms(${name} ${ARG_ROOMS})
  set_target_properties(${name} PROPERTIES RUNTIME_OUTPUT_DIRECTORY "${PROJECT_BINARY_DIR}/bin")
  # As the rooms are compiled: all targets share one precompiled header, which must match.
  set_target_properties(${name} PROPERTIES POSITION_INDEPENDENT_CODE OFF)
  target_compile_options(${name} PRIVATE -fPIC)
endfunction()

function(thaw_tests name)
  cmake_parse_arguments(ARG "TORCH" "" "ROOMS" ${ARGN})
  file(GLOB sources CONFIGURE_DEPENDS "${CMAKE_CURRENT_SOURCE_DIR}/*.cpp")
  if(NOT sources)
    return()
  endif()
  thaw_program(${name}_tests SOURCES ${sources} ROOMS ${ARG_ROOMS})
  target_link_libraries(${name}_tests PRIVATE GTest::gtest GTest::gmock GTest::gtest_main)
  target_include_directories(${name}_tests PRIVATE "${PROJECT_SOURCE_DIR}/tests")
  if(ARG_TORCH)
    target_precompile_headers(${name}_tests REUSE_FROM thaw_torch_headers)
  endif()
  add_test(NAME ${name} COMMAND ${name}_tests)
endfunction()

function(thaw_benchmarks name)
  cmake_parse_arguments(ARG "TORCH" "" "ROOMS" ${ARGN})
  file(GLOB sources CONFIGURE_DEPENDS "${CMAKE_CURRENT_SOURCE_DIR}/*.cpp")
  if(NOT sources)
    return()
  endif()
  find_package(benchmark REQUIRED)
  thaw_program(${name}_bench SOURCES ${sources} ROOMS ${ARG_ROOMS})
  target_link_libraries(${name}_bench PRIVATE benchmark::benchmark benchmark::benchmark_main)
  if(ARG_TORCH)
    target_precompile_headers(${name}_bench REUSE_FROM thaw_torch_headers)
  endif()
  set_target_properties(${name}_bench PROPERTIES EXCLUDE_FROM_ALL ON)
  if(NOT TARGET benchmarks)
    add_custom_target(benchmarks)
  endif()
  add_dependencies(benchmarks ${name}_bench)
endfunction()
