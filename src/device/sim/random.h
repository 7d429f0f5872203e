// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <ATen/core/Generator.h>
#include <ATen/core/Tensor.h>
#include <c10/core/GeneratorImpl.h>

#include <mutex>
#include <string_view>

#include "device/device.h"

namespace thaw::sim {

/// The generator of random operators on the device, with CUDA's arithmetic of seed and offset
/// (rules 55 to 58). It holds no numbers: what an operator draws is a function of the state.
/// Reading or setting it is refused by a host check while the current stream captures (rule 23).
class PhiloxGenerator final : public c10::GeneratorImpl {
 public:
  PhiloxGenerator();

  void set_current_seed(uint64_t seed) override;  ///< also back to offset 0
  void set_offset(uint64_t offset) override;
  uint64_t get_offset() const override;
  uint64_t current_seed() const override;
  uint64_t seed() override;  ///< draws a seed that nobody can know
  /// Of CUDA's layout: 16 bytes on the host, seed and offset.
  void set_state(const c10::TensorImpl& new_state) override;
  c10::intrusive_ptr<c10::TensorImpl> get_state() const override;

  GeneratorState state() const;  ///< also in a capture
  /// Throws std::invalid_argument for an offset that is no multiple of 4.
  void set(const GeneratorState& state);
  /// The present state; the offset then moves on.
  GeneratorState take(uint64_t increment);

 private:
  PhiloxGenerator* clone_impl() const override;

  mutable std::mutex state_mutex_;  ///< callers may hold the base class's when they call
  GeneratorState state_;
};

/// Rule 23: throws c10::Error while the current stream captures.
void check_not_capturing(std::string_view call);

/// Throws c10::Error for a generator of another kind of device.
PhiloxGenerator& philox(const at::Generator& generator);

/// How far one random operator over `elements` numbers moves the offset: as CUDA's elementwise
/// kernels do on a GPU with 132 multiprocessors. Other GPUs differ beyond 270336 elements.
uint64_t offset_increment(int64_t elements, at::ScalarType type);

/// A generator for CPU kernels whose numbers are a function of `state`.
at::Generator cpu_generator(const GeneratorState& state);

/// Fills a CPU tensor with the numbers that uniform_ draws on CUDA: element i is number `offset` of
/// the seed's subsequence i. Elements of a tensor that is not contiguous count in logical order.
void draw_uniform(const at::Tensor& tensor, double from, double to, const GeneratorState& state);

/// Makes a CPU generator LibTorch's default, for kernels that take none. One thread at a time.
class DefaultGeneratorScope {
 public:
  explicit DefaultGeneratorScope(const at::Generator& generator);
  ~DefaultGeneratorScope();
  DefaultGeneratorScope(const DefaultGeneratorScope&) = delete;
  DefaultGeneratorScope& operator=(const DefaultGeneratorScope&) = delete;

 private:
  std::unique_lock<std::mutex> alone_;
  at::Tensor saved_;
};

}  // namespace thaw::sim
