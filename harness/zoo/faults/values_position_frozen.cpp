// SPDX-License-Identifier: Apache-2.0
//
// Follows ggml-org/llama.cpp#7565.
//
// The arguments of recorded copies are patched before each replay, and the copies are found by the
// name of their kernel. Where keys and values are copied by two kernels, only one of them is
// known.
//
// Here the keys follow the device's positions, and the values take theirs as arguments.

#include <ATen/ops/full.h>

#include <vector>

#include "kernels/operators.h"
#include "zoo/parts.h"

namespace thaw::zoo {
namespace {

class ValuesPositionFrozen final : public PlanKeepingCache {
 public:
  explicit ValuesPositionFrozen(const CacheSpec& spec)
      : PlanKeepingCache(spec), positions_(at::full({spec.rows}, -1, integers_on_device(spec))) {}

  KeysValues update(int64_t layer, const at::Tensor& keys, const at::Tensor& values) override {
    const int64_t places = keys.size(0);
    const at::Tensor table = step_table(*this).narrow(1, 0, places);
    const at::Tensor rows = table.select(0, StepTable::rows);
    const KeysValues seen = layer_buffers(*this, layer);
    ops::append_(seen.keys, seen.keys, keys, keys, rows, table.select(0, StepTable::positions));
    write_as_arguments(positions_, plan().positions);
    ops::append_(seen.values, seen.values, values, values, rows, positions_.narrow(0, 0, places));
    return seen;
  }

  std::vector<Buffer> buffers() const override {
    std::vector<Buffer> buffers = StaticCache::buffers();
    buffers.push_back({"value positions", Role::position, -1, positions_});
    return buffers;
  }

 private:
  at::Tensor positions_;
};

}  // namespace

Registry::MakeSubject values_position_frozen() { return made_of<ValuesPositionFrozen>(); }

}  // namespace thaw::zoo
