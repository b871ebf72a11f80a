#pragma once

#include <string>
#include <vector>

#include "sim/base/errors.h"
#include "sim/command/command.h"
#include "sim/command/simulator.h"

namespace tessera::command {

struct EvalRequest {
  std::string file;         ///< the config that points change; empty: each point is a whole config
  bool from_stdin = false;  ///< must be
  std::vector<std::string> sets;
  std::string out;    ///< a sweep's folder that keeps and knows results; empty: none
  unsigned jobs = 1;  ///< points at a time
};

/// Reads points from standard input, a JSON object a line, and answers a JSON object a line on
/// stdout, in the same order, until the input ends. What is wrong with a point is in its answer.
ExitCode eval(const EvalRequest& request, const Simulator& simulator);

Command eval_command(const Simulator& simulator);

}  // namespace tessera::command
