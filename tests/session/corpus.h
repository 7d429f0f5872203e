// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "case/case.h"

namespace thaw {

/// A file of the corpus, whole; `file` is its path below the corpus.
std::string corpus_text(const std::string& file);

struct CorpusCase {
  std::string file;
  Case value;
};

/// Every case below a folder of the corpus, valid and in order of its name.
std::vector<CorpusCase> corpus_cases(const std::string& folder);

}  // namespace thaw
