#include "sim/command/command_line.h"

#include <cerrno>
#include <cstdio>
#include <cstring>

#include <CLI/CLI.hpp>
#include <fmt/format.h>

#include "sim/command/disasm.h"
#include "sim/command/eval.h"
#include "sim/command/exec.h"
#include "sim/command/list.h"
#include "sim/command/plot.h"
#include "sim/command/report.h"
#include "sim/command/run.h"
#include "sim/command/sweep.h"
#include "sim/command/validate.h"
#include "sim/config/nearest.h"
#include "sim/report/version.h"

namespace tessera::command {
namespace {

/// A command as the parser knows it and what it does once its arguments are read.
using Action = std::function<ExitCode()>;

/// CLI11 keeps what it does not know; this says what it is nearest to.
void refuse_extras(const CLI::App& app, const std::string& name) {
  const std::vector<std::string> extras = app.remaining();
  if (extras.empty()) return;
  const bool option = extras.front().starts_with("-");
  std::vector<std::string> known;
  if (option) {
    for (const CLI::Option* each : app.get_options()) {
      for (const std::string& spelled : each->get_lnames()) known.push_back("--" + spelled);
    }
  } else {
    for (const CLI::App* each : app.get_subcommands({})) known.push_back(each->get_name());
  }
  const std::vector<std::string_view> names = config::views(known);
  const std::string allowed = names.empty() ? "no further argument" : config::list_of(names);
  throw UserError(fmt::format("{}: found {}, allowed {}{}", name, extras.front(), allowed,
                              config::did_you_mean(extras.front(), names)));
}

void add_sets(CLI::App& command, std::vector<std::string>& sets) {
  command.add_option("--set", sets, "path=value: change a key, for example workload.n=64")
      ->take_all()
      ->expected(1)
      ->allow_extra_args(false);
}

Action add_run(CLI::App& app, const Simulator& simulator) {
  CLI::App* const run = app.add_subcommand("run", "simulate a config and report");
  const auto request = std::make_shared<RunRequest>();
  run->add_option("CONFIG", request->file, "the config file; - reads standard input")->required();
  add_sets(*run, request->sets);
  run->add_option("--out", request->out, "folder of the results (default: runs/NAME-HASH)");
  run->add_option("--threads", request->threads, "host threads (run.threads)");
  run->add_option("--engine", request->engine, "interpreter (run.engine)");
  run->add_option("--max-cycles", request->max_cycles, "give up after so many (run.max_cycles)");
  run->add_option("--seed", request->seed, "of data and generators (workload.seed and run.seed)");
  run->add_option("--trace", request->trace,
                  "none, phases or tiles: trace.pftrace and trace.vcd (report.trace)");
  run->add_option("--trace-tiles", request->trace_tiles,
                  "which, such as 0-63,100, or all (report.trace_tiles; --trace tiles)");
  run->add_flag("--quiet", request->quiet, "no summary and no progress");
  return [request, &simulator] { return command::run(*request, simulator); };
}

Action add_check(CLI::App& app, const Simulator& simulator) {
  CLI::App* const check =
      app.add_subcommand("check", "plan, predicted cycles and memory of a config; runs nothing");
  const auto request = std::make_shared<RunRequest>();
  check->add_option("CONFIG", request->file, "the config file; - reads standard input")->required();
  add_sets(*check, request->sets);
  check->add_option("--seed", request->seed, "of data and generators");
  return [request, &simulator] { return command::check(*request, simulator); };
}

Action add_validate(CLI::App& app, const Simulator& simulator) {
  CLI::App* const validate =
      app.add_subcommand("validate", "published numbers beside simulated ones");
  const auto request = std::make_shared<ValidateRequest>();
  validate->add_option("SET", request->sets,
                       "names that `tessera list sets` shows, or files of the same form (default: "
                       "all sets but those "
                       "by name alone)");
  validate->add_option(
      "--out", request->out,
      "folder of the tables in CSV (default: runs, for figures of papers and files)");
  validate->add_flag("--quick", request->quick, "only the points marked quick");
  validate->add_option("--jobs", request->jobs, "points at a time (default: one a core)")
      ->check(CLI::Range(1, 1024));
  return [request, &simulator] { return command::validate(*request, simulator); };
}

Action add_report(CLI::App& app) {
  CLI::App* const report =
      app.add_subcommand("report", "an HTML page of one finished run, or of two compared");
  const auto request = std::make_shared<ReportRequest>();
  report->add_option("RUN", request->runs, "a folder of results; two are compared")->required();
  report->add_option("--out", request->out, "the page (default: report.html in the run's folder)");
  report->add_flag("--top", request->top, "print where the time went; write no page");
  return [request] { return command::report(*request); };
}

Action add_plot(CLI::App& app) {
  CLI::App* const plot = app.add_subcommand("plot", "a figure of a sweep, or of runs");
  const auto request = std::make_shared<PlotRequest>();
  const auto many = [&](const char* name, std::vector<std::string>& into, const char* help) {
    plot->add_option(name, into, help)->take_all()->expected(1)->allow_extra_args(false);
  };
  plot->add_option("DIR", request->folders, "folders of sweeps or runs")->required();
  plot->add_option("--kind", request->kind,
                   "lines, bars, heatmap, speedup, pareto, roofline; of one run: timeline, tiles");
  plot->add_option("--x", request->figure.x, "an axis, or a key of report.json or its config");
  many("--y", request->figure.y,
       "a key such as rate.flops_per_second, or arithmetic such as 'time.cycles / workload.n' "
       "(default: time.cycles)");
  many("--by", request->figure.by, "what tells lines apart (default: the other axes)");
  many("--where", request->where, "path=value: only these runs");
  many("--best", request->figure.best,
       "an axis: of runs that differ only there, the one with the best y (largest of a rate)");
  many("--baseline", request->figure.baseline, "path=value: the runs that speedup compares with");
  plot->add_option("--title", request->figure.title, "above the figure");
  plot->add_option("--log", request->figure.log,
                   "none, x, y or xy (default: as the numbers are spaced)");
  plot->add_option("--out", request->out, "folder of the figure (default: plots in the last DIR)");
  plot->add_option("--name", request->name, "of the figure's files (default: the kind)");
  plot->add_option("--format", request->formats, "svg, pdf, png (default: all)")->delimiter(',');
  return [request] { return command::plot(*request); };
}

Action add_sweep(CLI::App& app, const Simulator& simulator) {
  CLI::App* const sweep =
      app.add_subcommand("sweep", "run a config at many points, on many cores or a cluster");
  const auto request = std::make_shared<SweepRequest>();
  sweep->add_option("CONFIG", request->file, "the config file, which may have a section sweep")
      ->required();
  sweep->add_option("AXIS", request->axes,
                    "path=a,b,c or path=low..high*factor or path=low..high+step");
  add_sets(*sweep, request->sets);
  sweep->add_option("--out", request->out, "folder of the results; done points there stay")
      ->required();
  sweep->add_option("--jobs", request->jobs, "points at a time (default: one a core)")
      ->check(CLI::Range(1, 1024));
  sweep->add_option("--shard", request->shard, "i/n: only every n-th point, from the i-th on");
  sweep->add_flag("--slurm", request->slurm, "submit to Slurm: an array job, one that collects");
  sweep->add_option("--shards", request->shards, "tasks of the array (default: one for 50 points)")
      ->check(CLI::Range(1, 100000));
  sweep->add_option("--sbatch", request->sbatch, "further options of sbatch, in one text");
  sweep->add_flag("--quiet", request->quiet, "no summary and no progress");
  return [request, &simulator] { return command::sweep(*request, simulator); };
}

Action add_eval(CLI::App& app, const Simulator& simulator) {
  CLI::App* const eval = app.add_subcommand("eval", "answer points as they come, for optimisers");
  const auto request = std::make_shared<EvalRequest>();
  eval->add_option("CONFIG", request->file,
                   "what the points change (default: each point is a whole config)");
  eval->add_flag("--stdin", "a JSON object a line: sections to merge, or key path to value")
      ->required();
  add_sets(*eval, request->sets);
  eval->add_option("--out", request->out, "folder that keeps results, and of a sweep: knows them");
  eval->add_option("--jobs", request->jobs, "points at a time (default: 1)")
      ->check(CLI::Range(1, 1024));
  return [request, &simulator] { return command::eval(*request, simulator); };
}

Action add_exec(CLI::App& app, const Simulator& simulator) {
  CLI::App* const exec = app.add_subcommand("exec", "run a bare RV32 program on one tile");
  const auto request = std::make_shared<ExecRequest>();
  exec->add_option("ELF", request->file, "the program; it ends by ecall with a7 = 93")->required();
  exec->add_option("--machine", request->machine, "a preset or a file (default: bow)");
  exec->add_option("--max-cycles", request->max_cycles, "give up after so many (default: 10^10)");
  return [request, &simulator] { return command::exec(*request, simulator); };
}

Action add_disasm(CLI::App& app) {
  CLI::App* const disasm = app.add_subcommand("disasm", "print the tile code of an ELF file");
  const auto request = std::make_shared<DisasmRequest>();
  disasm->add_option("FILE", request->file, "an ELF file")->required();
  disasm->add_option("--symbol", request->symbol, "only this function");
  return [request] { return command::disasm(*request); };
}

Action add_list(CLI::App& app, const Simulator& simulator) {
  CLI::App* const list = app.add_subcommand("list", "what a config can name");
  const auto what = std::make_shared<std::string>();
  list->add_option("WHAT", *what, "machines, workloads, fabrics or sets")->required();
  return [what, &simulator] { return command::list(*what, simulator); };
}

Action add_schema(CLI::App& app, const Simulator& simulator) {
  CLI::App* const schema = app.add_subcommand("schema", "the JSON Schema of configs");
  const auto markdown = std::make_shared<bool>(false);
  schema->add_flag("--markdown", *markdown, "as Markdown tables instead");
  return [markdown, &simulator] { return command::schema(*markdown, simulator); };
}

ExitCode parse_and_run(int argc, const char* const* argv, const Simulator& simulator) {
  CLI::App app("Tessera: a simulator of manycore MIMD machines", "tessera");
  app.set_version_flag("--version",
                       fmt::format("tessera {} ({})", report::kVersion, report::kCommit));
  app.allow_extras();
  const std::vector<std::pair<std::string, Action>> actions = {
      {"run", add_run(app, simulator)},
      {"check", add_check(app, simulator)},
      {"exec", add_exec(app, simulator)},
      {"disasm", add_disasm(app)},
      {"list", add_list(app, simulator)},
      {"schema", add_schema(app, simulator)},
      {"validate", add_validate(app, simulator)},
      {"report", add_report(app)},
      {"sweep", add_sweep(app, simulator)},
      {"eval", add_eval(app, simulator)},
      {"plot", add_plot(app)}};
  for (CLI::App* const each : app.get_subcommands({})) each->allow_extras();
  try {
    app.parse(argc, argv);
  } catch (const CLI::Success& help) {
    app.exit(help);
    return ExitCode::done;
  } catch (const CLI::ParseError& error) {
    const std::vector<CLI::App*> chosen = app.get_subcommands();
    const std::string name = chosen.empty() ? "" : " " + chosen.front()->get_name();
    for (const CLI::App* each : chosen) refuse_extras(*each, "tessera" + name);
    throw UserError(fmt::format("tessera{}: {}; see tessera{} --help", name, error.what(), name));
  }
  refuse_extras(app, "tessera");
  for (const auto& [name, action] : actions) {
    if (!app.got_subcommand(name)) continue;
    refuse_extras(*app.get_subcommand(name), "tessera " + name);
    return action();
  }
  fmt::print(stderr, "{}", app.help());
  return ExitCode::user_error;
}

/// What was printed must arrive: standard output may be a file on a full disk.
ExitCode after_printing(ExitCode code) {
  errno = 0;
  if (std::fflush(stdout) == 0 && std::ferror(stdout) == 0) return code;
  const std::string reason = errno == 0 ? "" : std::string(": ") + std::strerror(errno);
  fmt::print(stderr, "standard output: cannot be written{}\n", reason);
  return ExitCode::user_error;
}

}  // namespace

ExitCode run_command_line(int argc, const char* const* argv, const Simulator& simulator) {
  try {
    return after_printing(parse_and_run(argc, argv, simulator));
  } catch (const Error& error) {
    const bool ours = error.code() == ExitCode::defect;
    fmt::print(stderr, "{}{}\n", ours ? "tessera: a bug of ours: " : "", error.what());
    return error.code();
  } catch (const std::exception& error) {
    if (std::ferror(stdout) != 0) return after_printing(ExitCode::user_error);
    fmt::print(stderr, "tessera: a bug of ours: {}\n", error.what());
    return ExitCode::defect;
  }
}

}  // namespace tessera::command
