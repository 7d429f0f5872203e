// SPDX-License-Identifier: Apache-2.0
//
// Oracle *purity*.
//
// Verifies that an op that commits nothing (warmup, capture, drop, park, unpark, hold, churn,
// reseed, fail) left committed entries, lengths and the caller's inputs as they were, and that no
// op ever changed a constant. Judges lengths as the length oracle does. Does not look at scratch
// memory.

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "oracles/lengths.h"
#include "oracles/oracle.h"

namespace thaw {
namespace {

std::vector<std::byte> copy_of(const Device& device, const at::Tensor& tensor) {
  std::vector<std::byte> scratch;
  const auto bytes = device.read(tensor, scratch);
  return {bytes.begin(), bytes.end()};
}

bool same_bytes(std::span<const std::byte> a, std::span<const std::byte> b) {
  return std::equal(a.begin(), a.end(), b.begin(), b.end());
}

class PurityOracle final : public Oracle {
 public:
  std::string_view name() const override { return "purity"; }

  void begin(const Subject& subject) override {
    for (const auto& buffers : {subject.cache().buffers(), subject.decoder().buffers()}) {
      for (const Buffer& buffer : buffers) {
        if (buffer.role != Role::constant) continue;
        constants_.push_back(
            {buffer.name, buffer.tensor, copy_of(subject.device(), buffer.tensor)});
      }
    }
  }

  void before_step(const Moment& moment) override {
    if (!commits_nothing(moment.op.kind)) return;
    const StepInputs& inputs = moment.subject.inputs();
    for (size_t i = 0; i < inputs_.size(); ++i) {
      inputs_[i] = copy_of(moment.device(), input(inputs, i).second);
    }
  }

  void after(const Moment& moment, Findings& findings) override {
    if (findings.has(FindingKind::purity)) return;
    Finding finding{.kind = FindingKind::purity, .op = moment.op_number, .step = moment.step};
    if (commits_nothing(moment.op.kind) &&
        (entries_changed(moment, finding) || length_moved(moment, finding) ||
         inputs_changed(moment, finding))) {
      findings.add(std::move(finding));
    } else if (constant_changed(moment, finding)) {
      findings.add(std::move(finding));
    }
  }

 private:
  struct Constant {
    std::string name;
    at::Tensor tensor;
    std::vector<std::byte> bytes;
  };

  static std::pair<std::string_view, at::Tensor> input(const StepInputs& inputs, size_t index) {
    switch (index) {
      case 0:
        return {"rows", inputs.rows};
      case 1:
        return {"positions", inputs.positions};
      default:
        return {"generation", inputs.generation};
    }
  }

  static bool entries_changed(const Moment& moment, Finding& finding) {
    if (moment.contents_match) return false;
    const auto mismatches =
        moment.image.mismatches(moment.device(), moment.cache_buffers, moment.ledger, 1);
    if (mismatches.empty() || !mismatches.front().owned) return false;
    finding.place = to_string(mismatches.front().entry);
    finding.expected = moment.reference.describe_entry(mismatches.front().expected);
    finding.found = moment.reference.describe_entry(mismatches.front().found);
    return true;
  }

  static bool length_moved(const Moment& moment, Finding& finding) {
    const auto wrong = find_wrong_length(moment);
    if (!wrong) return false;
    finding.place = fmt::format("row {}", wrong->row);
    finding.expected = fmt::format("length {}, as before", wrong->ledger);
    finding.found = fmt::format("write position {}", wrong->found);
    return true;
  }

  bool inputs_changed(const Moment& moment, Finding& finding) const {
    if (moment.plan == nullptr) return false;
    std::vector<std::byte> scratch;
    for (size_t i = 0; i < inputs_.size(); ++i) {
      const auto [name, tensor] = input(moment.subject.inputs(), i);
      if (same_bytes(moment.device().read(tensor, scratch), inputs_[i])) continue;
      finding.place = fmt::format("the caller's {}", name);
      finding.expected = "as refilled before the step";
      finding.found = "other values";
      return true;
    }
    return false;
  }

  bool constant_changed(const Moment& moment, Finding& finding) const {
    std::vector<std::byte> scratch;
    for (const Constant& constant : constants_) {
      if (same_bytes(moment.device().read(constant.tensor, scratch), constant.bytes)) continue;
      finding.place = constant.name;
      finding.expected = "a constant";
      finding.found = "other values than at the beginning";
      return true;
    }
    return false;
  }

  std::vector<Constant> constants_;
  std::array<std::vector<std::byte>, 3> inputs_;  ///< rows, positions, generation
};

}  // namespace

std::unique_ptr<Oracle> make_purity_oracle() { return std::make_unique<PurityOracle>(); }

}  // namespace thaw
