// SPDX-License-Identifier: Apache-2.0
//
// Oracle *outputs*, for the tag decoder.
//
// Verifies, for every accepted token of every step that commits, that the step's output is exactly
// the sum over the entries of its row up to itself, as far as its window reaches, and, after every
// step and op, that what the caller holds of an earlier step is what that step returned. Does not
// look at padded places, refused tokens and warm-ups: their outputs are nobody's.

#include <fmt/format.h>

#include <algorithm>
#include <cstring>

#include "oracles/oracle.h"

namespace thaw {
namespace {

std::string describe_sum(int64_t from, int64_t to) {
  if (from == to) return "0, no position is visible";
  return fmt::format("the sum over positions {} to {}", from, to - 1);
}

/// Which of the sums that some token of the row sees this is, if it is one: a frozen mask shows as
/// too short a one.
std::string explain_sum(const Moment& moment, int64_t layer, int64_t row, int64_t head,
                        std::span<const float> found) {
  const Ledger& ledger = moment.ledger;
  for (int64_t position = ledger.first_kept(row); position < ledger.length(row); ++position) {
    const int64_t from = std::max(ledger.first_kept(row), ledger.first_seen(position, 1, 0));
    const auto sum = moment.image.sum_over(ledger, layer, row, head, from, position + 1);
    if (std::equal(sum.begin(), sum.end(), found.begin())) return describe_sum(from, position + 1);
  }
  return fmt::format("{}, ...: no sum of its row's entries",
                     fmt::join(found.begin(), found.begin() + 3, ", "));
}

class OutputsOracle final : public Oracle {
 public:
  std::string_view name() const override { return "outputs"; }

  void before_step(const Moment& moment) override {
    if (moment.op.kind == OpKind::hold) held_ = bytes_of(moment, moment.subject.returned());
  }

  void after(const Moment& moment, Findings& findings) override {
    if (findings.has(FindingKind::outputs)) return;
    if (!held_.empty() && !held_is_unchanged(moment, findings)) return;
    if (!moment.committed) return;
    std::vector<std::byte> scratch;
    const at::Tensor output = moment.subject.output();
    const auto bytes = moment.device().read(output, scratch);
    const std::span numbers(reinterpret_cast<const float*>(bytes.data()),
                            bytes.size() / sizeof(float));
    for (int64_t layer = 0; layer < output.size(0); ++layer) {
      for (int64_t place = 0; place < moment.plan->places(); ++place) {
        if (!place_is_right(moment, output, numbers, layer, place, findings)) return;
      }
    }
  }

 private:
  static std::vector<std::byte> bytes_of(const Moment& moment, const at::Tensor& tensor) {
    std::vector<std::byte> scratch;
    const auto bytes = moment.device().read(tensor, scratch);
    return {bytes.begin(), bytes.end()};
  }

  bool held_is_unchanged(const Moment& moment, Findings& findings) const {
    const at::Tensor& held = moment.subject.held();
    if (held.defined() && bytes_of(moment, held) == held_) return true;
    findings.add({.kind = FindingKind::outputs,
                  .op = moment.op_number,
                  .step = moment.step,
                  .place = "the output that the caller holds",
                  .expected = "as the step returned it",
                  .found = held.defined() ? "other values" : "nothing"});
    return false;
  }

  /// Compares all accepted tokens of one place in one layer; false if there was a finding.
  static bool place_is_right(const Moment& moment, const at::Tensor& output,
                             std::span<const float> numbers, int64_t layer, int64_t place,
                             Findings& findings) {
    const int64_t row = moment.plan->rows[static_cast<size_t>(place)];
    if (row < 0) return true;
    const int64_t position = moment.plan->positions[static_cast<size_t>(place)];
    const int64_t accepted = moment.ledger.accepted_end(position, moment.plan->q_len) - position;
    const int64_t heads = output.size(2), q_len = output.size(3), dim = output.size(4);
    const int64_t group = heads / moment.settings.kv_heads;
    for (int64_t head = 0; head < heads; ++head) {
      for (int64_t i = 0; i < accepted; ++i) {
        const int64_t token = (layer * output.size(1) + place) * heads * q_len + head * q_len + i;
        const auto found =
            numbers.subspan(static_cast<size_t>(token * dim), static_cast<size_t>(dim));
        const int64_t from = moment.ledger.first_seen(position, moment.plan->q_len, i);
        const int64_t to = position + i + 1;
        const auto expected =
            moment.image.sum_over(moment.ledger, layer, row, head / group, from, to);
        if (std::memcmp(found.data(), expected.data(), expected.size_bytes()) == 0) continue;
        findings.add({.kind = FindingKind::outputs,
                      .op = moment.op_number,
                      .step = moment.step,
                      .place = fmt::format("layer {}, row {}, query head {}, position {}", layer,
                                           row, head, position + i),
                      .expected = describe_sum(from, to),
                      .found = explain_sum(moment, layer, row, head / group, found)});
        return false;
      }
    }
    return true;
  }

  std::vector<std::byte> held_;  ///< what the step returned that the caller holds; empty: nothing
};

}  // namespace

std::unique_ptr<Oracle> make_outputs_oracle() { return std::make_unique<OutputsOracle>(); }

}  // namespace thaw
