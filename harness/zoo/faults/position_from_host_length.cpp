// SPDX-License-Identifier: Apache-2.0
//
// Follows huggingface/transformers#28937.
//
// The model makes the positions of a step itself, from a length that it knows on the host, instead
// of taking them as an input. A capture freezes them: every replayed token is rotated, and masked,
// as the one of the capture.

#include <ATen/ops/full.h>

#include <vector>

#include "zoo/parts.h"

namespace thaw::zoo {
namespace {

class PositionFromHostLength final : public TagDecoder {
 public:
  PositionFromHostLength(const DecoderSpec& decoder, const CacheSpec& cache)
      : TagDecoder(decoder, cache),
        positions_(at::full({cache.rows}, -1, integers_on_device(cache))) {}

  void step(KvCache& cache, const StepInputs& inputs, int64_t places, int64_t q_len) override {
    write_as_arguments(positions_, static_cast<PlanKeepingCache&>(cache).plan().positions);
    StepInputs made = inputs;
    made.positions = positions_;
    TagDecoder::step(cache, made, places, q_len);
  }

  std::vector<Buffer> buffers() const override {
    std::vector<Buffer> buffers = TagDecoder::buffers();
    buffers.push_back({"positions", Role::position, -1, positions_});
    return buffers;
  }

 private:
  at::Tensor positions_;
};

}  // namespace

Registry::MakeSubject position_from_host_length() {
  return made_of<PlanKeepingCache, PositionFromHostLength>();
}

}  // namespace thaw::zoo
