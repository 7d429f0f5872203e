// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <c10/core/Event.h>
#include <c10/core/Stream.h>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
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
  std::string pool;                ///< shared by all graphs of this name for it; empty: its own
  std::unique_ptr<Graph> graph;    ///< null: the capture was refused; replays run eagerly (R16)
  std::vector<NamedMemory> bound;  ///< the named buffers that its nodes touch, as at the capture
};

/// What is to lie in one of the cache's buffers, from byte `offset` on.
struct BufferBytes {
  at::Tensor buffer;
  int64_t offset = 0;
  std::span<const std::byte> bytes;
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
  /// Records the step that was refilled last, on a side stream, under `name`; graphs that exist
  /// and were captured with the same `pool`, unless that is empty, share its memory. If this
  /// throws, or if the capture was made to fail, the graph exists and is empty.
  virtual void capture(const std::string& name, const std::string& pool);
  /// Launches the graph over what was refilled last; runs eagerly if it is empty (R16), or if the
  /// launch was made to fail.
  virtual void replay(const std::string& name);
  /// One step as a server makes it (R17): by `graph`, which is the right one, or eagerly where
  /// that is empty.
  virtual void serve(const std::string& graph);
  virtual void drop(const std::string& name);
  /// The next capture, or the next launch of a graph, will return error 2 and do nothing. `call`
  /// is fail_capture or fail_replay.
  virtual void fail_next(int64_t call);

  /// Enqueues copies of all `entries` on a side stream, from pinned memory, and waits for nothing.
  virtual void load(std::span<const BufferBytes> entries);
  /// Orders what is enqueued from now on after what load enqueued, without waiting on the host.
  virtual void await_load();

  /// Keeps what the last step returned.
  virtual void hold();
  /// What was kept; undefined if nothing was.
  const at::Tensor& held() const { return held_; }

  /// Memory is given up and comes back at the same addresses with its contents lost: the storages
  /// of keys and values, and what graphs allocated in their pools. All that is 0xFF afterwards.
  virtual void sleep();
  virtual void wake();

  /// The device's generator begins anew.
  virtual void reseed(uint64_t seed);

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
  /// What the last step returned, which later refills do not change: the same, of that step.
  at::Tensor returned() const;

  /// Every buffer of cache, decoder and caller as it is now.
  std::vector<NamedMemory> named_memory() const;

 protected:
  /// A launch failed: the step, which was not made, is made eagerly.
  virtual void launch_failed();
  /// The step's host code, as it runs eagerly and in a capture.
  void run_step();
  at::Tensor held_;

 private:
  void note_sizes();
  void note_returned();
  uint64_t pool_named(const std::string& pool) const;

  Device& device_;
  std::unique_ptr<KvCache> cache_;
  std::unique_ptr<Decoder> decoder_;
  at::Tensor input_storage_;  ///< one storage for all inputs: one copy refills them
  StepInputs inputs_;
  uint64_t seed_;
  std::vector<int64_t> host_inputs_;
  std::vector<CapturedGraph> graphs_;
  int64_t places_ = 0;  ///< of the last refill
  int64_t q_len_ = 0;
  int64_t returned_places_ = 0;  ///< of the last step
  int64_t returned_q_len_ = 0;
  bool capture_fails_ = false;
  bool replay_fails_ = false;
  std::optional<c10::Stream> side_stream_;  ///< of loads
  std::optional<c10::Event> loaded_;
  at::Tensor staged_;  ///< pinned: what the last load copies from
  std::set<int64_t> block_sizes_;
  std::vector<at::Tensor> churned_;
};

}  // namespace thaw
