// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <ATen/core/Tensor.h>

#include <cstddef>
#include <string>
#include <vector>

#include "decoder/llama_decoder.h"
#include "reference/entry_log.h"
#include "reference/plain_llama.h"
#include "reference/reference.h"
#include "reference/twin_cache.h"

namespace thaw {

/// The reference of the llama decoder: an eager twin, which takes every step of the ledger at the
/// same plan, over a cache that holds what the ledger says. Entries and outputs must equal the
/// twin's bit for bit.
///
/// The twin is compared itself, token by token, with loops that share nothing with it, within the
/// tolerance of llama_tolerance.
///
/// Knows caches of the layout linear. Place i must be row i (rule R2).
class LlamaReference final : public Reference {
 public:
  /// `device`: where the subject runs. The simulated device runs LibTorch's CPU kernels, so its
  /// twin needs none of its memory and runs on CPU tensors.
  LlamaReference(const Settings& settings, const CacheSpec& cache, c10::Device device);

  void step(const Ledger& ledger, const StepPlan& plan, int64_t number, bool commits) override;
  void follow(const Ledger& ledger) override;
  void put_entry(const EntryName& entry, const Provenance& provenance, at::ScalarType dtype,
                 const Place& place, std::byte* to) override;
  std::span<const float> output(const OutputName& name) const override;
  std::string describe_entry(std::span<const float> entry) const override;
  std::string describe(const OutputName& name) const override;
  std::string describe_output(const OutputName& name, std::span<const float> output) const override;
  std::optional<Disagreement> disagreement() const override { return disagreement_; }
  std::string comparison() const override;

 private:
  /// What the host knows of a slot of the twin's cache.
  struct Owner {
    bool entry = false;
    Provenance provenance;
  };
  /// The largest difference in one entry or output.
  struct Distance {
    double difference = 0, tolerance = 1;
    int64_t length = 0;
    bool smaller_than(const Distance& other) const {
      return difference / tolerance < other.difference / other.tolerance;
    }
  };

  void run_twin(const StepPlan& plan, int64_t generation);
  void note_entries(int64_t generation, bool commits);
  void compare_with_plain_loops(int64_t generation);
  void compare_token(const TwinCache::Written& of, int64_t token, int64_t generation);
  void note_distance(const Distance& distance, const std::string& place);
  void move_entry(const std::vector<at::Tensor>& from_all, int64_t from, int64_t to,
                  int64_t position);
  std::vector<at::Tensor> copy_of_entries() const;
  /// The entry on the host.
  std::span<const float> elements(const EntryName& entry) const;
  Owner& owner(int64_t row, int64_t position) {
    return owners_[static_cast<size_t>(row * spec_.slots + position)];
  }

  Settings settings_;
  CacheSpec spec_;  ///< of the twin
  TwinCache cache_;
  LlamaDecoder decoder_;
  PlainLlama plain_;
  StepInputs inputs_;
  /// Keys of layer 0, values of layer 0, keys of layer 1 ...: [rows, kv_heads, slots, dim] fp32 on
  /// the host.
  std::vector<at::Tensor> on_host_;
  std::vector<Owner> owners_;  ///< [rows, slots]
  StepPlan plan_;              ///< of the last step
  at::Tensor output_;          ///< of the last step, on the host
  EntryLog log_;
  Distance worst_;  ///< of all so far, in parts of the tolerance
  int64_t tokens_ = 0;
  std::optional<Disagreement> disagreement_;
};

}  // namespace thaw
