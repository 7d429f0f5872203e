// SPDX-License-Identifier: Apache-2.0
#include "device/sim/random.h"

#include <ATen/CPUGeneratorImpl.h>
#include <ATen/Dispatch.h>
#include <ATen/OpMathType.h>
#include <ATen/core/PhiloxRNGEngine.h>
#include <ATen/ops/empty.h>
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <type_traits>

#include "device/sim/context.h"
#include "device/sim/runtime.h"

namespace thaw::sim {

namespace {

// How LibTorch launches CUDA's elementwise random kernels
// (ATen/native/cuda/DistributionTemplates.h) on a GPU with 132 multiprocessors of 2048 threads
// each.
constexpr uint64_t block_threads = 256;
constexpr uint64_t most_blocks = uint64_t{132} * (2048 / block_threads);
constexpr uint64_t numbers_per_call = 4;  ///< 32 bits each

void check_offset(uint64_t offset) {
  if (offset % numbers_per_call == 0) return;
  throw std::invalid_argument(
      fmt::format("a generator's offset is a multiple of {}, not {}", numbers_per_call, offset));
}

uint64_t grid_threads(uint64_t elements) {
  return std::min((elements + block_threads - 1) / block_threads, most_blocks) * block_threads;
}

/// How many elements one thread makes of the four 32-bit numbers of one call.
uint64_t elements_per_call(at::ScalarType type) { return type == at::kDouble ? 2 : 4; }

/// A number of (0, 1] of the 32 or 53 highest of the given bits, as curand_uniform and
/// curand_uniform2_double make it.
template <class Number>
Number unit_number(at::Philox4_32& philox) {
  if constexpr (std::is_same_v<Number, double>) {
    const uint64_t low = philox(), high = philox();
    return std::fma(static_cast<double>(low ^ (high << 21)), 0x1p-53, 0x1p-54);
  } else {
    return static_cast<float>(philox()) * 0x1p-32f + 0x1p-33f;
  }
}

/// One thread of the grid after the other, in each all its elements.
template <class Element>
void fill_uniform(Element* data, uint64_t elements, Element from, Element to,
                  const GeneratorState& state) {
  using Number = at::opmath_type<Element>;
  const Number range = static_cast<Number>(to - from);
  const uint64_t threads = grid_threads(elements);
  for (uint64_t thread = 0; thread < std::min(threads, elements); ++thread) {
    at::Philox4_32 philox(state.seed, thread, state.offset / numbers_per_call);
    for (uint64_t i = thread; i < elements; i += threads) {
      const auto number = unit_number<Number>(philox);
      const auto value = static_cast<Element>(std::fma(number, range, static_cast<Number>(from)));
      data[i] = value == to ? from : value;
    }
  }
}

std::mutex& default_generator_mutex() {
  static std::mutex mutex;
  return mutex;
}

at::Generator default_cpu_generator() { return at::detail::getDefaultCPUGenerator(); }

}  // namespace

void check_not_capturing(std::string_view call) {
  const bool capturing = Context::current_or_null() != nullptr && stream_is_capturing();
  TORCH_CHECK(!capturing, "Cannot call ", call,
              " during graph capture. It would run once, at the capture, and not in replays.");
}

PhiloxGenerator::PhiloxGenerator()
    : c10::GeneratorImpl(torch_device(), c10::DispatchKeySet(c10::DispatchKey::PrivateUse1)) {}

void PhiloxGenerator::set_current_seed(uint64_t seed) {
  check_not_capturing("set_current_seed");
  set({seed, 0});
}

void PhiloxGenerator::set_offset(uint64_t offset) {
  check_not_capturing("set_offset");
  set({state().seed, offset});
}

uint64_t PhiloxGenerator::get_offset() const {
  check_not_capturing("get_offset");
  return state().offset;
}

uint64_t PhiloxGenerator::current_seed() const {
  check_not_capturing("current_seed");
  return state().seed;
}

uint64_t PhiloxGenerator::seed() {
  check_not_capturing("seed");
  const uint64_t seed = c10::detail::getNonDeterministicRandom();
  set({seed, 0});
  return seed;
}

void PhiloxGenerator::set_state(const c10::TensorImpl& new_state) {
  check_not_capturing("set_state");
  uint64_t words[2];
  TORCH_CHECK(new_state.device().is_cpu() &&
                  new_state.dtype() == caffe2::TypeMeta::Make<uint8_t>() &&
                  new_state.numel() == sizeof(words) && new_state.is_contiguous(),
              "a generator's state is a contiguous uint8 tensor of 16 elements on the host");
  std::memcpy(words, new_state.data(), sizeof(words));
  set({words[0], words[1]});
}

c10::intrusive_ptr<c10::TensorImpl> PhiloxGenerator::get_state() const {
  check_not_capturing("get_state");
  const GeneratorState now = state();
  const uint64_t words[2] = {now.seed, now.offset};
  at::Tensor bytes = at::empty({sizeof(words)}, at::kByte);
  std::memcpy(bytes.mutable_data_ptr(), words, sizeof(words));
  return bytes.getIntrusivePtr();
}

GeneratorState PhiloxGenerator::state() const {
  std::lock_guard<std::mutex> lock(state_mutex_);
  return state_;
}

void PhiloxGenerator::set(const GeneratorState& state) {
  check_offset(state.offset);
  std::lock_guard<std::mutex> lock(state_mutex_);
  state_ = state;
}

GeneratorState PhiloxGenerator::take(uint64_t increment) {
  std::lock_guard<std::mutex> lock(state_mutex_);
  const GeneratorState taken = state_;
  state_.offset += increment;
  return taken;
}

PhiloxGenerator* PhiloxGenerator::clone_impl() const {
  auto* clone = new PhiloxGenerator;  // LibTorch takes it over
  clone->set(state());
  return clone;
}

PhiloxGenerator& philox(const at::Generator& generator) {
  TORCH_CHECK(generator.device().type() == device_type,
              "Expected a 'sim' device type for generator but found '", generator.device().type(),
              "'");
  return *generator.get<PhiloxGenerator>();
}

uint64_t offset_increment(int64_t elements, at::ScalarType type) {
  if (elements == 0) return 0;
  const auto count = static_cast<uint64_t>(elements);
  const uint64_t per_round = grid_threads(count) * elements_per_call(type);
  return ((count - 1) / per_round + 1) * numbers_per_call;
}

at::Generator cpu_generator(const GeneratorState& state) {
  // A subsequence for each offset: neighbouring offsets must not give shifted states.
  at::Philox4_32 philox(state.seed, ~state.offset, 0);
  at::mt19937_data_pod words{};
  words.seed_ = state.seed;
  words.left_ = 1;
  words.seeded_ = true;
  std::generate(words.state_.begin(), words.state_.end(), [&] { return philox(); });
  at::mt19937 engine;
  engine.set_data(words);
  at::Generator generator = at::detail::createCPUGenerator();
  generator.get<at::CPUGeneratorImpl>()->set_engine(engine);
  return generator;
}

void draw_uniform(const at::Tensor& tensor, double from, double to, const GeneratorState& state) {
  AT_DISPATCH_FLOATING_TYPES_AND2(at::kHalf, at::kBFloat16, tensor.scalar_type(), "uniform_", [&] {
    const at::Tensor drawn =
        tensor.is_contiguous() ? tensor : at::empty(tensor.sizes(), tensor.scalar_type());
    fill_uniform(drawn.mutable_data_ptr<scalar_t>(), static_cast<uint64_t>(drawn.numel()),
                 static_cast<scalar_t>(from), static_cast<scalar_t>(to), state);
    if (!drawn.is_same(tensor)) tensor.copy_(drawn);
  });
}

DefaultGeneratorScope::DefaultGeneratorScope(const at::Generator& generator)
    : alone_(default_generator_mutex()) {
  at::Generator usual = default_cpu_generator();
  std::lock_guard<std::mutex> lock(usual.mutex());
  saved_ = usual.get_state();
  usual.set_state(generator.get_state());
}

DefaultGeneratorScope::~DefaultGeneratorScope() {
  at::Generator usual = default_cpu_generator();
  std::lock_guard<std::mutex> lock(usual.mutex());
  usual.set_state(saved_);
}

}  // namespace thaw::sim
