// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "oracles/oracle.h"

namespace thaw {

/// An onlooker that writes down every graph that is captured, with its memory under the names that
/// cache, decoder and caller have for it. Objects to nothing.
class GraphDumps final : public Oracle {
 public:
  struct Dump {
    size_t run = 0;  ///< of those that this onlooker saw, from 0
    int64_t op = 0;  ///< the capture
    std::string graph;
    std::string text, dot;  ///< see device/graph_dump.h
  };

  std::string_view name() const override { return "graph dumps"; }
  void begin(const Subject& subject) override { ++runs_; }
  void after(const Moment& moment, Findings& findings) override;

  const std::vector<Dump>& dumps() const { return dumps_; }

 private:
  size_t runs_ = 0;
  std::vector<Dump> dumps_;
};

}  // namespace thaw
