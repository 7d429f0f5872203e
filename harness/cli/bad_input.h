// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <stdexcept>

namespace thaw {

/// A command cannot do what it was asked; the text says what is wrong and what to do. The program
/// prints it and ends with status 2.
class BadInput : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

}  // namespace thaw
