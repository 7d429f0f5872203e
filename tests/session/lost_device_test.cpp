// SPDX-License-Identifier: Apache-2.0
//
// A device with an error that stays (rule 54), as a GPU has it: after the replay that fails,
// nothing can be enqueued, waited for or looked at.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "case/case_text.h"
#include "device/sim/sim_device.h"
#include "session/session.h"

namespace thaw {
namespace {

using ::testing::ElementsAre;
using ::testing::Pair;

/// The simulated device, until a number of waits have passed.
class LostDevice final : public Device {
 public:
  explicit LostDevice(int waits) : waits_(waits) {}

  std::string_view name() const override { return sim_.name(); }
  c10::Device torch_device() const override { return sim_.torch_device(); }
  DeviceAbilities abilities() const override { return sim_.abilities(); }
  void synchronize() override {
    if (waits_ > 0) --waits_;
    check();
    sim_.synchronize();
  }
  std::unique_ptr<Graph> capture(const std::function<void()>& step,
                                 const CaptureOptions& options) override {
    check();
    return sim_.capture(step, options);
  }
  std::span<const std::byte> read(const at::Tensor& tensor,
                                  std::vector<std::byte>& scratch) const override {
    check();
    return sim_.read(tensor, scratch);
  }
  void write(const at::Tensor& tensor, size_t offset, std::span<const std::byte> bytes) override {
    check();
    sim_.write(tensor, offset, bytes);
  }
  void fill(const at::Tensor& tensor, std::byte value) override {
    check();
    sim_.fill(tensor, value);
  }
  GeneratorState generator() const override { return sim_.generator(); }
  void set_generator(const GeneratorState& state) override { sim_.set_generator(state); }
  MemoryState state(const MemoryUse& use) const override { return sim_.state(use); }
  MemoryUse memory_of(const at::Tensor& tensor) const override { return sim_.memory_of(tensor); }
  void reset(const DeviceBehaviour& behaviour) override { sim_.reset(behaviour); }

 private:
  void check() const {
    if (waits_ == 0) throw DeviceError(710, "error 710 (cudaErrorAssert)");
  }

  SimDevice sim_;
  int waits_;
};

Verdict run_until(int waits) {
  const Case c = parse_case("thaw case 1\nprefill 0 5\ncapture g\nreplay g x3\n", "case");
  LostDevice device(waits);
  return run_case(c, device, Registry::standard());
}

TEST(LostDevice, is_an_error_at_the_op_that_lost_it_and_ends_the_case) {
  const Verdict verdict = run_until(6);
  EXPECT_EQ(verdict.status, Verdict::Status::findings);
  ASSERT_EQ(verdict.findings.size(), 1U);
  EXPECT_EQ(verdict.findings[0].kind, FindingKind::error);
  EXPECT_EQ(verdict.findings[0].op, 3);
  EXPECT_EQ(verdict.findings[0].code, 710);
  EXPECT_THAT(verdict.not_covered,
              ElementsAre(Pair("everything from op 3 on", "the device was lost")));
}

TEST(LostDevice, that_is_not_lost_is_clean) {
  const Verdict verdict = run_until(1000);
  EXPECT_EQ(verdict.status, Verdict::Status::clean);
  EXPECT_TRUE(verdict.not_covered.empty());
}

}  // namespace
}  // namespace thaw
