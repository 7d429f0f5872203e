// SPDX-License-Identifier: Apache-2.0
#include "cli/program.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <poll.h>
#include <spawn.h>
#include <sys/ioctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cstdlib>
#include <fstream>
#include <sstream>
#include <stdexcept>

namespace thaw {
namespace {

namespace fs = std::filesystem;

constexpr int patience_ms = 60'000;

void require(bool good, const char* what) {
  if (!good) throw std::runtime_error(what);
}

/// What posix_spawn takes, released again.
class FileActions {
 public:
  FileActions() { posix_spawn_file_actions_init(&actions_); }
  ~FileActions() { posix_spawn_file_actions_destroy(&actions_); }
  FileActions(const FileActions&) = delete;
  FileActions& operator=(const FileActions&) = delete;

  void change_folder(const fs::path& folder) {
    posix_spawn_file_actions_addchdir_np(&actions_, folder.c_str());
  }
  void open(int as, const std::string& file, int flags) {
    posix_spawn_file_actions_addopen(&actions_, as, file.c_str(), flags, 0644);
  }
  void duplicate(int from, int as) { posix_spawn_file_actions_adddup2(&actions_, from, as); }
  const posix_spawn_file_actions_t* get() const { return &actions_; }

 private:
  posix_spawn_file_actions_t actions_;
};

pid_t spawn(const FileActions& actions, const std::vector<std::string>& arguments,
            std::vector<std::string> environment, const std::string& program = THAW_PROGRAM) {
  std::vector<std::string> words = {"thaw"};
  words.insert(words.end(), arguments.begin(), arguments.end());
  environment.emplace_back("TERM=xterm");
  environment.emplace_back("LC_ALL=C.UTF-8");
  // The sanitizers take their options from here.
  for (const char* name : {"ASAN_OPTIONS", "UBSAN_OPTIONS", "LSAN_OPTIONS"}) {
    const char* value = std::getenv(name);
    if (value != nullptr) environment.push_back(std::string(name) + "=" + value);
  }
  std::vector<char*> argv, envp;
  for (std::string& word : words) argv.push_back(word.data());
  for (std::string& variable : environment) envp.push_back(variable.data());
  argv.push_back(nullptr);
  envp.push_back(nullptr);
  pid_t process = -1;
  const int error =
      posix_spawn(&process, program.c_str(), actions.get(), nullptr, argv.data(), envp.data());
  require(error == 0, "the program cannot be started");
  return process;
}

int wait_for(pid_t process) {
  int status = 0;
  require(waitpid(process, &status, 0) == process, "the program cannot be waited for");
  return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

std::string contents(const fs::path& file) {
  const std::ifstream in(file, std::ios::binary);
  std::ostringstream text;
  text << in.rdbuf();
  return text.str();
}

/// Everything that is said on a terminal until the other side closes it.
std::string listen(int terminal) {
  std::string heard;
  std::array<char, 4096> chunk;
  for (;;) {
    const ssize_t count = read(terminal, chunk.data(), chunk.size());
    if (count <= 0) return heard;
    heard.append(chunk.data(), static_cast<size_t>(count));
  }
}

}  // namespace

Sandbox::Sandbox() {
  std::string name = (fs::temp_directory_path() / "thaw_cli_XXXXXX").string();
  require(mkdtemp(name.data()) != nullptr, "no folder for the test");
  folder_ = name;
}

Sandbox::~Sandbox() {
  std::error_code ignored;
  fs::remove_all(folder_, ignored);
}

void Sandbox::write(const std::string& name, std::string_view text) const {
  fs::create_directories(path(name).parent_path());
  std::ofstream(path(name), std::ios::binary) << text;
}

std::string Sandbox::read(const std::string& name) const { return contents(path(name)); }

Finished Sandbox::run(const std::vector<std::string>& arguments, const ProgramInput& input) const {
  const Sandbox streams;
  streams.write("in", input.text);
  FileActions actions;
  actions.change_folder(folder_);
  actions.open(STDIN_FILENO, streams.path("in"), O_RDONLY);
  actions.open(STDOUT_FILENO, input.out_to.empty() ? streams.path("out").string() : input.out_to,
               O_WRONLY | O_CREAT);
  actions.open(STDERR_FILENO, streams.path("err"), O_WRONLY | O_CREAT);
  const std::string program = input.program.empty() ? THAW_PROGRAM : input.program;
  Finished finished{.status = wait_for(spawn(actions, arguments, input.environment, program)),
                    .out = {},
                    .err = streams.read("err")};
  if (input.out_to.empty()) finished.out = streams.read("out");
  return finished;
}

Finished Sandbox::run_on_terminal(const std::vector<std::string>& arguments, int columns,
                                  const ProgramInput& input) const {
  const int terminal = posix_openpt(O_RDWR | O_NOCTTY);
  require(terminal >= 0 && grantpt(terminal) == 0 && unlockpt(terminal) == 0, "no terminal");
  const int far_end = open(ptsname(terminal), O_RDWR | O_NOCTTY);
  require(far_end >= 0, "no terminal");
  winsize size{};
  size.ws_col = static_cast<unsigned short>(columns);
  size.ws_row = 50;
  ioctl(far_end, TIOCSWINSZ, &size);
  const Sandbox streams;
  FileActions actions;
  actions.change_folder(folder_);
  actions.open(STDIN_FILENO, "/dev/null", O_RDONLY);
  actions.duplicate(far_end, STDOUT_FILENO);
  if (input.errors_on_terminal) {
    actions.duplicate(far_end, STDERR_FILENO);
  } else {
    actions.open(STDERR_FILENO, streams.path("err"), O_WRONLY | O_CREAT);
  }
  const pid_t process = spawn(actions, arguments, input.environment);
  close(far_end);
  Finished finished{.status = -1, .out = listen(terminal), .err = {}};
  close(terminal);
  finished.status = wait_for(process);
  if (!input.errors_on_terminal) finished.err = streams.read("err");
  return finished;
}

Conversation::Conversation(const Sandbox& sandbox, const std::vector<std::string>& arguments) {
  std::array<int, 2> input{}, output{};
  require(pipe2(input.data(), O_CLOEXEC) == 0 && pipe2(output.data(), O_CLOEXEC) == 0, "no pipe");
  FileActions actions;
  actions.change_folder(sandbox.path("."));
  actions.duplicate(input[0], STDIN_FILENO);
  actions.duplicate(output[1], STDOUT_FILENO);
  process_ = spawn(actions, arguments, {});
  close(input[0]);
  close(output[1]);
  to_ = input[1];
  from_ = output[0];
}

Conversation::~Conversation() {
  if (process_ >= 0) finish();
}

void Conversation::say(std::string_view line) {
  std::string text = std::string(line) + "\n";
  std::string_view rest = text;
  while (!rest.empty()) {
    const ssize_t count = write(to_, rest.data(), rest.size());
    require(count > 0, "the program does not listen");
    rest.remove_prefix(static_cast<size_t>(count));
  }
}

std::string Conversation::hear() {
  for (;;) {
    if (const size_t end = heard_.find('\n'); end != std::string::npos) {
      const std::string line = heard_.substr(0, end);
      heard_.erase(0, end + 1);
      return line;
    }
    pollfd waiting{.fd = from_, .events = POLLIN, .revents = 0};
    if (poll(&waiting, 1, patience_ms) != 1) return "";
    std::array<char, 4096> chunk;
    const ssize_t count = read(from_, chunk.data(), chunk.size());
    if (count <= 0) return "";
    heard_.append(chunk.data(), static_cast<size_t>(count));
  }
}

int Conversation::finish() {
  close(to_);
  const int status = wait_for(process_);
  close(from_);
  process_ = -1;
  return status;
}

void expect_text(const std::string& name, const std::string& text) {
  const fs::path file = fs::path(THAW_SOURCES) / "tests/cli/expected" / name;
  const char* update = std::getenv("THAW_UPDATE_EXPECTED");
  if (update != nullptr && std::string_view(update) == "1") {
    fs::create_directories(file.parent_path());
    std::ofstream(file, std::ios::binary) << text;
    return;
  }
  EXPECT_EQ(text, contents(file)) << "differs from " << file
                                  << "; THAW_UPDATE_EXPECTED=1 rewrites it";
}

}  // namespace thaw
