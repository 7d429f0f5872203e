// SPDX-License-Identifier: Apache-2.0
//
// Follows huggingface/transformers#30775.
//
// The table of the rotation is made by the first step that needs it. When that is the captured
// one, the table lies in the memory of the graph, nothing has computed it yet, and eager steps
// already read it.
//
// Here the table says for each position what the tag says for it: the position.

#include <ATen/ops/arange.h>
#include <ATen/ops/clamp.h>
#include <ATen/ops/index_select.h>

#include <vector>

#include "zoo/parts.h"

namespace thaw::zoo {
namespace {

class RotaryTableMadeInCapture final : public TagDecoder {
 public:
  RotaryTableMadeInCapture(const DecoderSpec& decoder, const CacheSpec& cache)
      : TagDecoder(decoder, cache), slots_(cache.slots), options_(integers_on_device(cache)) {}

  std::vector<Buffer> buffers() const override {
    std::vector<Buffer> buffers = TagDecoder::buffers();
    if (table_.defined()) buffers.push_back({"rotary table", Role::table, -1, table_});
    return buffers;
  }

 protected:
  void make_entries(const at::Tensor& keys, const at::Tensor& values, const at::Tensor& rows,
                    const at::Tensor& positions, const at::Tensor& generation,
                    int64_t layer) override {
    if (!table_.defined()) table_ = at::arange(slots_, options_);
    const at::Tensor index = at::clamp(positions, 0, slots_ - 1);
    TagDecoder::make_entries(keys, values, rows, at::index_select(table_, 0, index), generation,
                             layer);
  }

 private:
  int64_t slots_;
  at::TensorOptions options_;
  at::Tensor table_;
};

}  // namespace

Registry::MakeSubject rotary_table_made_in_capture() {
  return with_decoder<RotaryTableMadeInCapture>();
}

}  // namespace thaw::zoo
