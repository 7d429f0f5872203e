// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

namespace thaw {

/// What a finished run of the program left.
struct Finished {
  int status = -1;  ///< exit status; 128 and more: the signal that ended it
  std::string out;
  std::string err;
};

struct ProgramInput {
  std::string text;                      ///< standard input
  std::vector<std::string> environment;  ///< "NO_COLOR=1", beside a fixed one without colours
  std::string program;                   ///< another than thaw
  std::string out_to;  ///< a file or device for standard output, instead of Finished::out
  bool errors_on_terminal = false;  ///< of run_on_terminal: standard error, too
};

/// A folder of its own, in which the program runs, so that the names in its messages are short and
/// always the same. It goes with the object.
class Sandbox {
 public:
  Sandbox();
  ~Sandbox();
  Sandbox(const Sandbox&) = delete;
  Sandbox& operator=(const Sandbox&) = delete;

  /// Writes a file, and the folders that it lies in.
  void write(const std::string& name, std::string_view text) const;
  std::string read(const std::string& name) const;
  std::filesystem::path path(const std::string& name) const { return folder_ / name; }

  /// Runs thaw to its end.
  Finished run(const std::vector<std::string>& arguments, const ProgramInput& input = {}) const;
  /// The same, with a terminal as standard output, of `columns` columns.
  Finished run_on_terminal(const std::vector<std::string>& arguments, int columns,
                           const ProgramInput& input = {}) const;

 private:
  std::filesystem::path folder_;
};

/// A running thaw, to which one line at a time is said.
class Conversation {
 public:
  Conversation(const Sandbox& sandbox, const std::vector<std::string>& arguments);
  ~Conversation();
  Conversation(const Conversation&) = delete;
  Conversation& operator=(const Conversation&) = delete;

  void say(std::string_view line);
  /// The next line of its answer; empty if it ended, or says nothing for a minute.
  std::string hear();
  /// Ends its input and waits; the exit status.
  int finish();

 private:
  int process_ = -1;
  int to_ = -1;
  int from_ = -1;
  std::string heard_;
};

/// Compares with tests/cli/expected/NAME; with THAW_UPDATE_EXPECTED=1 rewrites that file instead.
void expect_text(const std::string& name, const std::string& text);

}  // namespace thaw
