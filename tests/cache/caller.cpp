// SPDX-License-Identifier: Apache-2.0
#include "cache/caller.h"

#include <ATen/ops/empty.h>
#include <ATen/ops/zeros.h>

#include <algorithm>
#include <utility>

namespace thaw {
namespace {

int64_t dim_of(const CacheSpec& spec, const EntryId& id) {
  const LayerSpec& layer = spec.layers[static_cast<size_t>(id.layer)];
  return id.role == Role::keys ? layer.key_dim : layer.value_dim;
}

/// 0 to 15, exact in every dtype, and different for most arguments.
float element_of(const EntryId& id, int64_t generation, int64_t index) {
  uint64_t mixed = 0;
  for (const int64_t part :
       {generation, id.row, id.position, id.layer, id.head, static_cast<int64_t>(id.role), index}) {
    mixed = (mixed ^ static_cast<uint64_t>(part)) * 0x9E3779B97F4A7C15U;
    mixed ^= mixed >> 29U;
  }
  return static_cast<float>(mixed >> 60U);
}

}  // namespace

std::string EntryId::text() const {
  return std::string(role == Role::keys ? "key" : "value") + " of layer " + std::to_string(layer) +
         ", row " + std::to_string(row) + ", head " + std::to_string(head) + ", position " +
         std::to_string(position);
}

std::vector<float> entry_of(const CacheSpec& spec, const EntryId& id, int64_t generation) {
  std::vector<float> entry;
  for (int64_t i = 0; i < dim_of(spec, id); ++i) entry.push_back(element_of(id, generation, i));
  return entry;
}

Caller::Caller(KvCache& cache) : cache_(cache) {
  const CacheSpec& spec = cache.spec();
  for (const LayerSpec& layer : spec.layers) {
    const int64_t entries = spec.rows * layer.kv_heads * spec.q_len_max;
    const auto options = at::TensorOptions().device(spec.device);
    keys_.push_back(at::zeros({entries * layer.key_dim}, options.dtype(layer.key_dtype)));
    values_.push_back(at::zeros({entries * layer.value_dim}, options.dtype(layer.value_dtype)));
  }
}

at::Tensor Caller::entries(int64_t layer, Role role) const {
  const LayerSpec& spec = cache_.spec().layers[static_cast<size_t>(layer)];
  const int64_t dim = role == Role::keys ? spec.key_dim : spec.value_dim;
  const at::Tensor& flat = (role == Role::keys ? keys_ : values_)[static_cast<size_t>(layer)];
  return flat.narrow(0, 0, plan_.places() * spec.kv_heads * plan_.q_len * dim)
      .view({plan_.places(), spec.kv_heads, plan_.q_len, dim});
}

void Caller::fill(int64_t layer, Role role) {
  const at::Tensor device = entries(layer, role);
  const at::Tensor host = at::empty(device.sizes(), at::kFloat);
  float* next = host.mutable_data_ptr<float>();
  EntryId id{layer, 0, 0, 0, role};
  for (size_t place = 0; place < plan_.rows.size(); ++place) {
    id.row = plan_.rows[place];
    for (id.head = 0; id.head < device.size(1); ++id.head) {
      for (int64_t token = 0; token < plan_.q_len; ++token) {
        // Unsigned, since a test may ask for the largest position that there is.
        id.position = static_cast<int64_t>(static_cast<uint64_t>(plan_.positions[place]) +
                                           static_cast<uint64_t>(token));
        for (int64_t i = 0; i < device.size(3); ++i) *next++ = element_of(id, generation_, i);
      }
    }
  }
  device.copy_(host.to(device.scalar_type()));
}

void Caller::refill(const StepPlan& plan, int64_t generation) {
  plan_ = plan;
  generation_ = generation;
  for (int64_t layer = 0; layer < std::ssize(keys_); ++layer) {
    fill(layer, Role::keys);
    fill(layer, Role::values);
  }
  cache_.prepare(plan);
}

void Caller::run() {
  cache_.begin_step(plan_.places(), plan_.q_len);
  for (int64_t layer = 0; layer < std::ssize(keys_); ++layer) {
    cache_.update(layer, entries(layer, Role::keys), entries(layer, Role::values));
  }
  cache_.end_step();
}

void Caller::step(const StepPlan& plan, int64_t generation) {
  refill(plan, generation);
  run();
}

CacheContents::CacheContents(const KvCache& cache) : cache_(cache) {
  for (const Buffer& buffer : cache.buffers()) {
    element_sizes_.push_back(static_cast<int64_t>(buffer.tensor.element_size()));
    numbers_.emplace_back();
    if (buffer.role != Role::keys && buffer.role != Role::values) continue;
    const at::Tensor numbers = buffer.tensor.cpu().to(at::kFloat);
    const float* first = numbers.const_data_ptr<float>();
    numbers_.back().assign(first, first + numbers.numel());
  }
}

size_t CacheContents::element_index(const Place& place, int64_t element) const {
  const int64_t bytes = place.offset + element * place.stride;
  return static_cast<size_t>(bytes / element_sizes_.at(place.buffer));
}

std::vector<float> CacheContents::at(const EntryId& id) const {
  std::vector<float> entry;
  const std::optional<Place> place = cache_.locate(id.layer, id.row, id.head, id.position, id.role);
  for (int64_t i = 0; place && i < place->dim; ++i) {
    entry.push_back(numbers_.at(place->buffer).at(element_index(*place, i)));
  }
  return entry;
}

void CacheContents::put(const EntryId& id, const std::vector<float>& entry) {
  const Place place = cache_.locate(id.layer, id.row, id.head, id.position, id.role).value();
  for (int64_t i = 0; i < place.dim; ++i) {
    numbers_.at(place.buffer).at(element_index(place, i)) = entry.at(static_cast<size_t>(i));
  }
}

std::vector<int64_t> CacheContents::slots_changed_since(const CacheContents& before,
                                                        int64_t row) const {
  std::vector<int64_t> slots;
  EntryId id{0, row, 0, 0, Role::keys};
  for (; id.position < cache_.spec().slots; ++id.position) {
    if (at(id) != before.at(id)) slots.push_back(id.position);
  }
  return slots;
}

std::vector<int64_t> integers_of(const at::Tensor& tensor) {
  const at::Tensor host = tensor.cpu().contiguous();
  const int64_t* first = host.const_data_ptr<int64_t>();
  return {first, first + host.numel()};
}

int64_t refused_by(const KvCache& cache) {
  int64_t refused = 0;
  for (const Buffer& buffer : cache.buffers()) {
    if (buffer.role == Role::refused) refused += integers_of(buffer.tensor).at(0);
  }
  return refused;
}

}  // namespace thaw
