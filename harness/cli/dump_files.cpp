// SPDX-License-Identifier: Apache-2.0
#include "cli/dump_files.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <fstream>

#include "cli/command.h"
#include "cli/input.h"

namespace thaw {
namespace {

namespace fs = std::filesystem;

std::string with(std::string text, char from, char to) {
  std::replace(text.begin(), text.end(), from, to);
  return text;
}

/// "corpus/zoo/a.kv" as "corpus_zoo_a".
std::string case_name(const std::string& file) {
  if (file == standard_input) return "case";
  const fs::path path = fs::path(file).lexically_normal().relative_path();
  return with(fs::path(path).replace_extension().string(), '/', '_');
}

void write(const fs::path& file, const std::string& text) {
  std::ofstream out(file, std::ios::binary);
  out << text;
  out.close();
  if (!out) {
    throw BadInput(
        fmt::format("--dump-graphs: {} cannot be written; name a folder in which files "
                    "can be made",
                    file.string()));
  }
}

}  // namespace

void write_graph_dumps(const std::string& folder, const std::string& case_file,
                       const CaseResult& result, const GraphDumps& dumps) {
  std::error_code ignored;  // files that cannot be written tell
  fs::create_directories(folder, ignored);
  for (const GraphDumps::Dump& dump : dumps.dumps()) {
    const std::string cache = with(result.runs.at(dump.run).verdict.cache, ':', '_');
    const std::string name =
        fmt::format("{}.{}.{}-{}", case_name(case_file), cache, dump.op, dump.graph);
    write(fs::path(folder) / (name + ".txt"), dump.text);
    write(fs::path(folder) / (name + ".dot"), dump.dot);
  }
}

}  // namespace thaw
