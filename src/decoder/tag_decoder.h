// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <vector>

#include "decoder/decoder.h"

namespace thaw {

/// The decoder whose results are exact: the entries that it writes are tags (see tag.h), computed
/// on the device from its inputs, and its output is the sum of key + 2 * value over the entries
/// that are visible to each token (see kernels/operators.h). So an entry in a wrong slot, a stale
/// position and a frozen mask each show as a wrong number.
///
/// Per layer: tag_, the cache's update, visible_sum_ over what update returned. With
/// CacheSpec::kernels the cache's choice of kernels is the decoder's too.
class TagDecoder : public Decoder {
 public:
  /// Allocates all that steps need, for at most spec.rows places of spec.q_len_max tokens. Throws
  /// std::invalid_argument unless: there are layers, all alike, for one pair of buffers serves them
  /// all; keys and values have the same dimension, for they are summed, and at least twelve
  /// elements, for that is a tag; rows and layers are at most 16 and the kv heads too, for each is
  /// a digit; the query heads are a multiple of the kv heads.
  TagDecoder(const DecoderSpec& decoder, const CacheSpec& cache);

  /// Throws std::invalid_argument if places or q_len exceed what was allocated.
  void step(KvCache& cache, const StepInputs& inputs, int64_t places, int64_t q_len) override;
  at::Tensor output(int64_t places, int64_t q_len) const override;
  std::vector<Buffer> buffers() const override;

 protected:
  /// The entries of one layer's new tokens.
  virtual void make_entries(const at::Tensor& keys, const at::Tensor& values,
                            const at::Tensor& rows, const at::Tensor& positions,
                            const at::Tensor& generation, int64_t layer);
  /// The output of one layer, from what the cache's update returned.
  virtual void attend(const at::Tensor& output, const KeysValues& seen, const at::Tensor& rows,
                      const at::Tensor& positions);

 private:
  /// The buffers as a step of one shape sees them; made once, since making views costs as much as
  /// the step.
  struct Views {
    int64_t places, q_len;
    at::Tensor new_keys, new_values, output;
    std::vector<at::Tensor> layer_outputs;
  };
  const Views& views(int64_t places, int64_t q_len) const;

  CacheSpec spec_;
  int64_t heads_;
  at::Tensor new_keys_, new_values_, output_;  ///< flat
  mutable std::vector<Views> views_;
};

}  // namespace thaw
