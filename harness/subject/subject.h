// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "cache/kv_cache.h"
#include "cache/step_plan.h"
#include "case/case.h"
#include "decoder/decoder.h"
#include "device/device.h"

namespace thaw {

/// A buffer under the name by which its owner calls it, with the memory that it is now.
struct NamedMemory {
  std::string name;  ///< "cache.keys[0]", "decoder.output", "caller.positions"
  MemoryUse memory;
};

/// A graph that the subject holds, with what it was captured on.
struct CapturedGraph {
  std::string name;
  std::unique_ptr<Graph> graph;    ///< null: the capture was refused; replays run eagerly (R16)
  std::vector<NamedMemory> bound;  ///< the named buffers that its nodes touch, as at the capture
};

/// What is tested: a cache, in a decoder, on a device, with the graphs it captured and a caller
/// that refills the step's inputs in place (R5). Every verb is one op or one step of the case
/// language; verbs throw DeviceError where the device refuses or fails, and whatever the cache
/// throws passes through.
///
/// Faults that live in the caller override the verb they spoil.
class Subject {
 public:
  Subject(Device& device, const Case& c, std::unique_ptr<KvCache> cache,
          std::unique_ptr<Decoder> decoder);
  virtual ~Subject();
  Subject(const Subject&) = delete;
  Subject& operator=(const Subject&) = delete;

  /// Refills, in place, all inputs of the next step from the plan and the op's generation.
  virtual void refill(const StepPlan& plan, int64_t generation);
  /// One eager pass over what was refilled last.
  virtual void step();
  /// Records the step that was refilled last, on a side stream, under `name`. If this throws, the
  /// graph exists and is empty.
  virtual void capture(const std::string& name);
  /// Launches the graph over what was refilled last; runs eagerly if it is empty (R16).
  virtual void replay(const std::string& name);
  virtual void drop(const std::string& name);

  /// `lengths` is what the caller knows: the length of every row before the op.
  virtual void reset(std::span<const int64_t> rows);
  virtual void crop(std::span<const int64_t> rows, int64_t length);
  virtual void reorder(std::span<const int64_t> from, std::span<const int64_t> lengths);
  virtual void copy_row(int64_t from, int64_t to, std::span<const int64_t> lengths);

  /// Frees what the last churn took; then `count` times takes one block of every size that this
  /// subject ever owned or that a graph uses, on the device and pinned on the host, fills it and
  /// keeps it: memory that something still refers to by mistake is handed out anew.
  virtual void churn(int64_t count);

  Device& device() const { return device_; }
  const KvCache& cache() const { return *cache_; }
  KvCache& cache() { return *cache_; }
  const Decoder& decoder() const { return *decoder_; }
  const StepInputs& inputs() const { return inputs_; }
  const std::vector<CapturedGraph>& graphs() const { return graphs_; }
  const CapturedGraph* find_graph(std::string_view name) const;

  /// Output of the step that was refilled last: [layers, places, heads, q_len, dim] fp32.
  at::Tensor output() const;

  /// Every buffer of cache, decoder and caller as it is now.
  std::vector<NamedMemory> named_memory() const;

 private:
  void run_step();
  void note_sizes();

  Device& device_;
  std::unique_ptr<KvCache> cache_;
  std::unique_ptr<Decoder> decoder_;
  at::Tensor input_storage_;  ///< one storage for all inputs: one copy refills them
  StepInputs inputs_;
  std::vector<int64_t> host_inputs_;
  std::vector<CapturedGraph> graphs_;
  int64_t places_ = 0;
  int64_t q_len_ = 0;
  std::set<int64_t> block_sizes_;
  std::vector<at::Tensor> churned_;
};

}  // namespace thaw
