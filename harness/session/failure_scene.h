// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "oracles/oracle.h"
#include "reference/entry_name.h"

namespace thaw {

/// An onlooker that notes, for a report, what the ledger said after each op, and the slots of the
/// first row whose contents went wrong. Objects to nothing.
class FailureScene final : public Oracle {
 public:
  /// The ledger after an op.
  struct AfterOp {
    std::vector<int64_t> lengths;       ///< per row
    std::vector<RowState> states;       ///< per row
    std::vector<std::string> accepted;  ///< what its steps put where: "row 0: 5 to 7"
  };
  /// One slot of the picture, by the position that lies in it.
  struct Slot {
    int64_t position = 0;
    bool right = true;
    std::string expected;  ///< "5"; "." where nobody owns the slot; see cell_text
    std::string found;
  };
  /// The slots of one row, layer, head and role at the moment when contents first were wrong.
  struct Picture {
    EntryName first;  ///< the first entry that is not as it must be
    int64_t op = 0;
    int64_t step = 0;
    std::vector<Slot> slots;
    std::string expected;  ///< of the first entry, in a sentence
    std::string found;
  };

  std::string_view name() const override { return "failure scene"; }
  void after(const Moment& moment, Findings& findings) override;

  const std::vector<AfterOp>& ops() const { return ops_; }
  const std::optional<Picture>& picture() const { return picture_; }

 private:
  void note_ledger(const Moment& moment);
  void draw(const Moment& moment);

  std::vector<AfterOp> ops_;
  std::optional<Picture> picture_;
};

}  // namespace thaw
