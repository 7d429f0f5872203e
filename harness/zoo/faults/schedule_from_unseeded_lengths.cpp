// SPDX-License-Identifier: Apache-2.0
//
// Follows lightseekorg/tokenspeed#840, where it is disputed.
//
// How many keys each row has is worked out when the step is recorded, and put into a table that
// the graph fills by itself. Recorded before there is a prompt, the table says that there is
// nothing to attend to but the first key.

#include <ATen/ops/minimum.h>
#include <ATen/ops/zeros.h>

#include <algorithm>
#include <vector>

#include "zoo/parts.h"

namespace thaw::zoo {
namespace {

class ScheduleFromUnseededLengths final : public TagDecoder {
 public:
  ScheduleFromUnseededLengths(const DecoderSpec& decoder, const CacheSpec& cache)
      : TagDecoder(decoder, cache), last_key_(at::zeros({cache.rows}, integers_on_device(cache))) {}

  void step(KvCache& cache, const StepInputs& inputs, int64_t places, int64_t q_len) override {
    std::vector<int64_t> last = static_cast<PlanKeepingCache&>(cache).plan().positions;
    for (int64_t& position : last) position = std::max<int64_t>(position, 0);
    write_as_arguments(last_key_, last);
    TagDecoder::step(cache, inputs, places, q_len);
  }

  std::vector<Buffer> buffers() const override {
    std::vector<Buffer> buffers = TagDecoder::buffers();
    buffers.push_back({"schedule", Role::table, -1, last_key_});
    return buffers;
  }

 protected:
  void attend(const at::Tensor& output, const KeysValues& seen, const at::Tensor& rows,
              const at::Tensor& positions) override {
    const at::Tensor scheduled = last_key_.narrow(0, 0, positions.size(0));
    TagDecoder::attend(output, seen, rows, at::minimum(positions, scheduled));
  }

 private:
  at::Tensor last_key_;  ///< [rows]: of the first token of a step
};

}  // namespace

Registry::MakeSubject schedule_from_unseeded_lengths() {
  return made_of<PlanKeepingCache, ScheduleFromUnseededLengths>();
}

}  // namespace thaw::zoo
