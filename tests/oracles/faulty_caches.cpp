// SPDX-License-Identifier: Apache-2.0
#include "oracles/faulty_caches.h"

#include <ATen/ops/add.h>
#include <ATen/ops/index_select.h>
#include <ATen/ops/sub.h>
#include <ATen/ops/zeros.h>

#include <memory>
#include <stdexcept>
#include <string>
#include <utility>

#include "cache/static_cache.h"
#include "decoder/tag_decoder.h"

namespace thaw {
namespace {

at::TensorOptions integers(const CacheSpec& spec) {
  return at::TensorOptions().dtype(at::kLong).device(spec.device);
}

class LengthOffByOne : public StaticCache {
 public:
  using StaticCache::StaticCache;
  at::Tensor write_positions() const override { return at::add(StaticCache::write_positions(), 1); }
};

class ResetMakesNewTable : public StaticCache {
 public:
  explicit ResetMakesNewTable(const CacheSpec& spec)
      : StaticCache(spec), table_(at::zeros({4}, integers(spec))) {}
  void begin_step(int64_t places, int64_t q_len) override {
    table_.add_(1);
    StaticCache::begin_step(places, q_len);
  }
  void reset(std::span<const int64_t> rows) override {
    table_ = at::zeros({4}, table_.options());
    StaticCache::reset(rows);
  }
  std::vector<Buffer> buffers() const override {
    auto all = StaticCache::buffers();
    all.push_back({"table", Role::scratch, -1, table_});
    return all;
  }

 private:
  at::Tensor table_;
};

class ConstantOverwritten : public StaticCache {
 public:
  explicit ConstantOverwritten(const CacheSpec& spec)
      : StaticCache(spec), constant_(at::zeros({4}, integers(spec))) {}
  void end_step() override { constant_.add_(1); }
  std::vector<Buffer> buffers() const override {
    auto all = StaticCache::buffers();
    all.push_back({"constant", Role::constant, -1, constant_});
    return all;
  }

 protected:
  at::Tensor constant_;
};

class ValuesForKeys : public StaticCache {
 public:
  using StaticCache::StaticCache;
  KeysValues update(int64_t layer, const at::Tensor& keys, const at::Tensor& values) override {
    const KeysValues right = StaticCache::update(layer, keys, values);
    return {.keys = right.values, .values = right.keys, .block_table = right.block_table};
  }
};

class WritesOneSlotOn : public StaticCache {
 public:
  using StaticCache::StaticCache;
  void prepare(const StepPlan& plan) override {
    StepPlan moved = plan;
    for (int64_t& position : moved.positions) {
      if (position >= 0) ++position;
    }
    StaticCache::prepare(moved);
  }
  at::Tensor write_positions() const override { return at::sub(StaticCache::write_positions(), 1); }
};

class SpillsIntoNextRow : public StaticCache {
 public:
  using StaticCache::StaticCache;
  KeysValues update(int64_t layer, const at::Tensor& keys, const at::Tensor& values) override {
    const KeysValues all = StaticCache::update(layer, keys, values);
    all.keys.select(0, spec().rows - 1).select(1, spec().slots - 1).add_(1);
    return all;
  }
};

class ReadsBack : public StaticCache {
 public:
  using StaticCache::StaticCache;
  void end_step() override { last_ = write_positions().select(0, 0).item<int64_t>(); }

 private:
  int64_t last_ = 0;
};

class CopiesPageable : public StaticCache {
 public:
  explicit CopiesPageable(const CacheSpec& spec)
      : StaticCache(spec), copy_(at::zeros({2}, integers(spec))) {}
  void end_step() override { copy_.copy_(at::zeros({2}, at::kLong)); }

 private:
  at::Tensor copy_;
};

/// A table of six entries, indexed by the row's position.
class IndexOutOfRange : public StaticCache {
 public:
  explicit IndexOutOfRange(const CacheSpec& spec)
      : StaticCache(spec),
        table_(at::zeros({6}, integers(spec))),
        found_(at::zeros({1}, integers(spec))) {}
  void end_step() override {
    at::index_select_out(found_, table_, 0, write_positions().narrow(0, 0, 1));
  }
  std::vector<Buffer> buffers() const override {
    auto all = StaticCache::buffers();
    all.push_back({"table", Role::table, -1, table_});
    return all;
  }

 private:
  at::Tensor table_, found_;
};

class Throws : public StaticCache {
 public:
  using StaticCache::StaticCache;
  void prepare(const StepPlan& plan) override {
    if (plan.positions[0] >= 6) throw std::runtime_error("this cache is at its end");
    StaticCache::prepare(plan);
  }
};

class CountsNoRefusals : public StaticCache {
 public:
  using StaticCache::StaticCache;
  void begin_step(int64_t places, int64_t q_len) override {
    StaticCache::begin_step(places, q_len);
    for (const Buffer& buffer : StaticCache::buffers()) {
      if (buffer.role == Role::refused) buffer.tensor.zero_();
    }
  }
};

class WakeClearsConstants : public ConstantOverwritten {
 public:
  using ConstantOverwritten::ConstantOverwritten;
  void end_step() override {}
  void wake() override { constant_.add_(1); }
};

class HoldsStaticStorage : public Subject {
 public:
  using Subject::Subject;
  void hold() override { held_ = returned(); }
};

class KeyWithoutRows : public Subject {
 public:
  using Subject::Subject;
  void serve(const std::string& graph) override {
    Subject::serve(graphs().empty() ? graph : graphs().back().name);
  }
};

class IgnoresFailedLaunch : public Subject {
 public:
  using Subject::Subject;

 protected:
  void launch_failed() override {}
};

class LosesLoads : public Subject {
 public:
  using Subject::Subject;
  void load(std::span<const BufferBytes> /*entries*/) override {}
};

/// A decoder that spoils the caller's inputs behind the step.
class InputsOverwritten : public Decoder {
 public:
  explicit InputsOverwritten(std::unique_ptr<Decoder> right) : right_(std::move(right)) {}
  void step(KvCache& cache, const StepInputs& inputs, int64_t places, int64_t q_len) override {
    right_->step(cache, inputs, places, q_len);
    inputs.positions.add_(1);
  }
  at::Tensor output(int64_t places, int64_t q_len) const override {
    return right_->output(places, q_len);
  }
  std::vector<Buffer> buffers() const override { return right_->buffers(); }

 private:
  std::unique_ptr<Decoder> right_;
};

template <class Cache>
void add(Registry& registry, const char* name) {
  registry.add_cache(name, "a fault for one oracle", true,
                     [](const CacheSpec& spec) { return std::make_unique<Cache>(spec); });
}

template <class Caller>
void add_caller(Registry& registry, const char* name) {
  registry.add({name, "a fault of the caller, for one oracle", true,
                [](Device& device, const Case& c, Kernels kernels) {
                  const CacheSpec spec = cache_spec(c, device.torch_device(), kernels);
                  return std::make_unique<Caller>(
                      device, c, std::make_unique<StaticCache>(spec),
                      std::make_unique<TagDecoder>(DecoderSpec{.heads = c.settings.heads}, spec));
                }});
}

}  // namespace

Registry faulty_registry() {
  Registry registry = Registry::standard();
  add<LengthOffByOne>(registry, "test:length_off_by_one");
  add<ResetMakesNewTable>(registry, "test:reset_makes_new_table");
  add<ConstantOverwritten>(registry, "test:constant_overwritten");
  add<ValuesForKeys>(registry, "test:values_for_keys");
  add<WritesOneSlotOn>(registry, "test:writes_one_slot_on");
  add<SpillsIntoNextRow>(registry, "test:spills_into_next_row");
  add<ReadsBack>(registry, "test:reads_back");
  add<CopiesPageable>(registry, "test:copies_pageable");
  add<IndexOutOfRange>(registry, "test:index_out_of_range");
  add<Throws>(registry, "test:throws");
  add<CountsNoRefusals>(registry, "test:counts_no_refusals");
  add<WakeClearsConstants>(registry, "test:wake_clears_constants");
  add_caller<HoldsStaticStorage>(registry, "test:holds_static_storage");
  add_caller<KeyWithoutRows>(registry, "test:key_without_rows");
  add_caller<IgnoresFailedLaunch>(registry, "test:ignores_failed_launch");
  add_caller<LosesLoads>(registry, "test:loses_loads");
  registry.add({"test:inputs_overwritten", "a fault for one oracle", true,
                [](Device& device, const Case& c, Kernels kernels) {
                  const CacheSpec spec = cache_spec(c, device.torch_device(), kernels);
                  auto decoder = std::make_unique<InputsOverwritten>(
                      std::make_unique<TagDecoder>(DecoderSpec{.heads = c.settings.heads}, spec));
                  return std::make_unique<Subject>(device, c, std::make_unique<StaticCache>(spec),
                                                   std::move(decoder));
                }});
  return registry;
}

}  // namespace thaw
