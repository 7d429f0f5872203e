// SPDX-License-Identifier: Apache-2.0
//
// compare_verdicts FIRST SECOND: two documents of `thaw run --json` over the same cases. Exit
// status: 0 nothing differs, 1 something does, 2 the documents cannot be compared.

#include <fmt/format.h>

#include <cstdio>
#include <fstream>

#include "gpu/compare/compare.h"

int main(int argc, char** argv) {
  if (argc != 3) {
    fmt::print(stderr, "compare_verdicts: name two documents of 'thaw run --json'\n");
    return 2;
  }
  try {
    nlohmann::ordered_json documents[2];
    for (int i = 0; i < 2; ++i) {
      std::ifstream file(argv[i + 1]);
      if (!file) throw thaw::NotComparable(fmt::format("{} cannot be read", argv[i + 1]));
      documents[i] = nlohmann::ordered_json::parse(file);
    }
    const thaw::Comparison found = thaw::compare_verdicts(documents[0], documents[1]);
    fmt::print("{} cases, {} runs: {} the same, {} differ\n", found.cases, found.runs, found.same,
               found.differences.size());
    for (const std::string& difference : found.differences) fmt::print("differs: {}\n", difference);
    for (const auto& [because, count] : found.unseen) {
      fmt::print("not compared ({} runs): {}\n", count, because);
    }
    return found.differences.empty() ? 0 : 1;
  } catch (const std::exception& e) {
    fmt::print(stderr, "compare_verdicts: {}\n", e.what());
    return 2;
  }
}
