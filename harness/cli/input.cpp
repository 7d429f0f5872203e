// SPDX-License-Identifier: Apache-2.0
#include "cli/input.h"

#include <fmt/format.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <memory>
#include <system_error>

#include "cli/command.h"

namespace thaw {
namespace {

namespace fs = std::filesystem;

struct Close {
  void operator()(std::FILE* file) const { std::fclose(file); }
};

[[noreturn]] void cannot_read(const std::string& file, int error) {
  throw BadInput(
      fmt::format("{}: cannot be read: {}; name a case file, a folder, or - for standard "
                  "input",
                  shown_name(file), std::strerror(error)));
}

std::string read_all(std::FILE* from, const std::string& file, size_t bytes_max) {
  std::string text;
  char chunk[1 << 16];
  while (text.size() <= bytes_max) {
    const size_t wanted = std::min(sizeof chunk, bytes_max + 1 - text.size());
    const size_t count = std::fread(chunk, 1, wanted, from);
    text.append(chunk, count);
    if (count < wanted) break;
  }
  if (std::ferror(from) != 0) cannot_read(file, errno);
  return text;
}

}  // namespace

std::string shown_name(const std::string& file) { return file == standard_input ? "stdin" : file; }

std::string read_input(const std::string& file, size_t bytes_max) {
  if (file == standard_input) return read_all(stdin, file, bytes_max);
  const std::unique_ptr<std::FILE, Close> opened(std::fopen(file.c_str(), "rb"));
  if (opened == nullptr) cannot_read(file, errno);
  return read_all(opened.get(), file, bytes_max);
}

std::vector<std::string> case_files(const std::string& path) {
  std::error_code error;
  if (path == standard_input || !fs::is_directory(path, error)) return {path};
  std::vector<std::string> files;
  for (auto entry = fs::recursive_directory_iterator(path, error);
       !error && entry != fs::recursive_directory_iterator(); entry.increment(error)) {
    if (entry->path().extension() == ".kv" && !entry->is_directory()) {
      files.push_back(entry->path().lexically_normal().string());
    }
  }
  if (error) throw BadInput(fmt::format("{}: cannot be read: {}", path, error.message()));
  if (files.empty()) {
    throw BadInput(fmt::format("{}: no cases in this folder; cases are files named *.kv", path));
  }
  std::sort(files.begin(), files.end());
  return files;
}

}  // namespace thaw
