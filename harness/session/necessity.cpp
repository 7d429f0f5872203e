// SPDX-License-Identifier: Apache-2.0
#include "session/necessity.h"

#include <fmt/format.h>

#include <functional>
#include <optional>
#include <utility>

#include "case/case_text.h"
#include "ledger/validate.h"

namespace thaw {
namespace {

/// Another value of one setting. Where several are tried, all must do.
struct Alternative {
  std::string_view key;
  std::function<void(Settings&)> change;
};

std::vector<Alternative> alternatives(const Settings& s) {
  std::vector<Alternative> all{
      {"layers", [](Settings& o) { o.layers = o.layers == 1 ? 2 : 1; }},
      {"heads", [](Settings& o) { o.heads = o.heads == o.kv_heads ? 2 * o.kv_heads : o.kv_heads; }},
      {"kv_heads",
       [](Settings& o) {
         const int64_t other = o.kv_heads == 1 ? 2 : 1;
         if (o.heads % other != 0) o.heads = 2 * other;
         o.kv_heads = other;
       }},
      {"dim", [](Settings& o) { o.dim = o.dim == 16 ? 32 : 16; }},
      {"rows", [](Settings& o) { o.rows = o.rows + 1; }},
      {"rows", [](Settings& o) { o.rows = o.rows - 1; }},
      {"slots", [](Settings& o) { o.slots = o.slots + 1; }},
      {"slots", [](Settings& o) { o.slots = 2 * o.slots; }},
      {"dtype",
       [](Settings& o) {
         o.dtype = o.dtype == CaseDtype::fp32 ? CaseDtype::bf16 : CaseDtype::fp32;
       }},
      {"seed", [](Settings& o) { o.seed = o.seed + 1; }},
  };
  if (s.schedule != CaseSchedule::early) {
    all.push_back({"schedule", [](Settings& o) { o.schedule = CaseSchedule::early; }});
  }
  if (s.window != 0) {
    all.push_back({"window", [](Settings& o) { o.window = 0; }});
  }
  return all;
}

class Trial {
 public:
  Trial(Case c, FindingKind kind, Device& device, const Registry& registry,
        const RunOptions& options, int64_t runs_max)
      : case_(std::move(c)),
        kind_(kind),
        device_(device),
        registry_(registry),
        options_(options),
        runs_max_(runs_max) {
    options_.observers.clear();
  }

  Necessity run() {
    for (size_t op = 0; op < case_.ops.size() && result_.runs < runs_max_; ++op) try_without(op);
    for (const Alternative& other : alternatives(case_.settings)) try_other(other);
    for (const auto& [key, outcome] : outcomes_) {
      if (outcome.tried == 0) continue;
      if (outcome.happened == outcome.tried) result_.any_value.emplace_back(key);
      if (outcome.happened == 0) result_.needed_values.emplace_back(key);
    }
    return std::move(result_);
  }

 private:
  struct Outcome {
    int64_t tried = 0, happened = 0;
  };

  /// Whether it happens; nothing where the case is not valid so.
  std::optional<bool> happens(const Case& c) {
    try {
      const Case valid = parse_case(print_case(c), "variant");
      validate_case(valid, "variant");
      ++result_.runs;
      return run_case(valid, device_, registry_, options_).find(kind_) != nullptr;
    } catch (const CaseError&) {
      return {};
    }
  }

  void try_without(size_t op) {
    Case without = case_;
    without.ops.erase(without.ops.begin() + static_cast<std::ptrdiff_t>(op));
    const auto number = static_cast<int64_t>(op) + 1;
    // An op without which the others are no case is needed as well.
    auto& list = happens(without).value_or(false) ? result_.not_needed_ops : result_.needed_ops;
    list.push_back(number);
  }

  void try_other(const Alternative& other) {
    if (result_.runs >= runs_max_) return;
    Case changed = case_;
    other.change(changed.settings);
    const auto happened = happens(changed);
    if (!happened) return;
    if (outcomes_.empty() || outcomes_.back().first != other.key)
      outcomes_.emplace_back(other.key, Outcome{});
    ++outcomes_.back().second.tried;
    outcomes_.back().second.happened += *happened ? 1 : 0;
  }

  Case case_;
  FindingKind kind_;
  Device& device_;
  const Registry& registry_;
  RunOptions options_;
  int64_t runs_max_;
  std::vector<std::pair<std::string_view, Outcome>> outcomes_;
  Necessity result_;
};

}  // namespace

Case cut_after(const Case& c, int64_t op) {
  Case cut = c;
  if (op < static_cast<int64_t>(cut.ops.size())) cut.ops.resize(static_cast<size_t>(op));
  cut.expects.clear();
  cut.closing_comments.clear();
  return cut;
}

Necessity find_necessity(const Case& c, const Finding& finding, Device& device,
                         const Registry& registry, const RunOptions& options, int64_t runs_max) {
  return Trial(cut_after(c, finding.op), finding.kind, device, registry, options, runs_max).run();
}

}  // namespace thaw
