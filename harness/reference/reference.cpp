// SPDX-License-Identifier: Apache-2.0
#include "reference/reference.h"

#include "reference/llama_reference.h"
#include "reference/tag_reference.h"

namespace thaw {

std::unique_ptr<Reference> make_reference(const Settings& settings, const CacheSpec& cache,
                                          c10::Device device, const Ledger& ledger) {
  if (settings.decoder == DecoderKind::llama) {
    return std::make_unique<LlamaReference>(settings, cache, device);
  }
  return std::make_unique<TagReference>(settings, cache, ledger);
}

}  // namespace thaw
