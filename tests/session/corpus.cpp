// SPDX-License-Identifier: Apache-2.0
#include "session/corpus.h"

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iterator>

#include "case/case_text.h"
#include "ledger/validate.h"

namespace thaw {

std::string corpus_text(const std::string& file) {
  std::ifstream in(std::filesystem::path(THAW_CORPUS) / file, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}

std::vector<CorpusCase> corpus_cases(const std::string& folder) {
  namespace fs = std::filesystem;
  std::vector<CorpusCase> cases;
  for (const auto& entry : fs::recursive_directory_iterator(fs::path(THAW_CORPUS) / folder)) {
    if (entry.path().extension() != ".kv") continue;
    const std::string file = entry.path().filename().string();
    cases.push_back({file, parse_case(corpus_text(fs::relative(entry.path(), THAW_CORPUS)), file)});
    validate_case(cases.back().value, file);
  }
  std::sort(cases.begin(), cases.end(),
            [](const CorpusCase& a, const CorpusCase& b) { return a.file < b.file; });
  return cases;
}

}  // namespace thaw
