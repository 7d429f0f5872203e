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
# -fPIC for programs too: all targets share one precompiled header, which must match their flags.
target_compile_options(thaw_options INTERFACE -Wall -Wextra -Wpedantic -Wno-unused-parameter
                                              -Wno-missing-field-initializers
                                              -fPIC -fno-semantic-interposition)
target_include_directories(thaw_options INTERFACE "${PROJECT_SOURCE_DIR}/src")
# Warnings are errors with the compilers that thaw is tested with; later ones find new warnings.
if("${CMAKE_CXX_COMPILER_ID} ${CMAKE_CXX_COMPILER_VERSION}" MATCHES "^(GNU 12|Clang 14|Clang 19)\\.")
  target_compile_options(thaw_options INTERFACE -Werror)
endif()
if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
  # False alarms of GCC 12: inside std::string, and at GoogleTest's assertions after an if.
  target_compile_options(thaw_options INTERFACE -Wno-array-bounds -Wno-restrict -Wno-dangling-else)
  target_compile_options(thaw_options INTERFACE -fpch-preprocess)  # ccache asks for it
elseif(CMAKE_CXX_COMPILER_ID STREQUAL "Clang")
  # A precompiled header that comes out of ccache is older or newer than it was, and as good.
  target_compile_options(thaw_options INTERFACE "SHELL:-Xclang -fno-pch-timestamp")
endif()
if(CMAKE_CXX_COMPILER_ID STREQUAL "Clang" AND CMAKE_CXX_COMPILER_VERSION VERSION_GREATER_EQUAL 18)
  # LibTorch's wheels were built with an older mangling of constrained templates.
  target_compile_options(thaw_options INTERFACE -fclang-abi-compat=17)
endif()

# The judge. Rooms of src do not see its headers.
add_library(thaw_harness_options INTERFACE)
target_link_libraries(thaw_harness_options INTERFACE thaw_options)
target_include_directories(thaw_harness_options INTERFACE "${PROJECT_SOURCE_DIR}/harness")

# LibTorch's include folder carries an fmt of its own, of another version than the library that is
# linked. A folder with nothing but the right one goes before it.
get_target_property(_fmt_include fmt::fmt INTERFACE_INCLUDE_DIRECTORIES)
find_path(_fmt_headers fmt/format.h HINTS ${_fmt_include} NO_CACHE REQUIRED)
file(MAKE_DIRECTORY "${PROJECT_BINARY_DIR}/include_first")
file(CREATE_LINK "${_fmt_headers}/fmt" "${PROJECT_BINARY_DIR}/include_first/fmt" SYMBOLIC)
target_include_directories(thaw_options SYSTEM INTERFACE "${PROJECT_BINARY_DIR}/include_first")

# Headers that cost seconds a file are compiled once and reused: of LibTorch in the rooms, of
# GoogleTest in the tests, of CLI11 in the program. The target for each set of headers is made when
# it is first asked for; `precompiled_headers` makes them all.
function(thaw_precompile target headers_target)
  if(NOT TARGET ${headers_target})
    file(WRITE "${PROJECT_BINARY_DIR}/${headers_target}.cpp" "")
    add_library(${headers_target} OBJECT "${PROJECT_BINARY_DIR}/${headers_target}.cpp")
    target_include_directories(${headers_target} PRIVATE "${PROJECT_SOURCE_DIR}/cmake")
    target_link_libraries(${headers_target} PRIVATE thaw_options fmt::fmt)
    # Named without their folder: to ccache, those of every clone are the same files.
    if(headers_target MATCHES torch)
      target_link_libraries(${headers_target} PRIVATE LibTorch::CPU)
      target_precompile_headers(${headers_target} PRIVATE <torch_headers.h>)
    endif()
    if(headers_target MATCHES test)
      target_link_libraries(${headers_target} PRIVATE GTest::gtest GTest::gmock)
      target_precompile_headers(${headers_target} PRIVATE <test_headers.h>)
    endif()
    if(headers_target MATCHES command)
      target_link_libraries(${headers_target} PRIVATE CLI11::CLI11)
      target_precompile_headers(${headers_target} PRIVATE <CLI/CLI.hpp>)
    endif()
    if(NOT TARGET precompiled_headers)
      add_custom_target(precompiled_headers)
    endif()
    add_dependencies(precompiled_headers ${headers_target})
  endif()
  target_precompile_headers(${target} REUSE_FROM ${headers_target})
endfunction()

function(thaw_room name)
  cmake_parse_arguments(ARG "TORCH" "" "DEPENDS" ${ARGN})
  file(GLOB sources CONFIGURE_DEPENDS "${CMAKE_CURRENT_SOURCE_DIR}/*.cpp")
  add_library(thaw_${name} OBJECT ${sources})
  list(TRANSFORM ARG_DEPENDS PREPEND thaw_)
  set(options thaw_harness_options)
  set(src "${PROJECT_SOURCE_DIR}/src")
  cmake_path(IS_PREFIX src "${CMAKE_CURRENT_SOURCE_DIR}" in_src)
  if(in_src)
    set(options thaw_options)
  endif()
  target_link_libraries(thaw_${name} PUBLIC ${options} fmt::fmt ${ARG_DEPENDS})
  if(ARG_TORCH)
    target_link_libraries(thaw_${name} PUBLIC LibTorch::CPU)
    thaw_precompile(thaw_${name} thaw_torch_headers)
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
        if(library MATCHES "^thaw_" AND NOT library MATCHES "_options$")
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
  target_link_libraries(${name} PRIVATE thaw_harness_options fmt::fmt Threads::Threads)
  _thaw_link_rooms(${name} ${ARG_ROOMS})
  set_target_properties(${name} PROPERTIES RUNTIME_OUTPUT_DIRECTORY "${PROJECT_BINARY_DIR}/bin")
endfunction()

function(thaw_tests name)
  cmake_parse_arguments(ARG "TORCH" "" "ROOMS" ${ARGN})
  file(GLOB sources CONFIGURE_DEPENDS "${CMAKE_CURRENT_SOURCE_DIR}/*.cpp")
  thaw_program(${name}_tests SOURCES ${sources} ROOMS ${ARG_ROOMS})
  target_link_libraries(${name}_tests PRIVATE GTest::gtest GTest::gmock GTest::gtest_main)
  target_include_directories(${name}_tests PRIVATE "${PROJECT_SOURCE_DIR}/tests")
  if(ARG_TORCH)
    thaw_precompile(${name}_tests thaw_torch_test_headers)
  else()
    thaw_precompile(${name}_tests thaw_test_headers)
  endif()
  add_test(NAME ${name} COMMAND ${name}_tests)
endfunction()

function(thaw_benchmarks name)
  cmake_parse_arguments(ARG "TORCH" "" "ROOMS" ${ARGN})
  file(GLOB sources CONFIGURE_DEPENDS "${CMAKE_CURRENT_SOURCE_DIR}/*.cpp")
  find_package(benchmark REQUIRED)
  thaw_program(${name}_bench SOURCES ${sources} ROOMS ${ARG_ROOMS})
  target_link_libraries(${name}_bench PRIVATE benchmark::benchmark benchmark::benchmark_main)
  if(ARG_TORCH)
    thaw_precompile(${name}_bench thaw_torch_headers)
  endif()
  set_target_properties(${name}_bench PROPERTIES EXCLUDE_FROM_ALL ON)
  if(NOT TARGET benchmarks)
    add_custom_target(benchmarks)
  endif()
  add_dependencies(benchmarks ${name}_bench)
endfunction()
