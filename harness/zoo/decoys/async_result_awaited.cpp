// SPDX-License-Identifier: Apache-2.0
//
// The right way to do what zoo:async_result_not_awaited does: the entries of a step are written on
// a second stream, which is joined before anybody reads them.

#include "zoo/parts.h"
#include "zoo/side_stream.h"

namespace thaw::zoo {
namespace {

class AsyncResultAwaited final : public StaticCache {
 public:
  explicit AsyncResultAwaited(const CacheSpec& spec) : StaticCache(spec), side_(spec.device) {}

  KeysValues update(int64_t layer, const at::Tensor& keys, const at::Tensor& values) override {
    KeysValues seen;
    side_.fork([&] { seen = StaticCache::update(layer, keys, values); });
    side_.join();
    return seen;
  }

 private:
  SideStream side_;
};

}  // namespace

Registry::MakeSubject async_result_awaited() { return made_of<AsyncResultAwaited>(); }

}  // namespace thaw::zoo
