#include "sim/base/children.h"

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <map>
#include <poll.h>
#include <string_view>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "sim/base/host_limit.h"
#include "sim/base/unfinished.h"

namespace tessera {
namespace {

bool send_all(int socket, std::string_view text) {
  while (!text.empty()) {
    const ssize_t sent = ::send(socket, text.data(), text.size(), MSG_NOSIGNAL);
    if (sent < 0 && errno != EINTR) return false;
    if (sent > 0) text.remove_prefix(static_cast<std::size_t>(sent));
  }
  return true;
}

std::string_view bytes_of(const std::size_t& number) {
  return {reinterpret_cast<const char*>(&number), sizeof number};
}

/// Receives the next item; false when the parent has closed its end.
bool receive(int socket, std::size_t& item) {
  const ssize_t got = ::recv(socket, &item, sizeof item, MSG_WAITALL);
  return got == sizeof item || (got < 0 && errno == EINTR && receive(socket, item));
}

/// First steps of a child: it ends when its parent dies, and on the signals that the parent
/// handles; either way it removes its unfinished files.
void become_child(pid_t parent) {
  clean_up_on_signals();
  sigset_t none;
  sigemptyset(&none);
  ::sigprocmask(SIG_SETMASK, &none, nullptr);
  ::prctl(PR_SET_PDEATHSIG, SIGTERM);
  if (::getppid() != parent) ::_exit(1);  // the parent died before the line above
}

[[noreturn]] void do_work(int socket, std::size_t item, const Children::Work& work,
                          Children::Kept kept) {
  try {
    do {
      const std::string text = work(item);
      if (kept == Children::Kept::yes) send_all(socket, bytes_of(text.size()));
      send_all(socket, text);
    } while (kept == Children::Kept::yes && receive(socket, item));
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

/// Appends what the socket holds to `text`; false at its end.
bool take(int socket, std::string& text) {
  std::array<char, 65536> buffer;
  const ssize_t got = ::read(socket, buffer.data(), buffer.size());
  if (got > 0) text.append(buffer.data(), static_cast<std::size_t>(got));
  return got > 0 || (got < 0 && errno == EINTR);
}

}  // namespace

Children::~Children() {
  end(running_);
  end(idle_);
}

void Children::dismiss() {
  end(idle_);
  idle_.clear();
}

void Children::end(const std::vector<Child>& children) {
  for (const Child& child : children) ::kill(child.process, SIGTERM);
  for (const Child& child : children) {
    // The socket closes when the child ends. A child stopped by a debugger or SIGSTOP is killed.
    constexpr int kMostMilliseconds = 2000;
    pollfd ended{child.socket, POLLIN, 0};
    std::string ignored;
    while (::poll(&ended, 1, kMostMilliseconds) > 0 && take(child.socket, ignored)) continue;
    ::kill(child.process, SIGKILL);
    ::close(child.socket);
    status_of(child.process);
  }
}

/// Hands the item to an idle child; false if there is none. A child that cannot take it has died.
bool Children::give_to_kept(std::size_t item) {
  while (!idle_.empty()) {
    Child child = std::move(idle_.back());
    idle_.pop_back();
    if (send_all(child.socket, bytes_of(item))) {
      running_.push_back({item, child.process, child.socket, ""});
      return true;
    }
    end({child});
  }
  return false;
}

void Children::start(std::size_t item, const Work& work) {
  if (give_to_kept(item)) return;
  std::array<int, 2> ends{};
  std::fflush(nullptr);
  const pid_t parent = ::getpid();
  if (::socketpair(AF_UNIX, SOCK_STREAM, 0, ends.data()) != 0) {
    throw HostLimit(fmt::format("no socket to a process: {}", std::strerror(errno)));
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
    do_work(ends[1], item, work, kept_);
  }
  ::close(ends[1]);
  running_.push_back({item, process, ends[0], ""});
}

/// The complete answer of a kept child; nullopt while part of it is missing.
std::optional<std::string> Children::answer(const Child& child) const {
  std::size_t size = 0;
  if (kept_ == Kept::no || child.text.size() < sizeof size) return std::nullopt;
  std::memcpy(&size, child.text.data(), sizeof size);
  if (child.text.size() - sizeof size < size) return std::nullopt;
  return child.text.substr(sizeof size);
}

std::vector<Children::Finished> Children::wait(int milliseconds, int input,
                                               const sigset_t* signals) {
  std::vector<pollfd> polled;
  for (const Child& child : running_) polled.push_back({child.socket, POLLIN, 0});
  polled.push_back({input, POLLIN, 0});
  const timespec limit{milliseconds / 1000, (milliseconds % 1000) * 1'000'000L};
  if (::ppoll(polled.data(), polled.size(), milliseconds < 0 ? nullptr : &limit, signals) <= 0) {
    return {};
  }
  std::vector<Finished> finished;
  std::vector<Child> left;
  for (std::size_t i = 0; i < running_.size(); ++i) {
    Child& child = running_[i];
    const bool goes_on = polled[i].revents == 0 || take(child.socket, child.text);
    if (std::optional<std::string> text = answer(child)) {
      finished.push_back({child.item, *std::move(text), "", false});
      idle_.push_back(std::move(child));
    } else if (goes_on) {
      left.push_back(std::move(child));
    } else {
      ::close(child.socket);
      const int status = status_of(child.process);
      finished.push_back({child.item, std::move(child.text), death_of(status), is_starved(status)});
    }
  }
  running_ = std::move(left);
  return finished;
}

void run_in_children(std::size_t count, unsigned jobs, const Children::Work& work,
                     const std::function<void(const Children::Finished&)>& done,
                     const std::function<void(std::size_t)>& watch) {
  constexpr int kTenTimesASecond = 100;
  Children children;
  std::map<std::size_t, Children::Finished> early;  // finished before their turn
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
