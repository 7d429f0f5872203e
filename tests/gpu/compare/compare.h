// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <map>
#include <nlohmann/json.hpp>
#include <stdexcept>
#include <string>
#include <vector>

namespace thaw {

/// What two devices said of the same cases.
struct Comparison {
  int64_t cases = 0;
  int64_t runs = 0;                       ///< a case on one cache
  int64_t same = 0;                       ///< runs with the same findings, or clean on both
  std::vector<std::string> differences;   ///< one line each
  std::map<std::string, int64_t> unseen;  ///< why something was not compared, and how often
};

/// A document is not what `thaw run --json` writes, or the two are of other cases.
class NotComparable : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

/// Compares two documents of `thaw run --json` over the same cases. A finding is the same if kind,
/// op, step and error number are; texts may differ. Kinds that one of the devices does not cover in
/// a run are left out, and so are runs that one of them could not judge; `unseen` counts both.
/// Throws NotComparable.
Comparison compare_verdicts(const nlohmann::ordered_json& first,
                            const nlohmann::ordered_json& second);

}  // namespace thaw
