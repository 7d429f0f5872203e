// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <stdexcept>
#include <string>
#include <string_view>

#include "case/case.h"

namespace thaw {

/// Bad input: "FILE:LINE:COLUMN: what is wrong; what was expected; what to do" (section 6).
class CaseError : public std::runtime_error {
 public:
  CaseError(std::string_view file, SourcePosition position, std::string_view message);
  SourcePosition position() const { return position_; }

 private:
  SourcePosition position_;
};

/// Reads a case: words, bounds and forms, not preconditions (ledger/validate.h checks those).
/// `file` is only for messages. Throws CaseError for the first thing that is wrong.
Case parse_case(std::string_view text, std::string_view file);

/// Normal form (section 7): parse_case(print_case(c)) == c.
std::string print_case(const Case& c);

/// One op as a line of normal form, without comments.
std::string print_op(const Op& op);

/// "slots@3.2", "static clean": what follows `expect`.
std::string print_expect(const Expect& expect);

/// Canonical form (section 7): equal for cases that can only have equal verdicts.
std::string canonical_form(const Case& c);

}  // namespace thaw
