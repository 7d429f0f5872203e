// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>
#include <string>
#include <vector>

namespace thaw {

/// Standard input, where a command takes files.
constexpr const char* standard_input = "-";

/// The text of a file, or of standard input for `-`, at most `bytes_max` of it and one byte more:
/// who reads the text says what is too large. Throws BadInput, naming the file.
std::string read_input(const std::string& file, size_t bytes_max = size_t{1} << 32);

/// The name of an input in messages: the file's own, "stdin" for `-`.
std::string shown_name(const std::string& file);

/// The case files that a path means: itself, or all *.kv below a folder, sorted. Throws BadInput if
/// there is nothing at the path, or no case in the folder.
std::vector<std::string> case_files(const std::string& path);

}  // namespace thaw
