// SPDX-License-Identifier: Apache-2.0
#include "oracles/oracle.h"

namespace thaw {

std::optional<std::string> Oracle::not_covered(const Subject& /*subject*/) const { return {}; }

bool commits_nothing(OpKind kind) {
  switch (kind) {
    case OpKind::warmup:
    case OpKind::capture:
    case OpKind::drop:
    case OpKind::park:
    case OpKind::unpark:
    case OpKind::hold:
    case OpKind::churn:
    case OpKind::reseed:
    case OpKind::fail:
      return true;
    default:
      return false;
  }
}

std::vector<OracleRow> oracle_rows() {
  return {
      {"error", "no kernel failed and nothing threw outside a capture",
       "errors that a device keeps to itself"},
      {"refusal", "the device accepted every capture",
       "whether the capture recorded the whole step"},
      {"liveness", "no graph refers to memory that was freed, or freed and handed out anew",
       "memory that a kernel reaches through pointers stored in device memory"},
      {"addresses", "every buffer that a graph uses still is the one its owner uses by that name",
       "buffers that their owner does not name"},
      {"purity",
       "ops that commit nothing leave entries, lengths and inputs; constants never change",
       "scratch memory, which may change at any time"},
      {"slots", "every slot holds, bit for bit, the entry that the ledger says, or nothing",
       "bytes that belong to no slot"},
      {"length", "write positions and the count of refused entries agree with the ledger",
       "rows that took no part in the last step"},
      {"outputs",
       "each accepted token saw exactly the entries of its row up to itself; what the caller keeps "
       "of a step stays as it was",
       "padded places, refused tokens and warm-ups, whose outputs are nobody's"},
  };
}

std::vector<std::unique_ptr<Oracle>> make_oracles() {
  std::vector<std::unique_ptr<Oracle>> oracles;
  oracles.push_back(make_error_oracle());
  oracles.push_back(make_refusal_oracle());
  oracles.push_back(make_liveness_oracle());
  oracles.push_back(make_addresses_oracle());
  oracles.push_back(make_purity_oracle());
  oracles.push_back(make_slots_oracle());
  oracles.push_back(make_length_oracle());
  oracles.push_back(make_outputs_oracle());
  return oracles;
}

}  // namespace thaw
