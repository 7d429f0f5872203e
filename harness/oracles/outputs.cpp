// SPDX-License-Identifier: Apache-2.0
//
// Oracle *outputs*.
//
// Verifies, for every accepted token of every step that commits, that the step's output is bit for
// bit the reference's: with the tag decoder the sum over the entries of its row up to itself, with
// the llama decoder what an eager twin computes at the same plan, which in turn agrees with plain
// loops. Also, after every step and op, that what the caller holds of an earlier step is what that
// step returned. Does not look at padded places, refused tokens and warm-ups: their outputs are
// nobody's.

#include <algorithm>
#include <cstring>
#include <utility>

#include "oracles/oracle.h"

namespace thaw {
namespace {

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
    for (int64_t part = 0; part < output.size(0); ++part) {
      for (int64_t place = 0; place < moment.plan->places(); ++place) {
        if (!place_is_right(moment, output, numbers, part, place, findings)) return;
      }
    }
    if (auto other = moment.reference.disagreement()) {
      findings.add({.kind = FindingKind::outputs,
                    .op = moment.op_number,
                    .step = moment.step,
                    .place = std::move(other->place),
                    .expected = std::move(other->expected),
                    .found = std::move(other->found)});
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

  /// Compares all accepted tokens of one place in one part; false if there was a finding.
  static bool place_is_right(const Moment& moment, const at::Tensor& output,
                             std::span<const float> numbers, int64_t part, int64_t place,
                             Findings& findings) {
    const int64_t row = moment.plan->rows[static_cast<size_t>(place)];
    if (row < 0) return true;
    const int64_t position = moment.plan->positions[static_cast<size_t>(place)];
    const int64_t accepted = moment.ledger.accepted_end(position, moment.plan->q_len) - position;
    const int64_t heads = output.size(2), q_len = output.size(3), dim = output.size(4);
    for (int64_t head = 0; head < heads; ++head) {
      for (int64_t i = 0; i < accepted; ++i) {
        const int64_t token = (part * output.size(1) + place) * heads * q_len + head * q_len + i;
        const auto found =
            numbers.subspan(static_cast<size_t>(token * dim), static_cast<size_t>(dim));
        const OutputName name{.part = part, .row = row, .head = head, .position = position + i};
        const auto expected = moment.reference.output(name);
        if (std::memcmp(found.data(), expected.data(), expected.size_bytes()) == 0) continue;
        findings.add({.kind = FindingKind::outputs,
                      .op = moment.op_number,
                      .step = moment.step,
                      .place = moment.reference.describe(name),
                      .expected = moment.reference.describe_output(name, expected),
                      .found = moment.reference.describe_output(name, found)});
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
