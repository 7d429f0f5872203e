// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

#include "oracles/oracle.h"

namespace thaw {

/// An onlooker that notes which slots each step changed: the difference of the images of layer 0's
/// keys before the step and after it. Objects to nothing.
class WrittenSlots final : public Oracle {
 public:
  struct Slot {
    int64_t row = 0;
    int64_t position = 0;  ///< the position that lies in the slot
    bool operator==(const Slot&) const = default;
  };
  struct Step {
    int64_t op = 0;
    int64_t step = 0;
    std::vector<Slot> expected;  ///< what the caller asked for and the capacity allows
    std::vector<Slot> written;
  };

  std::string_view name() const override { return "written slots"; }
  void before_step(const Moment& moment) override;
  void after(const Moment& moment, Findings& findings) override;

  const std::vector<Step>& steps() const { return steps_; }

 private:
  std::vector<std::byte> entries(const Moment& moment) const;

  std::vector<std::byte> before_;
  std::vector<Step> steps_;
};

}  // namespace thaw
