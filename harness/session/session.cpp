// SPDX-License-Identifier: Apache-2.0
#include "session/session.h"

#include <ATen/Parallel.h>
#include <c10/core/InferenceMode.h>
#include <c10/util/Exception.h>
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <utility>

#include "case/case_text.h"
#include "case/op_table.h"
#include "ledger/validate.h"

namespace thaw {
namespace {

/// Runs one verb of the subject; what goes wrong is a failure, not an exception.
template <class Verb>
std::optional<Failure> attempt_in_flight(Verb verb) {
  try {
    verb();
  } catch (const DeviceError& e) {
    return Failure{.code = e.code(), .text = e.what()};
  } catch (const c10::AcceleratorError& e) {  // the device's, through LibTorch
    return Failure{.code = e.get_error_code(), .text = e.what_without_backtrace()};
  } catch (const c10::Error& e) {
    return Failure{.text = e.what_without_backtrace()};
  } catch (const std::exception& e) {
    return Failure{.text = e.what()};
  }
  return {};
}

/// The same, and waits for it.
template <class Verb>
std::optional<Failure> attempt(Device& device, Verb verb) {
  return attempt_in_flight([&] {
    verb();
    device.synchronize();
  });
}

/// What the case asks for and the cache cannot do; empty if nothing.
std::string missing_ability(const Case& c, const CacheAbilities& can) {
  for (const auto& line : c.ops) {
    const Op& op = line.value;
    if ((op.kind == OpKind::crop && !can.crop) || (op.kind == OpKind::reorder && !can.reorder) ||
        (op.kind == OpKind::copy && !can.copy_row)) {
      return fmt::format("the cache cannot {}", to_string(op.kind));
    }
    const bool several = op.q > 1 || (op.kind == OpKind::prefill && op.count > 1);
    if (several && !can.several_tokens) return "the cache takes one token a step";
  }
  if (c.settings.decoder == DecoderKind::llama && can.layout != Layout::linear) {
    return "the llama decoder is judged on caches whose slots are positions";
  }
  if (c.settings.rows > 1 && !can.rows_apart) return "the cache keeps all rows at one length";
  return "";
}

DeviceBehaviour behaviour_of(const Settings& settings) {
  constexpr std::array schedules{Schedule::early, Schedule::late, Schedule::shuffle};
  return {.schedule = schedules[static_cast<size_t>(settings.schedule)],
          .seed = settings.seed,
          .lazy_libraries = settings.lazy};
}

/// The first precondition that does not hold on a cache of this layout (R9); empty if all do.
std::string obstacle_of_layout(const Case& c, Layout layout) {
  if (layout == Layout::linear) return "";
  try {
    validate_case(c, "case", layout);
  } catch (const CaseError& e) {
    return fmt::format("not possible on this cache: {}", e.what());
  }
  return "";
}

/// One run of one case.
class Session {
 public:
  Session(const Case& c, Subject& subject, const RunOptions& options, Verdict& verdict)
      : case_(c),
        subject_(subject),
        device_(subject.device()),
        verdict_(verdict),
        ledger_(c.settings, subject.cache().abilities().layout),
        reference_(
            make_reference(c.settings, subject.cache().spec(), device_.torch_device(), ledger_)),
        image_(subject.cache(), ledger_, *reference_),
        last_refill_(static_cast<size_t>(c.settings.rows), -1),
        in_flight_(c.settings.schedule != CaseSchedule::early && device_.abilities().behaviours) {
    for (auto& oracle : make_oracles()) {
      if (const auto why_not = oracle->not_covered(subject)) {
        verdict.not_covered.emplace_back(oracle->name(), *why_not);
      } else {
        verdict.covered.emplace_back(oracle->name());
        oracles_.push_back(std::move(oracle));
      }
    }
    for (const auto& oracle : oracles_) judges_.push_back(oracle.get());
    judges_.insert(judges_.end(), options.observers.begin(), options.observers.end());
  }

  void run() {
    buffers_ = subject_.cache().buffers();
    image_.mark_all_unowned(device_, buffers_);
    for (Oracle* judge : judges_) judge->begin(subject_);
    try {
      for (const auto& line : case_.ops) {
        ++number_;
        run_op(line.value);
      }
      if (load_in_flight_) attempt(device_, [] {});
    } catch (const DeviceError& e) {
      lose_device(e);
    }
    verdict_.ops = number_;
    verdict_.comparison = reference_->comparison();
    verdict_.findings = findings_.in_order();
    if (!findings_.empty()) verdict_.status = Verdict::Status::findings;
  }

 private:
  /// An error that stays (rule 54) leaves a device on which nothing can be looked at any more. What
  /// was found before stands.
  void lose_device(const DeviceError& e) {
    findings_.add({.kind = FindingKind::error,
                   .op = number_,
                   .expected = "no error",
                   .found = e.what(),
                   .code = e.code()});
    verdict_.not_covered.emplace_back(fmt::format("everything from op {} on", number_),
                                      "the device was lost");
  }

  void run_op(const Op& op) {
    const int64_t steps = Ledger::steps_of(op);
    if (steps > 0 && in_flight_) return run_steps_in_flight(op, steps);
    for (int64_t step = 1; step <= steps; ++step) run_step(op, step);
    if (steps > 0) return;
    if (op.kind == OpKind::capture) {
      run_capture(op);
    } else if (op.kind == OpKind::load) {
      run_load(op);
    } else {
      run_without_steps(op);
    }
  }

  void refill(const Op& op) {
    order_after_load();
    ledger_.plan(op, plan_);
    hand_over_plan();
  }

  /// What comes next waits, on the device, for a load that is still under way (R18).
  void order_after_load() {
    if (std::exchange(load_in_flight_, false)) subject_.await_load();
  }

  /// The caller prepares as for a prefill of a fresh row; the entries come by another way than
  /// update.
  void refill_for_load(const Op& op) {
    plan_.q_len = op.count;
    plan_.rows.assign(last_refill_.size(), -1);
    plan_.positions.assign(last_refill_.size(), -1);
    for (const int64_t row : rows_) {
      plan_.rows[static_cast<size_t>(row)] = row;
      plan_.positions[static_cast<size_t>(row)] = 0;
    }
    hand_over_plan();
  }

  void hand_over_plan() {
    std::fill(last_refill_.begin(), last_refill_.end(), -1);
    for (size_t i = 0; i < plan_.rows.size(); ++i) {
      if (plan_.rows[i] >= 0) {
        last_refill_[static_cast<size_t>(plan_.rows[i])] = plan_.positions[i];
      }
    }
    subject_.refill(plan_, number_ % 65536);
  }

  void run_step(const Op& op, int64_t step) {
    start_step(op, step);
    buffers_ = subject_.cache().buffers();
    settle_step(op);
    look(op, step, &plan_, op.kind != OpKind::warmup, failure_);
  }

  /// Nobody waits between the steps, so nobody looks before the last one is over (R18).
  void run_steps_in_flight(const Op& op, int64_t steps) {
    std::optional<Failure> first_failure;
    for (int64_t step = 1; step <= steps; ++step) {
      if (step > 1) settle_step(op);
      start_step(op, step);
      if (!first_failure) first_failure = failure_;
    }
    if (!first_failure) first_failure = attempt(device_, [] {});
    buffers_ = subject_.cache().buffers();
    settle_step(op);
    look(op, 0, &plan_, op.kind != OpKind::warmup, first_failure);
  }

  /// What goes wrong is in failure_. With work in flight, only the first step of an op is looked at
  /// before it runs.
  void start_step(const Op& op, int64_t step) {
    buffers_.clear();  // who holds a tensor keeps its memory alive
    failure_ = attempt_step([&] {
      refill(op);
      device_.fill(subject_.output(), std::byte{0xFF});
    });
    if (!in_flight_ || step == 1) look_before(op, in_flight_ ? 0 : step, failure_);
    const LedgerState::Graph* graph = ledger_.graph_of(op);
    if (!failure_) {
      failure_ = attempt_step([&] {
        if (op.kind == OpKind::serve) {
          subject_.serve(graph != nullptr ? graph->name : "");
        } else if (graph != nullptr) {
          subject_.replay(graph->name);
        } else {
          subject_.step();
        }
      });
    }
    ++verdict_.steps;
    if (graph != nullptr) ++verdict_.replays;
    ledger_.commit_step(op, number_);
  }

  template <class Verb>
  std::optional<Failure> attempt_step(Verb verb) {
    return in_flight_ ? attempt_in_flight(verb) : attempt(device_, verb);
  }

  /// The image after a step: committed entries are expected from now on; what a warm-up wrote is
  /// cleared, whatever it was (R11).
  void settle_step(const Op& op) {
    const bool commits = op.kind != OpKind::warmup;
    reference_->step(ledger_, plan_, number_, commits);
    for (size_t i = 0; i < plan_.rows.size(); ++i) {
      const int64_t row = plan_.rows[i];
      if (row < 0) continue;
      const int64_t from = plan_.positions[i];
      const int64_t to = ledger_.accepted_end(from, plan_.q_len);
      if (commits) {
        image_.commit(ledger_, row, from, to);
      } else if (!buffers_.empty()) {
        image_.mark_unowned(device_, buffers_, row, from, to);
      }
    }
  }

  void run_capture(const Op& op) {
    ++verdict_.captures;
    buffers_.clear();
    std::optional<Failure> failure = attempt(device_, [&] { refill(op); });
    ledger_.apply_without_steps(op, number_);
    look_before(op, 0, failure);
    if (!failure) failure = attempt(device_, [&] { subject_.capture(op.graph, op.pool); });
    if (failure) {
      failure->in_capture = true;
      ledger_.mark_empty(op.graph);
    }
    buffers_ = subject_.cache().buffers();
    look(op, 0, &plan_, false, failure);
  }

  /// Nobody looks after a load, unless it failed at once: it is left in flight (R18).
  void run_load(const Op& op) {
    look_before(op, 0, {});
    ledger_.rows_of(op, rows_);
    std::optional<Failure> failure = attempt(device_, [&] {
      order_after_load();
      refill_for_load(op);
    });
    ledger_.apply_without_steps(op, number_);
    buffers_ = subject_.cache().buffers();
    reference_->step(ledger_, plan_, number_, true);
    rebuild_image();
    image_.mark_all_but_entries(device_, buffers_, ledger_);
    if (!failure) {
      failure =
          attempt_in_flight([&] { subject_.load(image_.entries_of(rows_, buffers_, ledger_)); });
    }
    load_in_flight_ = !failure;
    if (failure) look(op, 0, nullptr, false, failure);
  }

  void run_without_steps(const Op& op) {
    look_before(op, 0, {});
    ledger_.rows_of(op, rows_);
    lengths_.clear();
    for (int64_t row = 0; row < ledger_.rows(); ++row) lengths_.push_back(ledger_.length(row));
    const std::optional<Failure> failure = attempt(device_, [&] {
      order_after_load();
      apply(op);
    });
    ledger_.apply_without_steps(op, number_);
    buffers_ = subject_.cache().buffers();
    settle_rows(op);
    look(op, 0, nullptr, false, failure);
  }

  void apply(const Op& op) {
    switch (op.kind) {
      case OpKind::drop:
        return subject_.drop(op.graph);
      case OpKind::reset:
        return subject_.reset(rows_);
      case OpKind::crop:
        return subject_.crop(rows_, op.count);
      case OpKind::reorder:
        return subject_.reorder(op.order, lengths_);
      case OpKind::copy:
        return subject_.copy_row(op.row, op.to, lengths_);
      case OpKind::churn:
        return subject_.churn(op.count);
      case OpKind::hold:
        return subject_.hold();
      case OpKind::sleep:
        return sleep();
      case OpKind::reseed:
        return subject_.reseed(static_cast<uint64_t>(op.count));
      case OpKind::fail:
        return subject_.fail_next(op.count);
      default:
        return;  // park and unpark are the caller's affair: positions of -1 from now on
    }
  }

  void sleep() {
    subject_.reset(rows_);
    subject_.sleep();
    image_.mark_all_unowned(device_, subject_.cache().buffers());
    subject_.wake();
  }

  /// Image, unowned slots and comparable lengths after an op that makes no steps.
  void settle_rows(const Op& op) {
    switch (op.kind) {
      case OpKind::crop:
      case OpKind::reset:
      case OpKind::sleep:
        rebuild_image();
        move_last_refill(rows_);
        break;
      case OpKind::reorder:
        rebuild_image();
        rows_.clear();
        for (int64_t row = 0; row < ledger_.rows(); ++row) rows_.push_back(row);
        move_last_refill(rows_);
        break;
      case OpKind::copy:
        rebuild_image();
        rows_ = {op.row, op.to};
        move_last_refill(rows_);
        break;
      default:
        return;
    }
    if (!image_.matches(device_, buffers_)) {
      image_.mark_all_but_entries(device_, buffers_, ledger_);
    }
  }

  void rebuild_image() {
    reference_->follow(ledger_);
    image_.rebuild(ledger_);
  }

  /// After reset, crop, reorder and copy only the ledger's length will do.
  void move_last_refill(const std::vector<int64_t>& rows) {
    for (const int64_t row : rows) {
      last_refill_[static_cast<size_t>(row)] = ledger_.live(row) ? ledger_.length(row) : -1;
    }
  }

  Moment moment(const Op& op, int64_t step, const StepPlan* plan, bool committed,
                const std::optional<Failure>& failure, bool contents_match) const {
    return {.settings = case_.settings,
            .op_number = number_,
            .op = op,
            .step = step,
            .plan = plan,
            .committed = committed,
            .ledger = ledger_,
            .image = image_,
            .reference = *reference_,
            .subject = subject_,
            .cache_buffers = buffers_,
            .last_refill = last_refill_,
            .failure = failure,
            .contents_match = contents_match};
  }

  void look_before(const Op& op, int64_t step, const std::optional<Failure>& failure) {
    const Moment now = moment(op, step, nullptr, false, failure, true);
    for (Oracle* judge : judges_) judge->before_step(now);
  }

  void look(const Op& op, int64_t step, const StepPlan* plan, bool committed,
            const std::optional<Failure>& failure) {
    const bool contents_match = image_.matches(device_, buffers_);
    const Moment now = moment(op, step, plan, committed, failure, contents_match);
    for (Oracle* judge : judges_) judge->after(now, findings_);
    if (!contents_match) image_.mark_all_but_entries(device_, buffers_, ledger_);
  }

  const Case& case_;
  Subject& subject_;
  Device& device_;
  Verdict& verdict_;
  Ledger ledger_;
  std::unique_ptr<Reference> reference_;
  ExpectedImage image_;
  std::vector<std::unique_ptr<Oracle>> oracles_;
  std::vector<Oracle*> judges_;
  Findings findings_;
  int64_t number_ = 0;
  StepPlan plan_;
  std::vector<int64_t> last_refill_;
  std::vector<int64_t> rows_, lengths_;
  std::vector<Buffer> buffers_;
  bool load_in_flight_ = false;
  bool in_flight_;                  ///< work may be, between the steps of an op
  std::optional<Failure> failure_;  ///< of the last step
};

}  // namespace

Verdict run_case(const Case& c, Device& device, const Registry& registry,
                 const RunOptions& options) {
  const c10::InferenceMode no_autograd;
  at::set_num_threads(1);  // sums of products in one order, however busy the machine is
  Verdict verdict;
  verdict.cache = options.cache.empty() ? c.settings.cache : options.cache;
  verdict.device = device.name();
  const Registry::Entry* entry = registry.find(verdict.cache);
  if (entry == nullptr) throw UnknownCache(registry.unknown(verdict.cache));
  const auto incomplete = [&](std::string why) {
    verdict.status = Verdict::Status::incomplete;
    verdict.incomplete_because = std::move(why);
    return verdict;
  };
  const DeviceChoice wanted = c.settings.device;
  if ((wanted == DeviceChoice::cuda && device.name() != "cuda") ||
      (wanted == DeviceChoice::sim && device.name() != "sim")) {
    return incomplete(
        fmt::format("the case needs the device {}", wanted == DeviceChoice::cuda ? "cuda" : "sim"));
  }
  const DeviceBehaviour behaviour = behaviour_of(c.settings);
  device.reset(behaviour);
  if (!device.abilities().behaviours && !(behaviour == DeviceBehaviour{.seed = behaviour.seed})) {
    verdict.not_covered.emplace_back("schedule and lazy", "the device does not let them be chosen");
  }
  const std::unique_ptr<Subject> subject = entry->make(device, c, options.kernels);
  if (std::string missing = missing_ability(c, subject->cache().abilities()); !missing.empty()) {
    return incomplete(std::move(missing));
  }
  if (std::string bad = obstacle_of_layout(c, subject->cache().abilities().layout); !bad.empty()) {
    return incomplete(std::move(bad));
  }
  Session(c, *subject, options, verdict).run();
  return verdict;
}

}  // namespace thaw
