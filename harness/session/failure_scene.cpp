// SPDX-License-Identifier: Apache-2.0
#include "session/failure_scene.h"

#include <fmt/format.h>

#include <algorithm>

#include "decoder/tag.h"

namespace thaw {
namespace {

constexpr size_t mismatches_looked_at = 4096;

/// An entry in at most six characters: the position in its tag, with the row where that is another
/// ("r1:5"), "." for a slot that nobody wrote, "?" for what is no tag.
std::string cell_text(const std::vector<float>& entry, int64_t row) {
  if (!entry.empty() && std::all_of(entry.begin(), entry.end(),
                                    [](float element) { return element == unowned_slot; })) {
    return ".";
  }
  const auto tag = Tag::parse(entry);
  if (!tag) return "?";
  return tag->row == row ? fmt::format("{}", tag->position)
                         : fmt::format("r{}:{}", tag->row, tag->position);
}

bool same_row(const EntryName& a, const EntryName& b) {
  return a.layer == b.layer && a.row == b.row && a.head == b.head && a.role == b.role;
}

}  // namespace

void FailureScene::after(const Moment& moment, Findings& /*findings*/) {
  note_ledger(moment);
  if (!moment.contents_match && !picture_) draw(moment);
}

void FailureScene::note_ledger(const Moment& moment) {
  ops_.resize(static_cast<size_t>(moment.op_number));
  AfterOp& after = ops_.back();
  after.lengths.clear();
  after.states.clear();
  for (int64_t row = 0; row < moment.ledger.rows(); ++row) {
    after.lengths.push_back(moment.ledger.length(row));
    after.states.push_back(moment.ledger.state().rows[static_cast<size_t>(row)].state);
  }
  if (moment.plan == nullptr || !moment.committed) return;
  // Where nobody looks between the steps of an op, the plan is that of its last one (R18).
  const int64_t steps_before = moment.step == 0 ? moment.op.times - 1 : 0;
  for (size_t place = 0; place < moment.plan->rows.size(); ++place) {
    const int64_t row = moment.plan->rows[place];
    if (row < 0) continue;
    const int64_t from =
        std::max<int64_t>(moment.plan->positions[place] - steps_before * moment.plan->q_len, 0);
    const int64_t to = moment.ledger.accepted_end(from, moment.plan->q_len) - 1;
    std::string text = fmt::format("row {}: ", row);
    // Steps of one op go on where the one before ended.
    const auto earlier =
        std::find_if(after.accepted.begin(), after.accepted.end(),
                     [&](const std::string& line) { return line.starts_with(text); });
    const std::string first =
        earlier == after.accepted.end()
            ? fmt::format("{}", from)
            : earlier->substr(text.size(), earlier->find(' ', text.size()) - text.size());
    if (to < from) continue;
    text += first == fmt::format("{}", to) ? first : fmt::format("{} to {}", first, to);
    if (earlier == after.accepted.end()) {
      after.accepted.push_back(std::move(text));
    } else {
      *earlier = std::move(text);
    }
  }
}

void FailureScene::draw(const Moment& moment) {
  const auto mismatches = moment.image.mismatches(moment.device(), moment.cache_buffers,
                                                  moment.ledger, mismatches_looked_at);
  if (mismatches.empty()) return;
  Picture picture;
  picture.first = mismatches.front().entry;
  picture.op = moment.op_number;
  picture.step = moment.step;
  picture.expected = moment.reference.describe_entry(mismatches.front().expected);
  picture.found = moment.reference.describe_entry(mismatches.front().found);
  const int64_t row = picture.first.row;
  const int64_t length = moment.ledger.length(row);
  const int64_t first = moment.ledger.first_kept(row);
  for (int64_t position = first; position < first + moment.ledger.slots(); ++position) {
    const std::string right = position < length ? fmt::format("{}", position) : ".";
    picture.slots.push_back({position, true, right, right});
  }
  for (const auto& mismatch : mismatches) {
    if (!same_row(mismatch.entry, picture.first)) continue;
    const int64_t index = mismatch.entry.position - first;
    if (index < 0 || index >= static_cast<int64_t>(picture.slots.size())) continue;
    Slot& slot = picture.slots[static_cast<size_t>(index)];
    slot.right = false;
    slot.found = cell_text(mismatch.found, row);
  }
  picture_ = std::move(picture);
}

}  // namespace thaw
