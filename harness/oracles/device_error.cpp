// SPDX-License-Identifier: Apache-2.0
//
// Oracles *refusal* and *error*.
//
// Verify that the device accepted every capture, and that no op failed outside one. Do not verify
// that an accepted capture recorded the whole step; the slots and outputs oracles see that.

#include "oracles/oracle.h"

namespace thaw {
namespace {

class DeviceErrorOracle final : public Oracle {
 public:
  explicit DeviceErrorOracle(bool of_captures) : of_captures_(of_captures) {}

  std::string_view name() const override { return of_captures_ ? "refusal" : "error"; }

  void after(const Moment& moment, Findings& findings) override {
    if (!moment.failure || moment.failure->in_capture != of_captures_) return;
    const Failure& failure = *moment.failure;
    findings.add({.kind = failure.in_capture ? FindingKind::refusal : FindingKind::error,
                  .op = moment.op_number,
                  .step = moment.step,
                  .place = failure.in_capture ? "graph " + moment.op.graph : "",
                  .expected = failure.in_capture ? "a capture" : "no error",
                  .found = failure.text,
                  .code = failure.code});
  }

 private:
  bool of_captures_;
};

}  // namespace

std::unique_ptr<Oracle> make_error_oracle() { return std::make_unique<DeviceErrorOracle>(false); }
std::unique_ptr<Oracle> make_refusal_oracle() { return std::make_unique<DeviceErrorOracle>(true); }

}  // namespace thaw
