// SPDX-License-Identifier: Apache-2.0
//
// Nodes in words.

#include <ATen/core/ivalue.h>
#include <c10/core/ScalarType.h>
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <sstream>

#include "device/sim/graph.h"
#include "device/sim/mirror.h"

namespace thaw::sim {

namespace {

std::string dtype_name(at::ScalarType type) { return c10::getDtypeNames(type).first; }

std::string list_text(at::IntArrayRef values) {
  return fmt::format("[{}]", fmt::join(values.begin(), values.end(), ", "));
}

/// A host scalar in digits that tell equal values from unequal ones.
std::string scalar_text(const at::Scalar& scalar) {
  if (scalar.isBoolean()) return scalar.toBool() ? "true" : "false";
  if (scalar.isIntegral(/*includeBool=*/false)) return fmt::format("{}", scalar.toLong());
  if (scalar.isFloatingPoint()) return fmt::format("{}", scalar.toDouble());
  const auto value = scalar.toComplexDouble();
  return fmt::format("{}+{}j", value.real(), value.imag());
}

std::string geometry_text(const at::Tensor& tensor) {
  std::string text = fmt::format("{} {} strides {}", dtype_name(tensor.scalar_type()),
                                 list_text(tensor.sizes()), list_text(tensor.strides()));
  if (tensor.storage_offset() != 0) text += fmt::format(" offset {}", tensor.storage_offset());
  return text;
}

/// Of a value that holds no tensor. `type` is the schema's, which calls a dtype by its name where
/// the value is a number.
std::string value_text(const c10::IValue& value, const std::string& type) {
  if (value.isNone()) return "none";
  if (value.isInt()) {
    if (type.rfind("ScalarType", 0) == 0) {
      return dtype_name(static_cast<at::ScalarType>(value.toInt()));
    }
    return fmt::format("{}", value.toInt());
  }
  if (value.isBool()) return value.toBool() ? "true" : "false";
  if (value.isDouble()) return fmt::format("{}", value.toDouble());
  if (value.isString()) return value.toStringRef();
  if (value.isDevice()) return "sim:0";  // translated for the CPU kernel, but the caller said this
  if (value.isGenerator()) return "generator";
  if (value.isScalar()) return scalar_text(value.toScalar());
  if (value.isList()) {
    std::vector<std::string> parts;
    for (const c10::IValue& element : value.toListRef()) parts.push_back(value_text(element, ""));
    return fmt::format("[{}]", fmt::join(parts, ", "));
  }
  std::ostringstream other;
  other << value;
  return other.str();
}

class Describer {
 public:
  Describer(const Node& node, uint64_t pool) : node_(node), pool_(pool) {}

  GraphNode describe() {
    described_.operation = operation();
    described_.after = node_.after;
    described_.recorded_by = node_.recorded_by;
    const auto& schema = node_.op.schema().arguments();
    for (size_t i = 0; i < schema.size(); ++i) {
      const OperatorPlan::Argument& plan = node_.plan->arguments[i];
      add(schema[i].name(), schema[i].real_type()->str(), node_.arguments[i], !plan.output,
          plan.written);
    }
    size_t count = 0;
    for (const at::Tensor& output : node_.outputs) {
      const std::string name = fmt::format("result{}", count++);
      if (output.defined()) add_tensor(name, "Tensor", output, false, true);
    }
    return std::move(described_);
  }

 private:
  std::string operation() const {
    constexpr std::string_view runtime = "thaw_runtime::";
    if (node_.copied_bytes > 0) return "memcpy";
    std::string name = name_of(node_.op);
    return name.rfind(runtime, 0) == 0 ? name.substr(runtime.size()) : name;
  }

  void add(const std::string& name, const std::string& type, const c10::IValue& value, bool read,
           bool written) {
    if (value.isTensor()) {
      add_tensor(name, type, value.toTensor(), read, written);
      return;
    }
    if (!holds_tensors(value)) {
      described_.arguments.push_back({name, type, value_text(value, type), std::nullopt});
      return;
    }
    size_t count = 0;
    for (const c10::IValue& element : value.toListRef()) {
      add(fmt::format("{}[{}]", name, count++), type, element, read, written);
    }
  }

  static bool holds_tensors(const c10::IValue& value) {
    if (!value.isList()) return false;
    for (const c10::IValue& element : value.toListRef()) {
      if (element.isTensor()) return true;
    }
    return false;
  }

  void add_tensor(const std::string& name, const std::string& type, const at::Tensor& tensor,
                  bool read, bool written) {
    Argument argument{name, type, "none", std::nullopt};
    if (tensor.defined()) {
      const Use* use = use_of(tensor);
      const bool host_scalar = use == nullptr && tensor.dim() == 0 && tensor.numel() == 1;
      argument.text = host_scalar ? scalar_text(tensor.item()) : geometry_text(tensor);
      if (use != nullptr) argument.memory = memory_use(*use, pool_);
    }
    if (argument.memory) {
      argument.memory->read = read;
      argument.memory->written = written;
    }
    described_.arguments.push_back(std::move(argument));
  }

  /// The memory that a recorded tensor lies over, or null.
  const Use* use_of(const at::Tensor& tensor) const {
    const auto* bytes = static_cast<const std::byte*>(tensor.storage().data());
    for (const Use& use : node_.uses) {
      if (Memory::bytes_of(*use.block) == bytes) return &use;
    }
    return nullptr;
  }

  const Node& node_;
  uint64_t pool_;
  GraphNode described_;
};

}  // namespace

GraphNode describe(const Node& node, uint64_t pool) { return Describer(node, pool).describe(); }

}  // namespace thaw::sim
