// SPDX-License-Identifier: Apache-2.0
#include "cache/row_counter.h"

#include <ATen/ops/add.h>
#include <ATen/ops/clamp_max.h>
#include <ATen/ops/full.h>
#include <ATen/ops/scalar_tensor.h>
#include <ATen/ops/zeros.h>

#include <algorithm>
#include <stdexcept>

namespace thaw {
namespace {

at::TensorOptions integers_on(c10::Device device) {
  return at::TensorOptions().dtype(at::kLong).device(device);
}

/// [rows + 1]: every row at 0, and the -1 of padded places.
at::Tensor fresh_positions(const CacheSpec& spec) {
  at::Tensor positions = at::zeros({spec.rows + 1}, integers_on(spec.device));
  positions.select(0, spec.rows).fill_(-1);
  return positions;
}

/// The positions are on the host, and a step carries them to the device: a capture freezes them.
class HostCounter : public RowCounter {
 public:
  explicit HostCounter(const CacheSpec& spec)
      : rows_(spec.rows),
        slots_(spec.slots),
        image_(fresh_positions(spec)),
        report_(at::zeros({spec.rows}, integers_on(spec.device))),
        reported_(static_cast<size_t>(spec.rows), 0) {
    for (int64_t row = 0; row < rows_; ++row) cells_.push_back(image_.narrow(0, row, 1));
  }

  const at::Tensor& load() override {
    for (int64_t row = 0; row < rows_; ++row) carry(row, cells_[static_cast<size_t>(row)]);
    return image_;
  }

  void advance(const Participants& who, int64_t q_len) override {
    for (const int64_t row : who.rows) set(row, std::min(get(row) + q_len, slots_));
  }

  void gather(std::span<const int64_t> from) override {
    std::vector<int64_t> next;
    for (const int64_t row : from) next.push_back(get(row));
    for (size_t row = 0; row < next.size(); ++row) set(static_cast<int64_t>(row), next[row]);
  }

  // A fill carries the number in its launch and waits for nothing; a copy from the host would wait.
  at::Tensor report() override {
    for (int64_t row = 0; row < rows_; ++row) {
      int64_t& reported = reported_[static_cast<size_t>(row)];
      if (reported == get(row)) continue;
      reported = get(row);
      report_.select(0, row).fill_(reported);
    }
    return report_;
  }

  std::vector<Buffer> buffers() const override {
    return {{"count_image", Role::position, -1, image_}};
  }

  std::vector<uint64_t> host_state() const override {
    std::vector<uint64_t> state;
    for (int64_t row = 0; row < rows_; ++row) state.push_back(static_cast<uint64_t>(get(row)));
    return state;
  }

 protected:
  virtual int64_t get(int64_t row) const = 0;
  /// Enqueues the position of `row` to a device tensor [1].
  virtual void carry(int64_t row, at::Tensor& cell) = 0;

 private:
  int64_t rows_;
  int64_t slots_;
  at::Tensor image_;
  std::vector<at::Tensor> cells_;
  at::Tensor report_;
  std::vector<int64_t> reported_;
};

class HostIntCounter final : public HostCounter {
 public:
  explicit HostIntCounter(const CacheSpec& spec)
      : HostCounter(spec), counts_(static_cast<size_t>(spec.rows), 0) {}

  void set(int64_t row, int64_t position) override { counts_[static_cast<size_t>(row)] = position; }

 protected:
  int64_t get(int64_t row) const override { return counts_[static_cast<size_t>(row)]; }
  void carry(int64_t row, at::Tensor& cell) override { cell.fill_(get(row)); }

 private:
  std::vector<int64_t> counts_;
};

class CpuScalarCounter final : public HostCounter {
 public:
  explicit CpuScalarCounter(const CacheSpec& spec)
      : HostCounter(spec), zero_(at::zeros({1}, integers_on(spec.device))) {
    for (int64_t row = 0; row < spec.rows; ++row) {
      counts_.push_back(at::scalar_tensor(0, integers_on(at::kCPU)));
    }
  }

  void set(int64_t row, int64_t position) override {
    *counts_[static_cast<size_t>(row)].mutable_data_ptr<int64_t>() = position;
  }

  std::vector<Buffer> buffers() const override {
    std::vector<Buffer> buffers = HostCounter::buffers();
    buffers.push_back({"zero", Role::constant, -1, zero_});
    return buffers;
  }

 protected:
  int64_t get(int64_t row) const override {
    return *counts_[static_cast<size_t>(row)].const_data_ptr<int64_t>();
  }
  // It looks like arithmetic between tensors. LibTorch reads the CPU operand at the launch and
  // passes its value (rule 34).
  void carry(int64_t row, at::Tensor& cell) override {
    at::add_out(cell, zero_, counts_[static_cast<size_t>(row)]);
  }

 private:
  at::Tensor zero_;
  std::vector<at::Tensor> counts_;
};

/// The positions are on the device, and a replay moves them.
class DeviceCounter : public RowCounter {
 public:
  explicit DeviceCounter(const CacheSpec& spec)
      : rows_(spec.rows),
        slots_(spec.slots),
        count_(fresh_positions(spec)),
        before_(at::zeros({spec.rows + 1}, integers_on(spec.device))) {}

  const at::Tensor& load() override { return count_; }

  void set(int64_t row, int64_t position) override { count_.select(0, row).fill_(position); }

  void gather(std::span<const int64_t> from) override {
    before_.copy_(count_);
    for (size_t row = 0; row < from.size(); ++row) {
      count_.select(0, static_cast<int64_t>(row)).copy_(before_.select(0, from[row]));
    }
  }

  at::Tensor report() override { return count_.narrow(0, 0, rows_); }

  std::vector<Buffer> buffers() const override { return {{"count", Role::counter, -1, count_}}; }

 protected:
  int64_t rows_;
  int64_t slots_;
  at::Tensor count_;

 private:
  at::Tensor before_;  ///< scratch of gather
};

class DeviceInPlaceCounter final : public DeviceCounter {
 public:
  using DeviceCounter::DeviceCounter;
  void advance(const Participants& who, int64_t q_len) override {
    count_.add_(who.flags, q_len).clamp_max_(slots_);
  }
};

class DeviceRebindCounter final : public DeviceCounter {
 public:
  using DeviceCounter::DeviceCounter;
  // The step that is captured reads the old tensor, which this frees.
  void advance(const Participants& who, int64_t q_len) override {
    count_ = count_.add(who.flags, q_len).clamp_max(slots_);
  }
};

}  // namespace

std::unique_ptr<RowCounter> make_row_counter(CounterMode mode, const CacheSpec& spec) {
  switch (mode) {
    case CounterMode::host_int:
      return std::make_unique<HostIntCounter>(spec);
    case CounterMode::cpu_scalar:
      return std::make_unique<CpuScalarCounter>(spec);
    case CounterMode::device_rebind:
      return std::make_unique<DeviceRebindCounter>(spec);
    case CounterMode::device_in_place:
      return std::make_unique<DeviceInPlaceCounter>(spec);
  }
  throw std::invalid_argument("no such counter mode");
}

}  // namespace thaw
