// SPDX-License-Identifier: Apache-2.0
#include "subject/subject.h"

#include <ATen/ops/empty.h>
#include <ATen/ops/from_blob.h>
#include <ATen/ops/zeros.h>
#include <c10/core/impl/VirtualGuardImpl.h>

#include <algorithm>
#include <cstring>
#include <utility>

#include "subject/token.h"

namespace thaw {
namespace {

constexpr std::byte churn_canary{0xC5};

bool touches(std::span<const MemoryUse> memory, const MemoryUse& buffer) {
  return std::any_of(memory.begin(), memory.end(), [&](const MemoryUse& use) {
    return use.address == buffer.address && use.generation == buffer.generation;
  });
}

/// Of the buffers known by name before the capture and after it, those that the graph touches. A
/// name that moved during the capture is bound to where it was: that is what its caller knew.
std::vector<NamedMemory> bind_names(const Graph& graph, std::vector<NamedMemory> before,
                                    const std::vector<NamedMemory>& after) {
  std::vector<NamedMemory> bound;
  const auto add = [&](const NamedMemory& named) {
    const bool known = std::any_of(bound.begin(), bound.end(),
                                   [&](const NamedMemory& b) { return b.name == named.name; });
    if (!known && touches(graph.memory(), named.memory)) bound.push_back(named);
  };
  std::for_each(before.begin(), before.end(), add);
  std::for_each(after.begin(), after.end(), add);
  return bound;
}

}  // namespace

Subject::Subject(Device& device, const Case& c, std::unique_ptr<KvCache> cache,
                 std::unique_ptr<Decoder> decoder)
    : device_(device),
      cache_(std::move(cache)),
      decoder_(std::move(decoder)),
      seed_(c.settings.seed) {
  const int64_t rows = c.settings.rows;
  const int64_t q_len_max = cache_->spec().q_len_max;
  const int64_t numbers = 2 * rows + 1 + rows * q_len_max;
  host_inputs_.assign(static_cast<size_t>(numbers), 0);
  std::fill_n(host_inputs_.begin(), 2 * rows, -1);
  input_storage_ =
      at::zeros({numbers}, at::TensorOptions().dtype(at::kLong).device(device.torch_device()));
  inputs_.rows = input_storage_.narrow(0, 0, rows);
  inputs_.positions = input_storage_.narrow(0, rows, rows);
  inputs_.generation = input_storage_.narrow(0, 2 * rows, 1);
  inputs_.tokens = input_storage_.narrow(0, 2 * rows + 1, rows * q_len_max).view({rows, q_len_max});
  note_sizes();
}

Subject::~Subject() = default;

void Subject::refill(const StepPlan& plan, int64_t generation) {
  const int64_t rows = inputs_.rows.size(0);
  const int64_t q_len_max = inputs_.tokens.size(1);
  places_ = plan.places();
  q_len_ = plan.q_len;
  std::fill_n(host_inputs_.begin(), 2 * rows, -1);
  std::copy(plan.rows.begin(), plan.rows.end(), host_inputs_.begin());
  std::copy(plan.positions.begin(), plan.positions.end(), host_inputs_.begin() + rows);
  host_inputs_[static_cast<size_t>(2 * rows)] = generation;
  int64_t* tokens = host_inputs_.data() + 2 * rows + 1;
  for (int64_t place = 0; place < places_; ++place) {
    const auto index = static_cast<size_t>(place);
    if (plan.rows[index] < 0) continue;
    for (int64_t i = 0; i < q_len_; ++i) {
      tokens[place * q_len_max + i] =
          token_at(seed_, plan.rows[index], plan.positions[index] + i, generation);
    }
  }
  device_.write(input_storage_, 0, std::as_bytes(std::span(host_inputs_)));
  cache_->prepare(plan);
}

void Subject::run_step() { decoder_->step(*cache_, inputs_, places_, q_len_); }

void Subject::step() {
  run_step();
  note_returned();
}

void Subject::note_returned() {
  returned_places_ = places_;
  returned_q_len_ = q_len_;
}

void Subject::capture(const std::string& name, const std::string& pool) {
  const CaptureOptions options{.pool = pool_named(pool)};
  std::vector<NamedMemory> before = named_memory();
  CapturedGraph& captured = graphs_.emplace_back(CapturedGraph{name, pool, nullptr, {}});
  if (std::exchange(capture_fails_, false)) return;
  captured.graph = device_.capture([this] { run_step(); }, options);
  captured.bound = bind_names(*captured.graph, std::move(before), named_memory());
  note_sizes();
}

void Subject::replay(const std::string& name) {
  const CapturedGraph* captured = find_graph(name);
  const bool fails = std::exchange(replay_fails_, false);
  if (captured->graph == nullptr) {
    run_step();
  } else if (fails) {
    launch_failed();
  } else {
    captured->graph->replay();
  }
  note_returned();
}

void Subject::serve(const std::string& graph) {
  if (graph.empty()) {
    step();
  } else {
    replay(graph);
  }
}

void Subject::launch_failed() { run_step(); }

void Subject::fail_next(int64_t call) {
  (call == fail_capture ? capture_fails_ : replay_fails_) = true;
}

/// The pool of the graphs that share one under this name; 0, a new one, if there are none.
uint64_t Subject::pool_named(const std::string& pool) const {
  const auto sharing = std::find_if(graphs_.begin(), graphs_.end(), [&](const CapturedGraph& g) {
    return !pool.empty() && g.pool == pool && g.graph != nullptr;
  });
  return sharing == graphs_.end() ? 0 : sharing->graph->pool();
}

void Subject::drop(const std::string& name) {
  std::erase_if(graphs_, [&](const CapturedGraph& g) { return g.name == name; });
}

void Subject::reset(std::span<const int64_t> rows) { cache_->reset(rows); }

void Subject::crop(std::span<const int64_t> rows, int64_t length) {
  for (const int64_t row : rows) cache_->crop(row, length);
}

void Subject::reorder(std::span<const int64_t> from, std::span<const int64_t> lengths) {
  cache_->reorder(from, lengths);
}

void Subject::copy_row(int64_t from, int64_t to, std::span<const int64_t> lengths) {
  cache_->copy_row(from, to, lengths[static_cast<size_t>(from)]);
}

void Subject::load(std::span<const BufferBytes> entries) {
  const c10::Device device = device_.torch_device();
  const c10::impl::VirtualGuardImpl streams(device.type());
  if (!side_stream_) side_stream_ = streams.getStreamFromGlobalPool(device);
  size_t bytes = 0;
  for (const BufferBytes& entry : entries) bytes += entry.bytes.size();
  staged_ = at::empty({static_cast<int64_t>(bytes)},
                      at::TensorOptions().dtype(at::kByte).pinned_memory(true));
  c10::Event enqueued(device.type());
  enqueued.record(streams.getStream(device));
  const c10::StreamGuard on_side_stream(*side_stream_);
  enqueued.block(*side_stream_);
  int64_t at = 0;
  for (const BufferBytes& entry : entries) {
    const auto size = static_cast<int64_t>(entry.bytes.size());
    const at::Tensor source = staged_.narrow(0, at, size);
    std::memcpy(source.mutable_data_ptr(), entry.bytes.data(), entry.bytes.size());
    entry.buffer.view({-1}).view(at::kByte).narrow(0, entry.offset, size).copy_(source, true);
    at += size;
  }
  loaded_.emplace(device.type());
  loaded_->record(*side_stream_);
}

void Subject::await_load() {
  const c10::Device device = device_.torch_device();
  if (loaded_) loaded_->block(c10::impl::VirtualGuardImpl(device.type()).getStream(device));
}

void Subject::hold() { held_ = returned().clone(); }

void Subject::sleep() {
  const auto lose = [this](void* address, size_t bytes) {
    const auto lost =
        at::for_blob(address, {static_cast<int64_t>(bytes)})
            .options(at::TensorOptions().dtype(at::kByte).device(device_.torch_device()))
            .target_device(device_.torch_device())
            .make_tensor();
    device_.fill(lost, std::byte{0xFF});
  };
  for (const Buffer& buffer : cache_->buffers()) {
    if (buffer.role != Role::keys && buffer.role != Role::values) continue;
    const c10::Storage& storage = buffer.tensor.storage();
    lose(storage.mutable_data(), storage.nbytes());
  }
  for (const CapturedGraph& captured : graphs_) {
    if (captured.graph == nullptr) continue;
    for (const MemoryUse& use : captured.graph->memory()) {
      if (use.own_pool && !use.host) lose(reinterpret_cast<void*>(use.address), use.bytes);
    }
  }
}

void Subject::wake() { cache_->wake(); }

void Subject::reseed(uint64_t seed) { device_.set_generator({.seed = seed, .offset = 0}); }

void Subject::churn(int64_t count) {
  churned_.clear();
  note_sizes();
  const auto on_device = at::TensorOptions().dtype(at::kByte).device(device_.torch_device());
  const auto pinned = at::TensorOptions().dtype(at::kByte).pinned_memory(true);
  for (int64_t i = 0; i < count; ++i) {
    for (const int64_t bytes : block_sizes_) {
      churned_.push_back(at::empty({bytes}, on_device));
      device_.fill(churned_.back(), churn_canary);
      churned_.push_back(at::empty({bytes}, pinned));
      std::fill_n(churned_.back().mutable_data_ptr<uint8_t>(), bytes,
                  std::to_integer<uint8_t>(churn_canary));
    }
  }
}

const CapturedGraph* Subject::find_graph(std::string_view name) const {
  const auto found = std::find_if(graphs_.begin(), graphs_.end(),
                                  [&](const CapturedGraph& g) { return g.name == name; });
  return found == graphs_.end() ? nullptr : &*found;
}

at::Tensor Subject::output() const { return decoder_->output(places_, q_len_); }

at::Tensor Subject::returned() const { return decoder_->output(returned_places_, returned_q_len_); }

std::vector<NamedMemory> Subject::named_memory() const {
  std::vector<NamedMemory> named;
  const auto add = [&](std::string_view owner, const Buffer& buffer) {
    std::string name = std::string(owner) + buffer.name;
    if (buffer.layer >= 0) name += "[" + std::to_string(buffer.layer) + "]";
    named.push_back({std::move(name), device_.memory_of(buffer.tensor)});
  };
  for (const Buffer& buffer : cache_->buffers()) add("cache.", buffer);
  for (const Buffer& buffer : decoder_->buffers()) add("decoder.", buffer);
  named.push_back({"caller.inputs", device_.memory_of(input_storage_)});
  return named;
}

void Subject::note_sizes() {
  for (const NamedMemory& named : named_memory()) {
    if (named.memory.bytes > 0) block_sizes_.insert(static_cast<int64_t>(named.memory.bytes));
  }
  for (const CapturedGraph& captured : graphs_) {
    if (captured.graph == nullptr) continue;
    for (const MemoryUse& use : captured.graph->memory()) {
      if (use.bytes > 0) block_sizes_.insert(static_cast<int64_t>(use.bytes));
    }
  }
}

}  // namespace thaw
