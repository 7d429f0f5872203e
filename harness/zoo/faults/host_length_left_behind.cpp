// SPDX-License-Identifier: Apache-2.0
//
// Follows deepspeedai/DeepSpeed#8271.
//
// The number of tokens lies in a context on the host, which every eager step reads and moves. A
// replay runs no host code, so the context stays behind by the replayed tokens, and the next eager
// step goes on from there. The graph itself gets right positions.

#include <utility>
#include <vector>

#include "zoo/parts.h"

namespace thaw::zoo {
namespace {

class HostLengthLeftBehind final : public Subject {
 public:
  HostLengthLeftBehind(Device& device, const Case& c, std::unique_ptr<KvCache> cache,
                       std::unique_ptr<Decoder> decoder)
      : Subject(device, c, std::move(cache), std::move(decoder)),
        lengths_(static_cast<size_t>(c.settings.rows), 0) {}

  void refill(const StepPlan& plan, int64_t generation) override {
    plan_ = plan;
    Subject::refill(plan, generation);
  }

  void step() override {
    for_each_row([&](int64_t& position, int64_t& length) { position = length; });
    cache().prepare(plan_);
    Subject::step();
    for_each_row([&](int64_t&, int64_t& length) { length += plan_.q_len; });
  }

  void reset(std::span<const int64_t> rows) override {
    for (const int64_t row : rows) length_of(row) = 0;
    Subject::reset(rows);
  }
  void crop(std::span<const int64_t> rows, int64_t length) override {
    for (const int64_t row : rows) length_of(row) = length;
    Subject::crop(rows, length);
  }
  void reorder(std::span<const int64_t> from, std::span<const int64_t> lengths) override {
    const std::vector<int64_t> before = lengths_;
    for (size_t row = 0; row < from.size(); ++row) {
      lengths_[row] = before[static_cast<size_t>(from[row])];
    }
    Subject::reorder(from, lengths);
  }
  void copy_row(int64_t from, int64_t to, std::span<const int64_t> lengths) override {
    length_of(to) = length_of(from);
    Subject::copy_row(from, to, lengths);
  }

 private:
  int64_t& length_of(int64_t row) { return lengths_[static_cast<size_t>(row)]; }

  template <class Visit>
  void for_each_row(Visit visit) {
    for (size_t place = 0; place < plan_.rows.size(); ++place) {
      if (plan_.rows[place] >= 0) visit(plan_.positions[place], length_of(plan_.rows[place]));
    }
  }

  StepPlan plan_;
  std::vector<int64_t> lengths_;
};

}  // namespace

Registry::MakeSubject host_length_left_behind() { return with_caller<HostLengthLeftBehind>(); }

}  // namespace thaw::zoo
