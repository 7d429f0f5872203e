// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include "oracles/oracle.h"

namespace thaw {

/// An onlooker that counts the tokens of committed steps and how many went wrong: a token is wrong
/// if, at the end of its step, its entries are not in its slot. Objects to nothing.
class TokenTally final : public Oracle {
 public:
  struct Token {
    int64_t op = 0;
    int64_t step = 0;
    int64_t row = 0;
    int64_t position = 0;
    int64_t number = 0;  ///< among all tokens, from 1
  };

  std::string_view name() const override { return "token tally"; }
  void after(const Moment& moment, Findings& findings) override;

  int64_t tokens() const { return tokens_; }
  int64_t wrong() const { return wrong_; }
  /// Of these, the tokens of replayed steps.
  int64_t replayed() const { return replayed_; }
  int64_t replayed_wrong() const { return replayed_wrong_; }
  const std::optional<Token>& first_wrong() const { return first_wrong_; }

 private:
  int64_t tokens_ = 0;
  int64_t wrong_ = 0;
  int64_t replayed_ = 0;
  int64_t replayed_wrong_ = 0;
  std::optional<Token> first_wrong_;
};

}  // namespace thaw
