#include "sim/command/child_runs.h"

#include <array>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <deque>
#include <sys/wait.h>
#include <unistd.h>

#include "sim/base/errors.h"

namespace tessera::command {
namespace {

struct Child {
  std::size_t item;
  pid_t process;
  int pipe;
};

void write_all(int pipe, const std::string& text) {
  std::size_t done = 0;
  while (done < text.size()) {
    const ssize_t written = ::write(pipe, text.data() + done, text.size() - done);
    if (written < 0 && errno != EINTR) return;
    if (written > 0) done += static_cast<std::size_t>(written);
  }
}

Child start(std::size_t item, const std::function<std::string(std::size_t)>& work) {
  std::array<int, 2> ends{};
  std::fflush(nullptr);
  if (::pipe(ends.data()) != 0) {
    throw UserError(std::string("tessera validate: no pipe: ") + std::strerror(errno));
  }
  const pid_t process = ::fork();
  if (process < 0) {
    throw UserError(std::string("tessera validate: no process: ") + std::strerror(errno));
  }
  if (process == 0) {
    ::close(ends[0]);
    write_all(ends[1], work(item));
    ::_exit(0);
  }
  ::close(ends[1]);
  return {item, process, ends[0]};
}

std::string finish(const Child& child) {
  std::string text;
  std::array<char, 4096> buffer;
  while (true) {
    const ssize_t got = ::read(child.pipe, buffer.data(), buffer.size());
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0) break;
    text.append(buffer.data(), static_cast<std::size_t>(got));
  }
  ::close(child.pipe);
  int status = 0;
  while (::waitpid(child.process, &status, 0) < 0 && errno == EINTR) continue;
  return WIFEXITED(status) && WEXITSTATUS(status) == 0 ? text : "";
}

}  // namespace

void run_in_children(std::size_t count, unsigned jobs,
                     const std::function<std::string(std::size_t)>& work,
                     const std::function<void(std::size_t, const std::string&)>& done) {
  std::deque<Child> running;
  for (std::size_t next = 0; next < count || !running.empty();) {
    if (next < count && running.size() < jobs) {
      running.push_back(start(next, work));
      ++next;
      continue;
    }
    const Child oldest = running.front();
    running.pop_front();
    done(oldest.item, finish(oldest));
  }
}

}  // namespace tessera::command
