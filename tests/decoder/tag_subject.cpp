// SPDX-License-Identifier: Apache-2.0
#include "decoder/tag_subject.h"

#include <ATen/ops/full.h>
#include <ATen/ops/tensor.h>
#include <ATen/ops/zeros.h>
#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "decoder/tag_reference.h"

namespace thaw {
namespace {

std::span<const float> numbers(const at::Tensor& contiguous) {
  return {contiguous.const_data_ptr<float>(), static_cast<size_t>(contiguous.numel())};
}

}  // namespace

TagSubject::TagSubject(CacheSpec spec, int64_t heads)
    : spec_(spec), heads_(heads), decoder_({.heads = heads}, spec), cache_(spec) {
  const auto options = at::TensorOptions(spec.device).dtype(at::kLong);
  inputs_ = {.rows = at::full({spec.rows}, -1, options),
             .positions = at::full({spec.rows}, -1, options),
             .generation = at::zeros({1}, options),
             .tokens = at::zeros({spec.rows, spec.q_len_max}, options)};
  writers_.assign(static_cast<size_t>(spec.rows),
                  std::vector<int64_t>(static_cast<size_t>(spec.slots), -1));
}

void TagSubject::refill(const StepPlan& plan, int64_t generation) {
  plan_ = plan;
  generation_ = generation;
  cache_.prepare(plan);
  inputs_.rows.narrow(0, 0, plan.places()).copy_(at::tensor(plan.rows, at::kLong));
  inputs_.positions.narrow(0, 0, plan.places()).copy_(at::tensor(plan.positions, at::kLong));
  inputs_.generation.copy_(at::full({1}, generation, at::kLong));
}

void TagSubject::expect_written() {
  for (size_t place = 0; place < plan_.rows.size(); ++place) {
    if (plan_.rows[place] == -1) continue;
    auto& writers = writers_[static_cast<size_t>(plan_.rows[place])];
    for (int64_t token = 0; token < plan_.q_len; ++token) {
      const int64_t position = plan_.positions[place] + token;
      if (position < spec_.slots) writers[static_cast<size_t>(position)] = generation_;
    }
  }
}

void TagSubject::step(const StepPlan& plan, int64_t generation) {
  refill(plan, generation);
  enqueue(plan.places(), plan.q_len);
  expect_written();
}

std::vector<float> TagSubject::entry(int64_t layer, int64_t row, int64_t position, int64_t head,
                                     bool value) const {
  const int64_t writer = writers_[static_cast<size_t>(row)][static_cast<size_t>(position)];
  std::vector<float> result(static_cast<size_t>(spec_.layers[0].key_dim));
  expected_entry({row, position, writer, layer, head, value}, result);
  return result;
}

std::string TagSubject::differences() const { return entry_differences() + output_differences(); }

std::string TagSubject::entry_differences() const {
  std::string result;
  const auto buffers = cache_.buffers();
  for (int64_t layer = 0; layer < static_cast<int64_t>(spec_.layers.size()); ++layer) {
    for (const Role role : {Role::keys, Role::values}) {
      const bool value = role == Role::values;
      const auto buffer =
          std::find_if(buffers.begin(), buffers.end(), [&](const Buffer& candidate) {
            return candidate.role == role && candidate.layer == layer;
          });
      const at::Tensor all = buffer->tensor.cpu().to(at::kFloat).contiguous();
      for (int64_t row = 0; row < spec_.rows; ++row) {
        for (int64_t position = 0; position < spec_.slots; ++position) {
          if (writers_[static_cast<size_t>(row)][static_cast<size_t>(position)] == -1) continue;
          for (int64_t head = 0; head < spec_.layers[0].kv_heads; ++head) {
            const Place place = cache_.locate(layer, row, head, position, role).value();
            const auto first = static_cast<size_t>(
                place.offset / static_cast<int64_t>(buffer->tensor.element_size()));
            const auto found = numbers(all).subspan(first, static_cast<size_t>(place.dim));
            const auto expected = entry(layer, row, position, head, value);
            if (!std::equal(found.begin(), found.end(), expected.begin(), expected.end())) {
              result += fmt::format("slot (row {}, position {}) holds {}, not {}\n", row, position,
                                    describe_entry(found), describe_entry(expected));
            }
          }
        }
      }
    }
  }
  return result;
}

std::string TagSubject::output_differences() const {
  std::string result;
  const at::Tensor found = output().cpu();
  const int64_t group = heads_ / spec_.layers[0].kv_heads;
  const int64_t layers = static_cast<int64_t>(spec_.layers.size());
  for (int64_t place = 0; place < plan_.places(); ++place) {
    const int64_t row = plan_.rows[static_cast<size_t>(place)];
    if (row == -1) continue;
    for (int64_t layer = 0; layer < layers; ++layer) {
      for (int64_t head = 0; head < heads_; ++head) {
        std::vector<float> sum(static_cast<size_t>(spec_.layers[0].key_dim), 0.0F);
        int64_t seen = 0;
        for (int64_t token = 0; token < plan_.q_len; ++token) {
          const int64_t last = plan_.positions[static_cast<size_t>(place)] + token;
          for (; seen <= last && seen < spec_.slots; ++seen) {
            const auto key = entry(layer, row, seen, head / group, false);
            const auto value = entry(layer, row, seen, head / group, true);
            for (size_t i = 0; i < sum.size(); ++i) sum[i] += key[i] + 2 * value[i];
          }
          const auto output = numbers(found[layer][place][head][token]);
          if (!std::equal(sum.begin(), sum.end(), output.begin(), output.end())) {
            result += fmt::format("output of layer {}, place {}, head {}, token {} differs\n",
                                  layer, place, head, token);
          }
        }
      }
    }
  }
  return result;
}

std::vector<at::Tensor> TagSubject::contents() const {
  std::vector<at::Tensor> result{output().cpu().clone()};
  for (const Buffer& buffer : cache_.buffers()) {
    if (buffer.role == Role::keys || buffer.role == Role::values) {
      result.push_back(buffer.tensor.cpu().to(at::kFloat));
    }
  }
  return result;
}

at::Tensor TagSubject::output() const { return decoder_.output(plan_.places(), plan_.q_len); }

}  // namespace thaw
