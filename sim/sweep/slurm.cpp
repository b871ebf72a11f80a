#include "sim/sweep/slurm.h"

#include <algorithm>
#include <array>
#include <cstdio>
#include <filesystem>
#include <sys/wait.h>

#include <fmt/format.h>

#include "sim/base/errors.h"
#include "sim/base/whole_file.h"

namespace tessera::sweep {
namespace {

namespace fs = std::filesystem;

std::string command(const SlurmJob& job, const std::string& program) {
  std::string line = fmt::format("exec {} sweep {}", shell_word(program), shell_word(job.config));
  for (const std::string& axis : job.axes) line += " " + shell_word(axis);
  for (const std::string& assignment : job.sets) line += " --set " + shell_word(assignment);
  return line + fmt::format(" --out {} --jobs {} --yes", shell_word(job.out), job.jobs);
}

std::string head(const SlurmJob& job, const std::string& name) {
  return fmt::format(
      "#!/bin/sh\n"
      "#SBATCH --job-name={}\n"
      "#SBATCH --cpus-per-task={}\n",
      name, job.jobs);
}

/// Returns the output of a command; throws UserError if it fails.
std::string output_of(const std::string& line) {
  ShellAnswer answer = shell("tessera sweep", line);
  while (answer.text.ends_with('\n')) answer.text.pop_back();
  if (answer.status != 0) throw UserError("tessera sweep: {}: {}", line, answer.text);
  return answer.text;
}

/// Parses "12" or "12;cluster", the last line that `sbatch --parsable` prints.
std::string job_id(const std::string& printed) {
  const std::string last = printed.substr(printed.rfind('\n') + 1);
  std::string id = last.substr(0, last.find(';'));
  if (!id.empty() && id.find_first_not_of("0123456789") == std::string::npos) return id;
  throw UserError("tessera sweep: sbatch printed {}, allowed a job's id", printed);
}

unsigned tasks_for(const SlurmJob& job, std::size_t points) {
  constexpr std::size_t kPointsATask = 50, kMostTasks = 1000;  // a task costs about half a second
  const std::size_t chosen = std::min(kMostTasks, (points + kPointsATask - 1) / kPointsATask);
  return static_cast<unsigned>(std::min<std::size_t>(points, job.shards > 0 ? job.shards : chosen));
}

}  // namespace

std::string shell_word(const std::string& text) {
  std::string word = "'";
  for (const char c : text) word += c == '\'' ? std::string("'\\''") : std::string(1, c);
  return word + "'";
}

std::string array_script(const SlurmJob& job, const std::string& program, unsigned tasks) {
  return head(job, "tessera-sweep") + fmt::format(
                                          "#SBATCH --array=1-{0}\n"
                                          "#SBATCH --requeue\n"
                                          "#SBATCH --open-mode=append\n"
                                          "{1} --shard \"$SLURM_ARRAY_TASK_ID\"/{0} --quiet\n",
                                          tasks, command(job, program));
}

std::string collecting_script(const SlurmJob& job, const std::string& program) {
  return head(job, "tessera-collect") + "#SBATCH --requeue\n" + command(job, program) + "\n";
}

void require_slurm(const SlurmJob& job) {
  if (job.config == "-") {
    throw UserError("tessera sweep: --slurm: found -, allowed a config in a file");
  }
  static_cast<void>(output_of("sbatch --version"));
}

Submitted submit(const SlurmJob& given, std::size_t points) {
  SlurmJob job = given;
  job.config = fs::absolute(job.config).string();
  job.out = fs::absolute(job.out).lexically_normal().string();
  const std::string program = fs::read_symlink("/proc/self/exe").string();
  const std::string folder = job.out + "/slurm";
  create_folder(folder);
  Submitted submitted{tasks_for(job, points), "", ""};
  write_whole(folder + "/array.sh", array_script(job, program, submitted.tasks));
  write_whole(folder + "/collect.sh", collecting_script(job, program));
  const auto sbatch = [&](const std::string& options, const std::string& script) {
    return job_id(output_of(fmt::format("sbatch --parsable {} {} {}", options, job.sbatch,
                                        shell_word(folder + "/" + script))));
  };
  const auto log = [&](const std::string& name) {
    return "--output=" + shell_word(folder + "/" + name);
  };
  submitted.array_job = sbatch(log("task-%a.log"), "array.sh");
  submitted.collecting_job =
      sbatch(fmt::format("{} --dependency=afterany:{}", log("collect.log"), submitted.array_job),
             "collect.sh");
  return submitted;
}

ShellAnswer shell(const std::string& caller, const std::string& line) {
  FILE* const pipe = ::popen((line + " 2>&1").c_str(), "r");
  if (pipe == nullptr) throw UserError("{}: {}: cannot be run", caller, line);
  ShellAnswer answer{0, ""};
  std::array<char, 4096> buffer;
  while (const std::size_t got = std::fread(buffer.data(), 1, buffer.size(), pipe)) {
    answer.text.append(buffer.data(), got);
  }
  const int status = ::pclose(pipe);
  answer.status = WIFEXITED(status) ? WEXITSTATUS(status) : -1;
  return answer;
}

}  // namespace tessera::sweep
