// SPDX-License-Identifier: Apache-2.0
#include "kernels/arithmetic.h"
#include "kernels/cuda/elements.cuh"
#include "kernels/cuda/indexing.cuh"
#include "kernels/cuda/launch.h"

namespace thaw::kernels::cuda {
namespace {

__device__ void write_tag(PackedTag tag, std::byte* to, Element element, int64_t dim) {
  for (int64_t i = 0; i < dim; ++i) {
    store(to, element, i, static_cast<float>(tag.digit(i % tag_digits)));
  }
}

/// One thread a new entry, key and value.
__global__ void tag(const TagArguments a) {
  const int64_t item = item_of_thread();
  if (item >= a.new_keys.outer * a.new_keys.heads * a.new_keys.slots) return;
  const NewEntry added(item, a.new_keys.heads, a.new_keys.slots);
  const PackedTag key = PackedTag()
                            .row(a.places.rows[added.place])
                            .position(position_of(a.places.positions[added.place], added.token))
                            .generation(*a.generation)
                            .layer(a.layer)
                            .head(added.head);
  write_tag(key.checked(), entry(a.new_keys, added.place, added.head, added.token), a.key_element,
            a.new_keys.dim);
  write_tag(key.value(true).checked(), entry(a.new_values, added.place, added.head, added.token),
            a.value_element, a.new_values.dim);
}

}  // namespace

void launch_tag(const TagArguments& arguments, cudaStream_t stream) {
  const Entries& added = arguments.new_keys;
  const int64_t entries = added.outer * added.heads * added.slots;
  if (entries == 0) return;
  tag<<<blocks_for(entries), threads_per_block, 0, stream>>>(arguments);
}

}  // namespace thaw::kernels::cuda
