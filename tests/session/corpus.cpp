// SPDX-License-Identifier: Apache-2.0
#include "session/corpus.h"

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iterator>

#include "case/case_text.h"
#include "ledger/validate.h"

namespace thaw {

std::vector<CorpusCase> corpus_cases(const std::string& folder) {
  namespace fs = std::filesystem;
  std::vector<CorpusCase> cases;
  for (const auto& entry : fs::recursive_directory_iterator(fs::path(THAW_CORPUS) / folder)) {
    if (entry.path().extension() != ".kv") continue;
    std::ifstream in(entry.path(), std::ios::binary);
    const std::string text(std::istreambuf_iterator<char>(in), {});
    const std::string file = entry.path().filename().string();
    cases.push_back({file, parse_case(text, file)});
    validate_case(cases.back().value, file);
  }
  std::sort(cases.begin(), cases.end(),
            [](const CorpusCase& a, const CorpusCase& b) { return a.file < b.file; });
  return cases;
}

}  // namespace thaw
