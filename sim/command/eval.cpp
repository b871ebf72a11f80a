#include <array>
#include <cerrno>
#include <cstdio>
#include <deque>
#include <map>
#include <memory>
#include <optional>
#include <poll.h>
#include <string>
#include <unistd.h>
#include <vector>

#include <fmt/format.h>

#include "sim/base/children.h"
#include "sim/base/errors.h"
#include "sim/command/choices.h"
#include "sim/command/commands.h"
#include "sim/command/point_runner.h"
#include "sim/config/key_path.h"
#include "sim/sweep/point_ids.h"

namespace tessera::command {
namespace {

struct EvalRequest {
  std::string file;         ///< the config that points change; empty: points are whole configs
  bool from_stdin = false;  ///< required
  std::vector<std::string> sets;
  std::string out;    ///< a sweep's folder that stores and provides results; empty: none
  unsigned jobs = 1;  ///< points at a time
  bool predict = false;

  [[nodiscard]] sweep::Way way() const {
    return predict ? sweep::Way::predicted : sweep::Way::simulated;
  }
};

using config::Json;
using config::Layers;

/// The lines of standard input as they arrive.
class Lines {
 public:
  std::deque<std::string> waiting;

  /// The descriptor to wait for; -1 after its end.
  [[nodiscard]] int input() const { return ended_ ? -1 : STDIN_FILENO; }

  /// Reads what is available without blocking.
  void take() {
    pollfd ready{input(), POLLIN, 0};
    if (ended_ || ::poll(&ready, 1, 0) <= 0) return;
    std::array<char, 65536> buffer;
    const ssize_t got = ::read(STDIN_FILENO, buffer.data(), buffer.size());
    if (got < 0 && errno == EINTR) return;
    ended_ = got <= 0;
    if (got > 0) rest_.append(buffer.data(), static_cast<std::size_t>(got));
    if (ended_ && !rest_.empty()) rest_ += '\n';
    std::size_t begin = 0;
    for (std::size_t end; (end = rest_.find('\n', begin)) != std::string::npos; begin = end + 1) {
      waiting.push_back(rest_.substr(begin, end - begin));
    }
    rest_.erase(0, begin);
  }

 private:
  std::string rest_;
  bool ended_ = false;
};

Layers load_base(const EvalRequest& request) {
  Layers base = request.file.empty() ? Layers(Json::object(), "standard input")
                                     : config::load_layers(request.file);
  base.remove("sweep");
  for (const std::string& assignment : request.sets) base.set(assignment);
  return base;
}

/// Refuses a key path that the point's section also sets.
void refuse_twice(const Json& point, const std::string& path, const std::string& origin) {
  const Json* const at = config::find_at(point, path);
  if (at == nullptr) return;
  throw ConfigError(origin, path, "found {} beside {} in its section, allowed one of them",
                    config::shown(point.at(path)), config::shown(*at));
}

/// Applies a point to a config: merges its sections, sets its key paths.
void apply(const Json& point, const std::string& origin, Layers& layers) {
  if (!point.is_object()) {
    throw ConfigError(origin, "", "found {}, allowed an object", config::shown(point));
  }
  for (const auto& [key, value] : point.items()) {
    const bool is_path = key.find_first_of(".[") != std::string::npos;
    if (value.is_object() && !is_path) {
      if (key == "machine" && value.contains("extends")) layers.remove(key);
      layers.merge(Layers(Json::object({{key, value}}), origin));
    } else {
      if (is_path) refuse_twice(point, key, origin);
      layers.set(key, value, origin);
    }
  }
}

/// Evaluates points, from input lines to answers.
class Evaluation {
 public:
  Evaluation(const EvalRequest& request, const Simulator& simulator)
      : request_(request),
        simulator_(simulator),
        base_(load_base(request)),
        ids_(sweep::program_identity(request.way())) {
    if (request.out.empty()) return;
    report::require_writable(request.out);
    store_.emplace(request.out);
    store_->open();
    store_->remove_leftovers();
  }

  void run() {
    while (lines_.input() >= 0 || !lines_.waiting.empty() || children_.running() > 0) {
      const bool busy = children_.running() >= request_.jobs;
      if (!busy && !lines_.waiting.empty()) {
        start(lines_.waiting.front());
        lines_.waiting.pop_front();
      } else {
        const auto all = children_.wait(-1, busy ? -1 : lines_.input());
        for (const Children::Finished& each : all) answers_[each.item] = answer(each);
        if (!busy) lines_.take();
      }
      print();
    }
  }

 private:
  void start(const std::string& line) {
    const std::size_t number = ++started_;
    const std::string origin = fmt::format("line {}", number);
    try {
      Layers layers = base_;
      const Json point = config::parse_json(line, origin);
      apply(point, origin, layers);
      config::Config config =
          config::read_config(layers, "eval", simulator_.catalogue, simulator_.machines);
      std::vector<std::string> paths;
      for (const auto& [key, value] : point.items()) paths.push_back(key);
      config::refuse_same_keys(config.resolved, paths);
      config::refuse_run_files(config);
      if (config.run.threads == 0) config.run.threads = 1;
      const std::string id = ids_.of(config);
      if (const auto known = store_ ? store_->find(id) : std::nullopt) {
        answers_[number] = to_text(number, id, *known);
        return;
      }
      seeds_[number] = {id, seed_of(config.resolved)};
      if (!run_) run_ = point_answer(request_.way(), config, simulator_);
      children_.start(number, [&](std::size_t) {
        const sweep::Result result = run_(config);
        if (store_) store_->put(id, result);
        return to_text(number, id, result);
      });
    } catch (const UserError& error) {
      answers_[number] = to_text(number, nullptr, {"failed", error.what(), nullptr, nullptr});
    }
  }

  [[nodiscard]] std::string answer(const Children::Finished& finished) {
    const auto node = seeds_.extract(finished.item);
    if (finished.death.empty()) return finished.text;
    const auto& [id, seed] = node.mapped();
    return to_text(finished.item, id, died(finished, seed));
  }

  static std::string to_text(std::size_t number, const Json& id, const sweep::Result& result) {
    Json answer = {{"line", number}, {"id", id}};
    answer.update(sweep::to_json(result));
    return config::one_line(answer);
  }

  /// Prints the finished answers in the order of the lines.
  void print() {
    for (; answers_.contains(printed_ + 1); ++printed_) {
      fmt::print("{}\n", answers_.extract(printed_ + 1).mapped());
    }
    std::fflush(stdout);
  }

  const EvalRequest& request_;
  const Simulator& simulator_;
  Layers base_;
  sweep::PointIds ids_;
  std::optional<sweep::Store> store_;
  PointAnswer run_;  ///< set with the first point
  Lines lines_;
  Children children_;
  std::size_t started_ = 0, printed_ = 0;
  std::map<std::size_t, std::pair<std::string, Json>> seeds_;  ///< id and seed of running points
  std::map<std::size_t, std::string> answers_;                 ///< finished before their turn
};

/// Reads points from standard input, one JSON object per line, and prints one JSON answer per line,
/// in the same order, until the input ends. A point's error is part of its answer.
ExitCode eval(const EvalRequest& request, const Simulator& simulator) {
  Evaluation(request, simulator).run();
  return ExitCode::done;
}

}  // namespace

Command eval_command(const Simulator& simulator) {
  const auto request = std::make_shared<EvalRequest>();
  return {"eval",
          "evaluate points as they arrive on standard input, for optimisers",
          {{"CONFIG", &request->file,
            "base config that the points change (default: each point is a whole config)"},
           {"--stdin", &request->from_stdin,
            "read one JSON object per line: sections to merge, or values by key path", kRequired},
           {"--predict", &request->predict, "plan each point and predict its time; no simulation"},
           set_option(&request->sets, simulator),
           {"--out", &request->out,
            "folder for results; results already there, also of a sweep, are reused"},
           {"--jobs", &request->jobs, "points evaluated at a time (default: 1)", !kRequired,
            kMostJobs}},
          [request, &simulator] { return eval(*request, simulator); }};
}

}  // namespace tessera::command
