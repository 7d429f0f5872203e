// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "oracles/finding.h"
#include "oracles/moment.h"

namespace thaw {

/// A judge of one property, asked after every step and every op. One oracle lives through one case.
class Oracle {
 public:
  virtual ~Oracle() = default;

  virtual std::string_view name() const = 0;
  /// Why this oracle cannot judge here: what the device or the cache does not tell. Empty: it can.
  virtual std::optional<std::string> not_covered(const Subject& subject) const;
  /// Before the first op.
  virtual void begin(const Subject& subject) {}
  /// Before a step runs, after the caller's refill.
  virtual void before_step(const Moment& moment) {}
  virtual void after(const Moment& moment, Findings& findings) = 0;
};

/// Name and one sentence each, for `thaw list oracles`.
struct OracleRow {
  std::string_view name;
  std::string_view verifies;
  std::string_view does_not_verify;
};
std::vector<OracleRow> oracle_rows();

/// One of each: error, refusal, liveness, addresses, purity, slots, length, outputs.
std::vector<std::unique_ptr<Oracle>> make_oracles();

std::unique_ptr<Oracle> make_error_oracle();
std::unique_ptr<Oracle> make_refusal_oracle();
std::unique_ptr<Oracle> make_liveness_oracle();
std::unique_ptr<Oracle> make_addresses_oracle();
std::unique_ptr<Oracle> make_purity_oracle();
std::unique_ptr<Oracle> make_slots_oracle();
std::unique_ptr<Oracle> make_length_oracle();
std::unique_ptr<Oracle> make_outputs_oracle();

}  // namespace thaw
