// SPDX-License-Identifier: Apache-2.0
#include "kernels/random_step.h"

#include <ATen/ops/empty.h>
#include <ATen/ops/zeros.h>

#include <array>
#include <cstring>
#include <limits>

namespace thaw {
namespace {

class Random {
 public:
  explicit Random(uint64_t seed) : engine_(seed) {}

  /// Both ends included.
  int64_t between(int64_t least, int64_t most) {
    return std::uniform_int_distribution<int64_t>(least, most)(engine_);
  }
  bool once_in(int64_t n) { return between(1, n) == 1; }

  template <size_t n>
  int64_t one_of(const std::array<int64_t, n>& choices) {
    return choices[static_cast<size_t>(between(0, n - 1))];
  }

  at::Tensor integers(at::IntArrayRef sizes, int64_t least, int64_t most) {
    const at::Tensor result = at::empty(sizes, at::kLong);
    int64_t* numbers = result.mutable_data_ptr<int64_t>();
    for (int64_t i = 0; i < result.numel(); ++i) numbers[i] = between(least, most);
    return result;
  }

  /// Small integers, as tags are, so that sums are exact.
  at::Tensor entries(at::IntArrayRef sizes, at::ScalarType dtype) {
    return integers(sizes, 0, 15).to(dtype);
  }

  at::ScalarType dtype() {
    constexpr std::array dtypes{at::kFloat, at::kHalf, at::kBFloat16, at::kFloat8_e4m3fn};
    return dtypes[static_cast<size_t>(between(0, 3))];
  }

 private:
  std::mt19937_64 engine_;
};

constexpr int64_t smallest = std::numeric_limits<int64_t>::min();
constexpr int64_t largest = std::numeric_limits<int64_t>::max();

int64_t random_row(Random& random, int64_t rows) {
  if (random.once_in(6)) return -1;
  if (random.once_in(12)) return random.one_of(std::array{rows, int64_t{-2}, smallest, largest});
  return random.between(0, rows - 1);
}

int64_t random_position(Random& random, int64_t slots, int64_t q_len) {
  if (random.once_in(6)) return -1;
  if (random.once_in(6)) {
    return random.one_of(std::array{smallest, smallest + 1, largest, largest - 1, -q_len,
                                    -q_len - 1, int64_t{-2}, slots, slots + 1, int64_t{1} << 62,
                                    (int64_t{1} << 62) + 1});
  }
  return random.between(0, slots + 2);
}

}  // namespace

RandomStep::RandomStep(uint64_t seed) {
  Random random(seed);
  row_count = random.between(1, 4);
  kv_heads = random.between(1, 3);
  slots = random.between(1, 20);
  places = random.between(1, 5);
  q_len = random.once_in(2) ? 1 : random.between(1, 6);
  heads = kv_heads * random.between(1, 3);
  window = random.once_in(2) ? 0 : random.between(1, slots + 2);
  ring = random.once_in(2);
  layer = random.between(0, 15);
  const int64_t dim = random.once_in(2) ? 16 : random.between(12, 40);
  const auto key_dtype = random.dtype();
  const auto value_dtype = random.once_in(2) ? key_dtype : random.dtype();

  flat_keys = random.entries({row_count * kv_heads * slots + 1, dim}, key_dtype);
  flat_values = random.entries({row_count * kv_heads * slots + 1, dim}, value_dtype);
  new_keys = random.entries({places, kv_heads, q_len, dim}, key_dtype);
  new_values = random.entries({places, kv_heads, q_len, dim}, value_dtype);
  out = random.entries({places, heads, q_len, dim}, at::kFloat);
  generation = at::empty({1}, at::kLong);
  refused = random.integers({}, 0, 100);
  rows = at::empty({places}, at::kLong);
  positions = at::empty({places}, at::kLong);
  refill(seed);
  if (random.once_in(2)) {
    const int64_t block_size = random.between(1, 5);
    const int64_t blocks = random.between(1, 9);
    block_table = random.integers({row_count, random.between(1, 5)}, -1, blocks);
    paged_keys = random.entries({blocks, kv_heads, block_size, dim}, key_dtype);
    paged_values = random.entries({blocks, kv_heads, block_size, dim}, value_dtype);
  }
}

void RandomStep::refill(uint64_t seed) const {
  Random random(seed);
  generation.mutable_data_ptr<int64_t>()[0] = random.between(0, 70000);
  for (int64_t place = 0; place < places; ++place) {
    rows.mutable_data_ptr<int64_t>()[place] = random_row(random, row_count);
    positions.mutable_data_ptr<int64_t>()[place] = random_position(random, slots, q_len);
  }
}

RandomStep RandomStep::on(c10::Device device) const {
  RandomStep result = *this;
  for (at::Tensor* tensor :
       {&result.flat_keys, &result.flat_values, &result.new_keys, &result.new_values, &result.rows,
        &result.positions, &result.generation, &result.refused, &result.out, &result.block_table,
        &result.paged_keys, &result.paged_values}) {
    if (!tensor->defined()) continue;
    *tensor = tensor->to(tensor->options().device(device), /*non_blocking=*/false, /*copy=*/true);
  }
  return result;
}

at::Tensor RandomStep::view(const at::Tensor& flat) const {
  return flat.narrow(0, 0, row_count * kv_heads * slots)
      .view({row_count, kv_heads, slots, flat.size(1)});
}

bool same_bytes(const at::Tensor& a, const at::Tensor& b) {
  const at::Tensor x = a.contiguous(), y = b.contiguous();
  return x.scalar_type() == y.scalar_type() && x.sizes() == y.sizes() &&
         std::memcmp(x.const_data_ptr(), y.const_data_ptr(), x.nbytes()) == 0;
}

}  // namespace thaw
