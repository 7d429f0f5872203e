// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <cstdint>
#include <cstdio>
#include <string_view>

#include "oracles/oracle.h"

namespace thaw {

/// An onlooker that keeps one line on a terminal up to date: how many requests of a trace have come
/// to an end. Says nothing where `to` is no terminal. Objects to nothing.
class TraceProgress final : public Oracle {
 public:
  TraceProgress(size_t requests, std::FILE* to);

  std::string_view name() const override { return "progress"; }
  void after(const Moment& moment, Findings& findings) override;
  /// Takes the line away again.
  void finish();

 private:
  using Clock = std::chrono::steady_clock;
  void show(Clock::time_point now);

  std::FILE* to_;
  bool on_terminal_;
  size_t requests_;
  size_t done_ = 0;
  int64_t tokens_ = 0;
  Clock::time_point begin_ = Clock::now();
  Clock::time_point shown_ = begin_;
};

}  // namespace thaw
