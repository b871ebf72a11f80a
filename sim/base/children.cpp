#include "sim/base/children.h"

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <map>
#include <poll.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "sim/base/host_limit.h"
#include "sim/base/unfinished.h"

namespace tessera {
namespace {

void write_all(int pipe, const std::string& text) {
  std::size_t done = 0;
  while (done < text.size()) {
    const ssize_t written = ::write(pipe, text.data() + done, text.size() - done);
    if (written < 0 && errno != EINTR) return;
    if (written > 0) done += static_cast<std::size_t>(written);
  }
}

/// First steps of a child: it ends with its parent and by the signals that the parent handles, and
/// leaves no work unfinished then.
void become_child(pid_t parent) {
  clean_up_on_signals();
  sigset_t none;
  sigemptyset(&none);
  ::sigprocmask(SIG_SETMASK, &none, nullptr);
  ::prctl(PR_SET_PDEATHSIG, SIGTERM);
  if (::getppid() != parent) ::_exit(1);  // it died before the line above
}

[[noreturn]] void do_work(int pipe, std::size_t item, const Children::Work& work) {
  try {
    write_all(pipe, work(item));
  } catch (...) {  // the stack above belongs to the parent
    ::_exit(static_cast<int>(current_failure().code));
  }
  ::_exit(0);
}

int status_of(pid_t process) {
  int status = 0;
  while (::waitpid(process, &status, 0) < 0 && errno == EINTR) continue;
  return status;
}

bool is_starved(int status) {
  if (WIFSIGNALED(status)) return WTERMSIG(status) == SIGKILL;
  return WEXITSTATUS(status) == static_cast<int>(ExitCode::host_limit);
}

std::string death_of(int status) {
  if (WIFSIGNALED(status)) {
    return fmt::format("signal {} ({})", WTERMSIG(status), ::strsignal(WTERMSIG(status)));
  }
  return WEXITSTATUS(status) == 0 ? "" : fmt::format("exit code {}", WEXITSTATUS(status));
}

/// Takes what lies in the pipe; false at its end.
bool take(int pipe, std::string& text) {
  std::array<char, 65536> buffer;
  const ssize_t got = ::read(pipe, buffer.data(), buffer.size());
  if (got > 0) text.append(buffer.data(), static_cast<std::size_t>(got));
  return got > 0 || (got < 0 && errno == EINTR);
}

}  // namespace

Children::~Children() {
  for (const Child& child : running_) ::kill(child.process, SIGTERM);
  for (const Child& child : running_) {
    // At the pipe's end it has ended; one that a debugger or SIGSTOP holds is not waited for.
    constexpr int kMostMilliseconds = 2000;
    pollfd ended{child.pipe, POLLIN, 0};
    std::string ignored;
    while (::poll(&ended, 1, kMostMilliseconds) > 0 && take(child.pipe, ignored)) continue;
    ::kill(child.process, SIGKILL);
    ::close(child.pipe);
    status_of(child.process);
  }
}

void Children::start(std::size_t item, const Work& work) {
  std::array<int, 2> ends{};
  std::fflush(nullptr);
  const pid_t parent = ::getpid();
  if (::pipe(ends.data()) != 0) {
    throw HostLimit(fmt::format("no pipe to a process: {}", std::strerror(errno)));
  }
  const pid_t process = ::fork();
  if (process < 0) {
    const int error = errno;
    for (const int end : ends) ::close(end);
    throw HostLimit(fmt::format("no further process: {}", std::strerror(error)));
  }
  if (process == 0) {
    become_child(parent);
    ::close(ends[0]);
    do_work(ends[1], item, work);
  }
  ::close(ends[1]);
  running_.push_back({item, process, ends[0], ""});
}

std::vector<Children::Finished> Children::wait(int milliseconds, int input,
                                               const sigset_t* signals) {
  std::vector<pollfd> polled;
  for (const Child& child : running_) polled.push_back({child.pipe, POLLIN, 0});
  polled.push_back({input, POLLIN, 0});
  const timespec limit{milliseconds / 1000, (milliseconds % 1000) * 1'000'000L};
  if (::ppoll(polled.data(), polled.size(), milliseconds < 0 ? nullptr : &limit, signals) <= 0) {
    return {};
  }
  std::vector<Finished> finished;
  std::vector<Child> left;
  for (std::size_t i = 0; i < running_.size(); ++i) {
    Child& child = running_[i];
    if (polled[i].revents == 0 || take(child.pipe, child.text)) {
      left.push_back(std::move(child));
      continue;
    }
    ::close(child.pipe);
    const int status = status_of(child.process);
    finished.push_back({child.item, std::move(child.text), death_of(status), is_starved(status)});
  }
  running_ = std::move(left);
  return finished;
}

void run_in_children(std::size_t count, unsigned jobs, const Children::Work& work,
                     const std::function<void(const Children::Finished&)>& done,
                     const std::function<void(std::size_t)>& watch) {
  constexpr int kTenTimesASecond = 100;
  Children children;
  std::map<std::size_t, Children::Finished> early;  // those whose turn has not come
  std::size_t next = 0;
  for (std::size_t turn = 0; turn < count;) {
    for (; next < count && children.running() < jobs; ++next) children.start(next, work);
    for (Children::Finished& each : children.wait(watch ? kTenTimesASecond : -1))
      early.emplace(each.item, std::move(each));
    if (watch) watch(turn + early.size());
    for (; early.contains(turn); ++turn) {
      done(early.at(turn));
      early.erase(turn);
    }
  }
}

}  // namespace tessera
