// SPDX-License-Identifier: Apache-2.0
#include "device/sim/operator_plan.h"

#include <ATen/core/enum_tag.h>

#include <algorithm>
#include <array>
#include <functional>
#include <mutex>
#include <set>
#include <string_view>
#include <unordered_map>

namespace thaw::sim {

namespace {

bool holds_tensors(const c10::TypePtr& type) {
  return type->str().find("Tensor") != std::string::npos;
}

/// Rule 21. Tags of LibTorch tell most; three operators wait without carrying one. index.Tensor
/// carries one, but only its form with a mask waits, and that goes through nonzero.
bool waits_for_shape(const c10::OperatorHandle& op) {
  constexpr std::array<std::string_view, 3> untagged = {"aten::histc", "aten::_linalg_check_errors",
                                                        "aten::_unique"};
  const std::string& name = op.schema().name();
  if (std::find(untagged.begin(), untagged.end(), name) != untagged.end()) return true;
  if (name == "aten::index") return false;
  return op.hasTag(at::Tag::dynamic_output_shape) || op.hasTag(at::Tag::data_dependent_output);
}

/// "add" of "aten::add_": overloads and the in-place form take the same tensors.
std::string_view base_name(std::string_view name) {
  name.remove_prefix(name.find("::") + 2);
  while (!name.empty() && name.back() == '_') name.remove_suffix(1);
  return name;
}

/// Operators that LibTorch tags as pointwise in one overload at least, and their like without the
/// tag. Their kernels take host scalars as parameters; but not those of some that have the tag.
bool is_pointwise(std::string_view name) {
  static const auto* names = [] {
    auto* found = new std::set<std::string, std::less<>>{"rsub", "floor_divide", "fill"};
    for (const c10::OperatorName& op : c10::Dispatcher::singleton().getAllOpNames()) {
      const auto schema = c10::Dispatcher::singleton().findSchema(op);
      if (schema && schema->hasTag(at::Tag::pointwise)) found->emplace(base_name(op.name));
    }
    for (const char* tagged : {"equal", "clamp", "clip", "addcdiv"}) found->erase(tagged);
    return found;
  }();
  return names->count(base_name(name)) > 0;
}

/// Operators outside LibTorch say themselves what they take.
OperatorPlan::HostScalar host_scalar_as(const c10::FunctionSchema& schema,
                                        const std::string& argument) {
  using HostScalar = OperatorPlan::HostScalar;
  const std::string& name = schema.name();
  if (name.rfind("aten::", 0) != 0) return HostScalar::parameter;
  if (name.rfind("aten::masked_fill", 0) == 0 || name.rfind("aten::index_fill", 0) == 0) {
    return argument == "value" ? HostScalar::parameter : HostScalar::refused;
  }
  const bool indexing = name == "aten::index" || name == "aten::_index_put_impl_";
  if (indexing && (argument == "indices" || argument == "values")) return HostScalar::copied;
  return is_pointwise(name) ? HostScalar::parameter : HostScalar::refused;
}

void read_arguments(const c10::FunctionSchema& schema, OperatorPlan& plan) {
  for (size_t i = 0; i < schema.arguments().size(); ++i) {
    const c10::Argument& argument = schema.arguments()[i];
    const c10::AliasInfo* alias = argument.alias_info();
    const bool written = alias != nullptr && alias->isWrite();
    plan.arguments.push_back({written, host_scalar_as(schema, argument.name()), argument.is_out()});
    plan.writes_argument |= written;
    if (argument.is_out()) plan.outputs.push_back(i);
    if (argument.type()->str().find("Generator") != std::string::npos) plan.generator_argument = i;
    if (argument.name() == "dropout_p") plan.dropout_argument = i;
    if (argument.name() == "output_size" && schema.name() == "aten::repeat_interleave") {
      plan.output_size_argument = i;
    }
    if (argument.name() == "indices" && schema.name() == "aten::_index_put_impl_") {
      plan.put_indices_argument = i;
    }
  }
}

std::optional<size_t> argument_returned_as(const c10::FunctionSchema& schema,
                                           const c10::Argument& result) {
  const c10::AliasInfo* alias = result.alias_info();
  if (alias == nullptr || !alias->isWrite()) return std::nullopt;
  for (size_t i = 0; i < schema.arguments().size(); ++i) {
    const c10::AliasInfo* candidate = schema.arguments()[i].alias_info();
    if (candidate != nullptr && *candidate == *alias) return i;
  }
  return std::nullopt;
}

OperatorPlan make_plan(const c10::OperatorHandle& op) {
  const c10::FunctionSchema& schema = op.schema();
  OperatorPlan plan;
  read_arguments(schema, plan);
  plan.synchronizes = waits_for_shape(op);
  for (const c10::Argument& result : schema.returns()) {
    plan.returned_argument.push_back(argument_returned_as(schema, result));
    plan.synchronizes |= !holds_tensors(result.type());
  }
  plan.draws_uniform = schema.name() == "aten::uniform_";
  plan.draws_from_default_generator =
      op.hasTag(at::Tag::nondeterministic_seeded) && !plan.generator_argument;
  return plan;
}

/// The plans of all threads. Schemas, the keys, live as long as their operators, which LibTorch
/// registers for the life of the process.
const OperatorPlan& shared_plan_of(const c10::OperatorHandle& op) {
  static std::mutex mutex;
  static auto* plans = new std::unordered_map<const c10::FunctionSchema*, OperatorPlan>;
  std::lock_guard<std::mutex> lock(mutex);
  const auto known = plans->find(&op.schema());
  if (known != plans->end()) return known->second;
  return plans->emplace(&op.schema(), make_plan(op)).first->second;
}

}  // namespace

const OperatorPlan& plan_of(const c10::OperatorHandle& op) {
  static thread_local std::unordered_map<const c10::FunctionSchema*, const OperatorPlan*> known;
  const OperatorPlan*& plan = known[&op.schema()];
  if (plan == nullptr) plan = &shared_plan_of(op);
  return *plan;
}

std::string name_of(const c10::OperatorHandle& op) {
  const c10::OperatorName& name = op.operator_name();
  return name.overload_name.empty() ? name.name : name.name + "." + name.overload_name;
}

}  // namespace thaw::sim
