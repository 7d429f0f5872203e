// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "cache/layout.h"
#include "cache/step_plan.h"
#include "kernels/kernels.h"

namespace thaw {

/// One layer of a cache. Nothing is derived from a hidden size: key and value may differ.
struct LayerSpec {
  int64_t kv_heads = 1;
  int64_t key_dim = 16;
  int64_t value_dim = 16;
  at::ScalarType key_dtype = at::kFloat;
  at::ScalarType value_dtype = at::kFloat;
};

/// Everything that fixes a cache's memory; a cache allocates at construction and never again.
struct CacheSpec {
  int64_t rows = 1;
  int64_t slots = 16;     ///< per row: the capacity of a linear cache
  int64_t q_len_max = 1;  ///< the largest q_len of any step
  int64_t window = 0;     ///< positions that attention sees, the last of a row; 0: all
  std::vector<LayerSpec> layers{LayerSpec{}};
  c10::Device device = c10::Device(c10::kCPU);
  Kernels kernels = Kernels::registered;
};

/// What a cache can do; whoever makes cases asks for no more, and the verdict lists what was not
/// asked.
struct CacheAbilities {
  Layout layout = Layout::linear;
  bool several_tokens = true;  ///< steps with q_len above 1
  bool rows_apart = true;      ///< rows of different lengths in one step
  bool crop = true;
  bool reorder = true;
  bool copy_row = true;
};

/// What a buffer is for; an entry of keys or values is found by KvCache::locate.
///
/// constant: never changes after construction (weights, index tables); the purity oracle holds it
/// to that. refused: a [] int64 count of the entries that were not written.
enum class Role { keys, values, position, table, counter, scratch, refused, constant };

/// One storage that a captured step may touch.
struct Buffer {
  std::string name;  ///< unique within its owner, such as "keys" or "positions"
  Role role;
  int64_t layer = -1;  ///< -1: of no layer
  at::Tensor tensor;
};

/// Where one entry lies: `dim` elements, `stride` bytes apart, from byte `offset` of the tensor of
/// buffers()[buffer].
struct Place {
  size_t buffer = 0;
  int64_t offset = 0;
  int64_t stride = 0;
  int64_t dim = 0;
};

/// What attention reads. Contiguous: keys [rows, kv_heads, slots, key_dim], block_table undefined.
/// Paged: keys [blocks, kv_heads, block_size, key_dim] and block_table [rows, blocks_of_a_row]
/// int64. In a ring a position lies in slot position mod the slots of a row, and of a row that is
/// longer only the last positions have entries, those of the step included.
struct KeysValues {
  at::Tensor keys, values, block_table;
  bool ring = false;
};

/// The contract of a KV cache whose step is captured in a graph: any layout, any language.
///
/// Order of calls: for every step, eager or replayed, `prepare` on the host; then, inside the step
/// (which may be captured), `begin_step`, `update` once a layer, `end_step`. A replay runs what was
/// recorded of those three and calls none of them. All other verbs are called outside a capture.
class KvCache {
 public:
  virtual ~KvCache() = default;

  virtual const CacheSpec& spec() const = 0;
  virtual CacheAbilities abilities() const { return {}; }

  /// Host side, before every step, capture and replay: puts rows and positions into buffers that
  /// never move. A cache that counts for itself takes the rows and ignores the positions.
  /// Throws std::invalid_argument if the plan does not fit spec().
  virtual void prepare(const StepPlan& plan) = 0;

  /// Inside the step, once: index arithmetic and error counting are paid per step, not per layer.
  virtual void begin_step(int64_t places, int64_t q_len) = 0;

  /// Inside the step, once a layer: keys [places, kv_heads, q_len, key_dim] and values
  /// [places, kv_heads, q_len, value_dim] to their rows and positions; returns what attention
  /// reads. Never synchronises with the host.
  virtual KeysValues update(int64_t layer, const at::Tensor& keys, const at::Tensor& values) = 0;

  /// Inside the step, once: caches that count for themselves advance here.
  virtual void end_step() {}

  /// [rows] int64 on the device. For a row of the last plan the position of the last refill; for
  /// the rows that reset, crop, reorder or copy_row named since, their new length. Never
  /// synchronises; reading is the caller's.
  virtual at::Tensor write_positions() const = 0;

  virtual void reset(std::span<const int64_t> rows) = 0;
  /// Row keeps its first `length` entries (rollback of a rejected draft).
  virtual void crop(int64_t row, int64_t length);
  /// Row i takes what row from[i] held (beam search); one entry per row, repeats allowed.
  ///
  /// `lengths` is the length of every row before the call. Like positions it comes from the caller:
  /// a cache that saw a step cannot know whether the step was a warm-up, a capture or accepted. A
  /// cache that counts for itself ignores it.
  virtual void reorder(std::span<const int64_t> from, std::span<const int64_t> lengths);
  /// Row `to` takes what row `from` holds: its first `length` entries, which are all it has.
  virtual void copy_row(int64_t from, int64_t to, int64_t length);

  /// Memory came back at the same addresses with its contents lost: K and V, and nothing else.
  virtual void wake() {}

  /// Every storage that a captured step may touch.
  virtual std::vector<Buffer> buffers() const = 0;

  /// Where the entry of `position` lies; role is keys or values. Empty where the position has no
  /// place: past the end, not resident. In a layout that shifts, `position` counts from the oldest
  /// entry that is still in the row, for only the caller knows how long the row is.
  virtual std::optional<Place> locate(int64_t layer, int64_t row, int64_t head, int64_t position,
                                      Role role) const = 0;

  /// Everything that steers a later step and is not in buffers(): host integers, free lists, flags.
  virtual std::vector<uint64_t> host_state() const { return {}; }
};

}  // namespace thaw
