// SPDX-License-Identifier: Apache-2.0
//
// Follows InfiniTensor/InfiniLM#540, where a layer handed on the result of an asynchronous
// operation without waiting for it.
//
// The entries of a step are written on a second stream, beside the computation, which is joined at
// the end of the step: soon enough for the next step, and for the capture to be accepted, but too
// late for the attention of this step, which nothing orders after the write.

#include "zoo/parts.h"
#include "zoo/side_stream.h"

namespace thaw::zoo {
namespace {

class AsyncResultNotAwaited final : public StaticCache {
 public:
  explicit AsyncResultNotAwaited(const CacheSpec& spec) : StaticCache(spec), side_(spec.device) {}

  KeysValues update(int64_t layer, const at::Tensor& keys, const at::Tensor& values) override {
    KeysValues seen;
    side_.fork([&] { seen = StaticCache::update(layer, keys, values); });
    return seen;
  }

  void end_step() override { side_.join(); }

 private:
  SideStream side_;
};

}  // namespace

Registry::MakeSubject async_result_not_awaited() { return made_of<AsyncResultNotAwaited>(); }

}  // namespace thaw::zoo
