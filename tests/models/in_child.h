#pragma once

#include <cstdlib>
#include <functional>
#include <string>
#include <sys/wait.h>
#include <unistd.h>

#include "sim/base/errors.h"

namespace tessera {

/// Runs `body` in a child process, since SystemC elaborates once per process. Returns its result,
/// or "exit CODE: MESSAGE" for an Error that it throws.
inline std::string in_child(const std::function<std::string()>& body) {
  int ends[2];
  check(pipe(ends) == 0, "in_child: no pipe");
  const pid_t child = fork();
  check(child >= 0, "in_child: no process");
  if (child == 0) {
    std::string text;
    try {
      text = body();
    } catch (const Error& error) {
      text = fmt::format("exit {}: {}", static_cast<int>(error.code()), error.what());
    } catch (const std::exception& error) {
      text = fmt::format("exception: {}", error.what());
    }
    for (std::size_t sent = 0; sent < text.size();) {
      const ssize_t wrote = write(ends[1], text.data() + sent, text.size() - sent);
      if (wrote <= 0) break;
      sent += static_cast<std::size_t>(wrote);
    }
    _exit(0);
  }
  close(ends[1]);
  std::string text;
  char buffer[4096];
  for (ssize_t got = 0; (got = read(ends[0], buffer, sizeof buffer)) > 0;)
    text.append(buffer, static_cast<std::size_t>(got));
  close(ends[0]);
  int status = 0;
  waitpid(child, &status, 0);
  return WIFEXITED(status) && WEXITSTATUS(status) == 0 ? text : "the child process died";
}

}  // namespace tessera
