// SPDX-License-Identifier: Apache-2.0
#include "reference/llama_reference.h"

#include <ATen/ops/empty.h>
#include <ATen/ops/zeros.h>
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <utility>

#include "case/op_table.h"
#include "decoder/tag.h"
#include "reference/elements.h"
#include "subject/token.h"

namespace thaw {
namespace {

CacheSpec twin_spec(CacheSpec spec, c10::Device device) {
  spec.device = device.is_privateuseone() ? c10::Device(c10::kCPU) : device;
  return spec;
}

Role role_of(size_t index) { return index % 2 == 0 ? Role::keys : Role::values; }

int64_t largest_at(std::span<const float> numbers) {
  return std::max_element(numbers.begin(), numbers.end()) - numbers.begin();
}

std::string dtype_name(const Settings& settings) { return key_value(*find_key("dtype"), settings); }

bool same_bytes(std::span<const float> a, std::span<const float> b) {
  return a.size() == b.size() && std::memcmp(a.data(), b.data(), a.size_bytes()) == 0;
}

}  // namespace

LlamaReference::LlamaReference(const Settings& settings, const CacheSpec& cache, c10::Device device)
    : settings_(settings),
      spec_(twin_spec(cache, device)),
      cache_(spec_),
      decoder_({.heads = settings.heads, .seed = static_cast<int64_t>(settings.seed)}, spec_),
      plain_(decoder_.llama(), decoder_.weights()),
      owners_(static_cast<size_t>(spec_.rows * spec_.slots)) {
  const auto integers = at::TensorOptions().dtype(at::kLong);
  inputs_ = {.rows = at::zeros({spec_.rows}, integers),
             .positions = at::zeros({spec_.rows}, integers),
             .generation = at::zeros({1}, integers),
             .tokens = at::zeros({spec_.rows, spec_.q_len_max}, integers)};
  for (size_t i = 0; i < 2 * spec_.layers.size(); ++i) {
    on_host_.push_back(cache_.entries(static_cast<int64_t>(i / 2), role_of(i))
                           .to(at::TensorOptions().device(at::kCPU).dtype(at::kFloat)));
  }
}

void LlamaReference::step(const Ledger& /*ledger*/, const StepPlan& plan, int64_t number,
                          bool commits) {
  plan_ = plan;
  const int64_t generation = number % 65536;
  disagreement_.reset();
  run_twin(plan, generation);
  note_entries(generation, commits);
  if (commits) compare_with_plain_loops(generation);
}

void LlamaReference::run_twin(const StepPlan& plan, int64_t generation) {
  auto positions = inputs_.positions.mutable_data_ptr<int64_t>();
  auto rows = inputs_.rows.mutable_data_ptr<int64_t>();
  for (size_t place = 0; place < plan.rows.size(); ++place) {
    rows[place] = plan.rows[place];
    positions[place] = plan.positions[place];
    if (plan.rows[place] < 0) continue;
    auto* tokens =
        inputs_.tokens.mutable_data_ptr<int64_t>() + static_cast<int64_t>(place) * spec_.q_len_max;
    for (int64_t i = 0; i < plan.q_len; ++i) {
      tokens[i] = token_at(settings_.seed, plan.rows[place], plan.positions[place] + i, generation);
    }
  }
  const StepInputs there{.rows = inputs_.rows.to(spec_.device),
                         .positions = inputs_.positions.to(spec_.device),
                         .generation = inputs_.generation.to(spec_.device),
                         .tokens = inputs_.tokens.to(spec_.device)};
  cache_.prepare(plan);
  decoder_.step(cache_, there, plan.places(), plan.q_len);
  output_ = decoder_.output(plan.places(), plan.q_len).to(at::kCPU);
}

void LlamaReference::note_entries(int64_t generation, bool commits) {
  for (const TwinCache::Written& w : cache_.written()) {
    for (size_t i = 0; i < on_host_.size(); ++i) {
      const auto layer = static_cast<int64_t>(i / 2);
      const at::Tensor& entries = cache_.entries(layer, role_of(i));
      if (!entries.is_alias_of(on_host_[i])) {
        on_host_[i]
            .select(0, w.row)
            .narrow(1, w.from, w.count)
            .copy_(entries.select(0, w.row).narrow(1, w.from, w.count));
      }
      for (int64_t head = 0; head < entries.size(1); ++head) {
        for (int64_t p = w.from; p < w.from + w.count; ++p) {
          const EntryName name{layer, w.row, head, p, role_of(i)};
          log_.add(elements(name), {.row = w.row,
                                    .position = p,
                                    .generation = generation,
                                    .layer = layer,
                                    .head = head,
                                    .value = role_of(i) == Role::values});
        }
      }
    }
    for (int64_t p = w.from; commits && p < w.from + w.count; ++p) {
      owner(w.row, p) = {true, {static_cast<uint8_t>(w.row), static_cast<uint16_t>(generation)}};
    }
  }
}

/// An entry never changes its position: whoever has it now took it from another row.
void LlamaReference::follow(const Ledger& ledger) {
  struct Move {
    int64_t from, to, position;
  };
  std::vector<Move> moves;
  const std::vector<Owner> before = owners_;
  for (int64_t row = 0; row < spec_.rows; ++row) {
    for (int64_t p = 0; p < spec_.slots; ++p) {
      if (p >= ledger.length(row)) {
        owner(row, p) = {};
        continue;
      }
      const Owner wanted{true, ledger.provenance(row, p)};
      const auto holds = [&](int64_t other) {
        const Owner& has = before[static_cast<size_t>(other * spec_.slots + p)];
        return has.entry && has.provenance == wanted.provenance;
      };
      for (int64_t other = 0; other < spec_.rows && !holds(row); ++other) {
        if (!holds(other)) continue;
        moves.push_back({other, row, p});
        break;
      }
      owner(row, p) = wanted;
    }
  }
  if (moves.empty()) return;
  const std::vector<at::Tensor> entries = copy_of_entries();
  for (const Move& move : moves) move_entry(entries, move.from, move.to, move.position);
}

std::vector<at::Tensor> LlamaReference::copy_of_entries() const {
  std::vector<at::Tensor> copies;
  for (size_t i = 0; i < on_host_.size(); ++i) {
    copies.push_back(cache_.entries(static_cast<int64_t>(i / 2), role_of(i)).clone());
  }
  return copies;
}

void LlamaReference::move_entry(const std::vector<at::Tensor>& from_all, int64_t from, int64_t to,
                                int64_t position) {
  for (size_t i = 0; i < on_host_.size(); ++i) {
    const at::Tensor entry = from_all[i].select(0, from).select(1, position);
    const at::Tensor& entries = cache_.entries(static_cast<int64_t>(i / 2), role_of(i));
    entries.select(0, to).select(1, position).copy_(entry);
    if (!entries.is_alias_of(on_host_[i])) {
      on_host_[i].select(0, to).select(1, position).copy_(entry);
    }
  }
}

std::span<const float> LlamaReference::elements(const EntryName& entry) const {
  const at::Tensor& all =
      on_host_[static_cast<size_t>(2 * entry.layer + (entry.role == Role::keys ? 0 : 1))];
  const int64_t dim = all.size(3);
  const int64_t index = (entry.row * all.size(1) + entry.head) * spec_.slots + entry.position;
  return {all.const_data_ptr<float>() + index * dim, static_cast<size_t>(dim)};
}

void LlamaReference::put_entry(const EntryName& entry, const Provenance& /*provenance*/,
                               at::ScalarType dtype, const Place& place, std::byte* to) {
  const size_t element_size = c10::elementSize(dtype);
  for (const float element : elements(entry).first(static_cast<size_t>(place.dim))) {
    std::memcpy(to, encode_element(dtype, element).data(), element_size);
    to += place.stride;
  }
}

// ------------------------------------------------------------------------------------- outputs

std::span<const float> LlamaReference::output(const OutputName& name) const {
  const auto place = std::find(plan_.rows.begin(), plan_.rows.end(), name.row) - plan_.rows.begin();
  const int64_t token = name.position - plan_.positions[static_cast<size_t>(place)];
  const int64_t size = output_.size(4);
  return {output_.const_data_ptr<float>() + (place * plan_.q_len + token) * size,
          static_cast<size_t>(size)};
}

std::string LlamaReference::describe_entry(std::span<const float> entry) const {
  if (const auto tag = log_.find(entry)) return thaw::describe(*tag);
  if (std::string text = describe_unwritten(entry); !text.empty()) return text;
  return "no entry of this case: " + list_elements(entry);
}

std::string LlamaReference::describe(const OutputName& name) const {
  return fmt::format("row {}, position {}", name.row, name.position);
}

std::string LlamaReference::describe_output(const OutputName& name,
                                            std::span<const float> output) const {
  if (std::string text = describe_unwritten(output); !text.empty()) return text;
  const int64_t token = largest_at(output);
  std::string text = fmt::format("next token {}", token);
  const auto expected = this->output(name);
  if (same_bytes(expected, output)) return text;
  double largest = 0;
  for (size_t i = 0; i < output.size(); ++i) {
    // Written so that a NaN counts as the largest difference.
    const double difference = std::abs(static_cast<double>(output[i]) - expected[i]);
    if (!(difference <= largest)) largest = difference;
  }
  return text + fmt::format("; logits differ by up to {:.3g}", largest);
}

// --------------------------------------------------------------------------------- plain loops

void LlamaReference::compare_with_plain_loops(int64_t generation) {
  for (const TwinCache::Written& w : cache_.written()) {
    for (int64_t token = 0; token < w.count; ++token) compare_token(w, token, generation);
  }
}

void LlamaReference::compare_token(const TwinCache::Written& of, int64_t token,
                                   int64_t generation) {
  const int64_t position = of.from + token;
  PlainLlama::Input input{.token = token_at(settings_.seed, of.row, position, generation),
                          .position = position,
                          .window = spec_.window,
                          .slots = spec_.slots,
                          .layers = {}};
  for (size_t i = 0; i < on_host_.size(); i += 2) {
    const auto of_row = [&](const at::Tensor& all) {
      const int64_t size = all[of.row].numel();
      return std::span(all.const_data_ptr<float>() + of.row * size, static_cast<size_t>(size));
    };
    input.layers.push_back({of_row(on_host_[i]), of_row(on_host_[i + 1])});
  }
  const PlainLlama::Result plain = plain_.run(input);
  const auto compare = [&](std::span<const float> found, const double* wanted, at::ScalarType kept,
                           const std::string& place) {
    double magnitude = 0;
    Distance worst{.length = position + 1};
    for (size_t i = 0; i < found.size(); ++i) {
      magnitude = std::max(magnitude, std::abs(wanted[i]));
      const double difference = std::abs(found[i] - wanted[i]);
      // Written so that a NaN counts as the largest difference.
      if (!(difference <= worst.difference)) worst.difference = difference;
    }
    worst.tolerance = llama_tolerance(decoder_.llama(), position + 1, magnitude, kept);
    note_distance(worst, place);
  };
  for (size_t i = 0; i < spec_.layers.size(); ++i) {
    const auto layer = static_cast<int64_t>(i);
    const LayerSpec& shape = spec_.layers[i];
    for (int64_t head = 0; head < shape.kv_heads; ++head) {
      for (const Role role : {Role::keys, Role::values}) {
        const EntryName name{layer, of.row, head, position, role};
        const auto& numbers = role == Role::keys ? plain.keys[i] : plain.values[i];
        compare(elements(name), numbers.data() + head * shape.key_dim,
                role == Role::keys ? shape.key_dtype : shape.value_dtype, to_string(name));
      }
    }
  }
  const OutputName name{.part = 0, .row = of.row, .head = 0, .position = position};
  compare(output(name), plain.output.data(), at::kFloat, describe(name));
  ++tokens_;
}

void LlamaReference::note_distance(const Distance& distance, const std::string& place) {
  if (!distance.smaller_than(worst_)) worst_ = distance;
  // A NaN is no distance within any tolerance.
  if (distance.difference <= distance.tolerance || disagreement_) return;
  disagreement_ = {place,
                   fmt::format("within {:.2g} of plain loops ({}, length {})", distance.tolerance,
                               dtype_name(settings_), distance.length),
                   fmt::format("{:.2g} away", distance.difference)};
}

std::string LlamaReference::comparison() const {
  return fmt::format(
      "compared bit for bit with an eager twin; its {} tokens with plain loops: worst difference "
      "{:.2g}, tolerance {:.2g} ({}, length {})",
      tokens_, worst_.difference, worst_.tolerance, dtype_name(settings_), worst_.length);
}

}  // namespace thaw
