// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <memory>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include "cache/kv_cache.h"
#include "case/case.h"
#include "device/device.h"
#include "kernels/kernels.h"
#include "subject/subject.h"

namespace thaw {

/// No cache is registered under a name: bad input. The text says what there is.
class UnknownCache : public std::invalid_argument {
 public:
  using std::invalid_argument::invalid_argument;
};

/// Makes subjects by the names that `cache` has in the case language. A value: whoever wants more
/// caches adds them to a copy.
class Registry {
 public:
  using MakeCache = std::function<std::unique_ptr<KvCache>(const CacheSpec&)>;
  using MakeSubject = std::function<std::unique_ptr<Subject>(Device&, const Case&, Kernels)>;

  struct Entry {
    std::string name;     ///< "static", "counter:host_int"
    std::string summary;  ///< one line for `thaw list caches`
    bool faulty = false;  ///< wrong on purpose
    MakeSubject make;
    Layout layout = Layout::linear;  ///< of the cache that it makes; some preconditions ask (R9)
  };

  /// The caches that thaw ships: static, ring, shift and the counter modes.
  static Registry standard();

  /// A cache in the usual decoder, driven by a caller that does it right.
  void add_cache(std::string name, std::string summary, bool faulty, MakeCache make,
                 Layout layout = Layout::linear);
  void add(Entry entry);

  const std::vector<Entry>& entries() const { return entries_; }
  /// By name; `counter` alone is counter:host_int. Null if there is none.
  const Entry* find(std::string_view name) const;
  /// The sentence for an unknown name: what there is, and the nearest.
  std::string unknown(std::string_view name) const;

 private:
  std::vector<Entry> entries_;
};

/// The decoder that a case asks for, over a cache of this specification.
std::unique_ptr<Decoder> make_decoder(const Case& c, const CacheSpec& spec);

/// The specifications of the cache and of the decoder that a case asks for.
CacheSpec cache_spec(const Case& c, c10::Device device, Kernels kernels);
DecoderSpec decoder_spec(const Case& c);

}  // namespace thaw
