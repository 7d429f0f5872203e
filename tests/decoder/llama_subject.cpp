// SPDX-License-Identifier: Apache-2.0
#include "decoder/llama_subject.h"

#include <ATen/ops/zeros.h>

#include <algorithm>
#include <cstring>

namespace thaw {

LlamaSubject::LlamaSubject(const CacheSpec& spec, int64_t heads, int64_t seed)
    : cache_(spec), decoder_({.heads = heads, .seed = seed}, spec) {
  const auto integers = at::TensorOptions().dtype(at::kLong).device(spec.device);
  inputs_ = {.rows = at::zeros({spec.rows}, integers),
             .positions = at::zeros({spec.rows}, integers),
             .generation = at::zeros({1}, integers),
             .tokens = at::zeros({spec.rows, spec.q_len_max}, integers)};
}

void LlamaSubject::refill(const StepPlan& plan, int64_t added) {
  const auto integers = at::TensorOptions().dtype(at::kLong);
  at::Tensor rows = at::zeros({inputs_.rows.size(0)}, integers);
  at::Tensor positions = rows.clone();
  at::Tensor tokens = at::zeros(inputs_.tokens.sizes(), integers);
  for (int64_t place = 0; place < plan.places(); ++place) {
    const int64_t position = plan.positions[static_cast<size_t>(place)];
    rows.mutable_data_ptr<int64_t>()[place] = plan.rows[static_cast<size_t>(place)];
    positions.mutable_data_ptr<int64_t>()[place] = position;
    for (int64_t i = 0; i < plan.q_len; ++i) {
      tokens.mutable_data_ptr<int64_t>()[place * tokens.size(1) + i] =
          ((position + i + 1) * (place + 3) + added) % LlamaSpec{}.vocabulary;
    }
  }
  inputs_.rows.copy_(rows);
  inputs_.positions.copy_(positions);
  inputs_.tokens.copy_(tokens);
  cache_.prepare(plan);
}

void LlamaSubject::step(const StepPlan& plan, int64_t added) {
  refill(plan, added);
  enqueue(plan);
}

std::vector<at::Tensor> LlamaSubject::contents(const StepPlan& plan) const {
  std::vector<at::Tensor> all;
  for (const Buffer& buffer : cache_.buffers()) {
    if (buffer.role != Role::keys && buffer.role != Role::values) continue;
    all.push_back(buffer.tensor.to(at::kCPU).clone());
  }
  all.push_back(decoder_.output(plan.places(), plan.q_len).to(at::kCPU).clone());
  return all;
}

bool same_bits(const std::vector<at::Tensor>& a, const std::vector<at::Tensor>& b) {
  return std::equal(a.begin(), a.end(), b.begin(), b.end(),
                    [](const at::Tensor& x, const at::Tensor& y) {
                      return x.nbytes() == y.nbytes() &&
                             std::memcmp(x.const_data_ptr(), y.const_data_ptr(), x.nbytes()) == 0;
                    });
}

}  // namespace thaw
