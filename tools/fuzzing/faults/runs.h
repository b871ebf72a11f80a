#pragma once

#include <filesystem>
#include <map>
#include <set>
#include <string>

#include "tools/fuzzing/call.h"
#include "tools/fuzzing/faults/cases.h"

/// Runs of programs with a fault, compared with those of the right program.
namespace tessera::faults {

enum class Verdict {
  found,         ///< the check fails
  stopped,       ///< a tile fault, no progress, a refusal, a signal, a limit
  same,          ///< equal bytes
  rounding,      ///< different, but within what roundings may change
  other_inputs,  ///< the inputs are others: the results are of another problem
  survivor       ///< beyond that, and the check passes
};
constexpr int kVerdicts = 6;
std::string name_of(Verdict verdict);

struct Judgement {
  Verdict verdict;
  std::string what;  ///< a survivor's tensor, element and both numbers
};

/// The right program's runs, each made when it is first asked for.
class Runs {
 public:
  /// Folders of runs go to `work`.
  Runs(std::string program, std::filesystem::path work)
      : program_(std::move(program)), work_(std::move(work)) {}

  /// Runs `faulty` and compares. Throws std::runtime_error if the right program fails.
  Judgement judge(const Case& of, const std::string& faulty);
  [[nodiscard]] const std::string& program() const { return program_; }
  [[nodiscard]] const std::filesystem::path& work() const { return work_; }

 private:
  struct Right {
    std::filesystem::path folder;
    std::set<std::string> inputs;  ///< tensors that are given
  };
  const Right& right(const Case& of);

  std::string program_;
  std::filesystem::path work_;
  std::map<std::string, Right> right_;
};

/// A call of `arguments` with the case's config as a.json.
fuzz::Outcome run(const std::string& program, const Case& of, std::vector<std::string> arguments,
                  const std::filesystem::path& folder);

}  // namespace tessera::faults
