// SPDX-License-Identifier: Apache-2.0
#include "audit/audit.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <functional>
#include <map>
#include <optional>
#include <set>

#include "audit/audit_states.h"
#include "audit/recorded_step.h"
#include "case/case_text.h"
#include "session/session.h"

namespace thaw {
namespace {

constexpr std::array<int64_t, 2> q_lens{1, 3};

/// An onlooker that keeps what every capture of a case recorded.
class RecordingKeeper final : public Oracle {
 public:
  std::string_view name() const override { return "recording keeper"; }

  void after(const Moment& moment, Findings& /*findings*/) override {
    if (moment.op.kind != OpKind::capture) return;
    const CapturedGraph* captured = moment.subject.find_graph(moment.op.graph);
    if (captured != nullptr && captured->graph != nullptr) {
      steps_.emplace(moment.op.graph, recorded_step(*captured));
    } else if (moment.failure) {
      failure_ = moment.failure->text;
    }
  }

  const RecordedStep* find(const std::string& graph) const {
    const auto found = steps_.find(graph);
    return found == steps_.end() ? nullptr : &found->second;
  }
  void note_failure(std::string why) { failure_ = std::move(why); }
  const std::string& failure() const { return failure_; }

 private:
  std::map<std::string, RecordedStep> steps_;
  std::string failure_;
};

std::vector<std::string> memory_written(const RecordedNode& node) {
  std::vector<std::string> written;
  for (const RecordedArgument& argument : node.arguments) {
    const bool known = std::find(written.begin(), written.end(), argument.memory) != written.end();
    if (argument.written && !known) written.push_back(argument.memory);
  }
  return written;
}

/// The part of a call stack that is the subject's own: below it there is only thaw.
std::vector<std::string> cut_at_subject(const std::vector<std::string>& recorded_by) {
  const auto end = std::find_if(recorded_by.begin(), recorded_by.end(), [](const std::string& f) {
    return f.find("::capture(") != std::string::npos;
  });
  return {recorded_by.begin(), end};
}

/// The audit of one cache.
class Auditor {
 public:
  Auditor(Settings settings, Device& device, const Registry& registry, Kernels kernels)
      : settings_(std::move(settings)), device_(device), registry_(registry), kernels_(kernels) {
    result_.cache = settings_.cache;
    result_.device = device.name();
  }

  Audit run() {
    const CacheAbilities can = abilities();
    if (!can.rows_apart) settings_.rows = 1;
    if (settings_.rows == 1) result_.not_compared.emplace_back("the live rows", "there is one row");
    for (const int64_t q_len : q_lens) {
      if (q_len > 1 && !can.several_tokens) {
        result_.not_compared.emplace_back(fmt::format("q_len {}", q_len),
                                          "the cache takes one token a step");
      } else {
        compare_states(q_len, can.several_tokens);
      }
    }
    return std::move(result_);
  }

 private:
  CacheAbilities abilities() const {
    const Registry::Entry* entry = registry_.find(settings_.cache);
    if (entry == nullptr) throw UnknownCache(registry_.unknown(settings_.cache));
    device_.reset();
    Case any;
    any.settings = settings_;
    return entry->make(device_, any, kernels_)->cache().abilities();
  }

  /// What the captures of these ops recorded.
  RecordingKeeper record(const std::string& ops) const {
    Case c = parse_case("thaw case 1\nslots 16\nrows 16\n" + ops, "audit");
    c.settings = settings_;
    RecordingKeeper keeper;
    RunOptions options;
    options.kernels = kernels_;
    options.observers = {&keeper};
    const Verdict verdict = run_case(c, device_, registry_, options);
    if (verdict.status == Verdict::Status::incomplete)
      keeper.note_failure(verdict.incomplete_because);
    return keeper;
  }

  void compare_states(int64_t q_len, bool several_tokens) {
    const std::vector<AuditState> states = audit_states(settings_, q_len, several_tokens);
    const RecordingKeeper at_a = record(states.front().ops);
    const RecordedStep* a = at_a.find("g");
    if (a == nullptr) {
      result_.not_compared.emplace_back(fmt::format("q_len {}", q_len), why_missing(at_a));
      return;
    }
    result_.nodes.emplace_back(q_len, a->size());
    note_host_sources(*a, q_len);
    for (size_t i = 1; i < states.size(); ++i) {
      compare(*a, record(states[i].ops), "g", std::string(states[i].differs_in), q_len,
              &Auditor::compare_values);
    }
    const RecordingKeeper both = record(ops_between_two_captures(q_len, several_tokens));
    if (const RecordedStep* earlier = both.find("f")) {
      compare(*earlier, both, "g", "what ran between two captures", q_len,
              &Auditor::compare_addresses);
    }
  }

  using Comparison = void (Auditor::*)(const RecordedNode&, const RecordedNode&, size_t,
                                       const std::string&, int64_t);

  void compare(const RecordedStep& a, const RecordingKeeper& elsewhere, const std::string& graph,
               const std::string& follows, int64_t q_len, Comparison compare_nodes) {
    const RecordedStep* b = elsewhere.find(graph);
    if (b == nullptr) {
      result_.not_compared.emplace_back(fmt::format("{} at q_len {}", follows, q_len),
                                        why_missing(elsewhere));
      return;
    }
    const auto pairs = corresponding(a, *b);
    if (compare_nodes == &Auditor::compare_values) compare_branches(a, *b, pairs, follows, q_len);
    for (const auto& [i, j] : pairs) (this->*compare_nodes)(a[i], (*b)[j], i + 1, follows, q_len);
    if (std::find(result_.compared.begin(), result_.compared.end(), follows) ==
        result_.compared.end()) {
      result_.compared.push_back(follows);
    }
  }

  static std::string why_missing(const RecordingKeeper& keeper) {
    return keeper.failure().empty() ? "nothing was captured" : keeper.failure();
  }

  void compare_branches(const RecordedStep& a, const RecordedStep& b,
                        const std::vector<std::pair<size_t, size_t>>& pairs,
                        const std::string& follows, int64_t q_len) {
    std::set<size_t> in_a, in_b;
    for (const auto& [i, j] : pairs) {
      in_a.insert(i);
      in_b.insert(j);
    }
    for (size_t i = 0; i < a.size(); ++i) {
      if (in_a.count(i) == 0) {
        add(FrozenKind::branch, a[i], i + 1, "", "recorded", {follows, "not recorded"}, q_len);
      }
    }
    for (size_t j = 0; j < b.size(); ++j) {
      if (in_b.count(j) == 0) {
        add(FrozenKind::branch, b[j], 0, "", "not recorded", {follows, "recorded"}, q_len);
      }
    }
  }

  void compare_values(const RecordedNode& a, const RecordedNode& b, size_t node,
                      const std::string& follows, int64_t q_len) {
    for (size_t k = 0; k < std::min(a.arguments.size(), b.arguments.size()); ++k) {
      const RecordedArgument& left = a.arguments[k];
      const RecordedArgument& right = b.arguments[k];
      if (left.value != right.value) {
        add(FrozenKind::value, a, node, left.name, left.value, {follows, right.value}, q_len);
      } else if (left.memory != right.memory) {
        add(FrozenKind::buffer, a, node, left.name, left.memory, {follows, right.memory}, q_len);
      }
    }
  }

  /// Within one run: memory that is not of the graph's own pool has the address it had.
  void compare_addresses(const RecordedNode& a, const RecordedNode& b, size_t node,
                         const std::string& follows, int64_t q_len) {
    for (size_t k = 0; k < std::min(a.arguments.size(), b.arguments.size()); ++k) {
      const RecordedArgument& left = a.arguments[k];
      const RecordedArgument& right = b.arguments[k];
      if (left.address == right.address) continue;
      add(FrozenKind::buffer, a, node, left.name,
          fmt::format("{} at {:#x}", left.memory, left.address),
          {follows, fmt::format("{} at {:#x}", right.memory, right.address)}, q_len);
    }
  }

  /// One entry for an argument, with every state at which it was another.
  void add(FrozenKind kind, const RecordedNode& node, size_t number, const std::string& argument,
           const std::string& value, FrozenElsewhere elsewhere, int64_t q_len) {
    const auto same = [&](const Frozen& f) {
      return f.kind == kind && f.q_len == q_len && f.node == number && f.argument == argument &&
             f.operation == node.operation && f.value == value;
    };
    // Two nodes that A lacks may be of one operation; at one state they are two.
    const auto found = std::find_if(result_.frozen.begin(), result_.frozen.end(), [&](auto& f) {
      return same(f) && (number != 0 || f.elsewhere.back().follows != elsewhere.follows);
    });
    if (found != result_.frozen.end()) {
      found->elsewhere.push_back(std::move(elsewhere));
      return;
    }
    result_.frozen.push_back({kind,
                              q_len,
                              number,
                              node.operation,
                              memory_written(node),
                              argument,
                              value,
                              {std::move(elsewhere)},
                              cut_at_subject(node.recorded_by)});
  }

  void note_host_sources(const RecordedStep& step, int64_t q_len) {
    for (size_t i = 0; i < step.size(); ++i) {
      for (const RecordedArgument& argument : step[i].arguments) {
        if (!argument.read_from_host) continue;
        result_.host_sources.push_back(
            {q_len, i + 1, step[i].operation, argument.name, argument.memory, argument.bytes});
      }
    }
  }

  Settings settings_;
  Device& device_;
  const Registry& registry_;
  Kernels kernels_;
  Audit result_;
};

}  // namespace

std::string_view to_string(FrozenKind kind) {
  switch (kind) {
    case FrozenKind::value:
      return "value";
    case FrozenKind::buffer:
      return "buffer";
    case FrozenKind::branch:
      return "branch";
  }
  return "";
}

Audit audit(const Settings& settings, Device& device, const Registry& registry, Kernels kernels) {
  return Auditor(settings, device, registry, kernels).run();
}

}  // namespace thaw
