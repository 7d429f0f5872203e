// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>

#include "cache/step_plan.h"
#include "case/case.h"
#include "ledger/ledger.h"
#include "reference/entry_name.h"

namespace thaw {

/// One accepted token in one part of a decoder's output (see Decoder::output).
struct OutputName {
  int64_t part = 0, row = 0, head = 0, position = 0;
};

/// What a decoder must have written and put out. Follows the ledger through one case; knows nothing
/// of the subject but the shape of its cache. Oracles compare with it.
class Reference {
 public:
  virtual ~Reference() = default;

  /// A step ran with this plan. `commits`: its entries are in the ledger now; else it was a
  /// warm-up. `number` is the op's.
  virtual void step(const Ledger& ledger, const StepPlan& plan, int64_t number, bool commits) = 0;
  /// Rows moved, were cut or went idle; the ledger says how it is now.
  virtual void follow(const Ledger& ledger) = 0;

  /// Writes an entry that is in the ledger: place.dim elements, place.stride bytes apart from `to`
  /// on. Of one token keys come before values, and positions in ascending order.
  virtual void put_entry(const EntryName& entry, const Provenance& provenance, at::ScalarType dtype,
                         const Place& place, std::byte* to) = 0;

  /// What the last committed step must have put out for a token that it accepted.
  virtual std::span<const float> output(const OutputName& name) const = 0;

  /// What these elements are: "row 0, position 5, written by op 2 (key, layer 0, head 0)".
  virtual std::string describe_entry(std::span<const float> entry) const = 0;
  /// "layer 0, row 1, query head 0, position 7"
  virtual std::string describe(const OutputName& name) const = 0;
  /// What an output is, where `name` belongs: "the sum over positions 0 to 7".
  virtual std::string describe_output(const OutputName& name,
                                      std::span<const float> output) const = 0;

  /// Where the last step's reference itself is farther than its tolerance from another way to
  /// compute it.
  struct Disagreement {
    std::string place, expected, found;
  };
  virtual std::optional<Disagreement> disagreement() const { return {}; }
  /// What comparisons rest on, for a verdict; empty where they are exact.
  virtual std::string comparison() const { return {}; }
};

/// The reference of the decoder that a case asks for. `device` is where the subject runs; `ledger`
/// is the one that the calls below are given, and must outlive it.
std::unique_ptr<Reference> make_reference(const Settings& settings, const CacheSpec& cache,
                                          c10::Device device, const Ledger& ledger);

}  // namespace thaw
