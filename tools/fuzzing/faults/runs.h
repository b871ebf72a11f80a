#pragma once

#include <filesystem>
#include <map>
#include <set>
#include <string>

#include "tools/fuzzing/call.h"
#include "tools/fuzzing/faults/cases.h"

/// Runs of faulty programs, compared with those of the correct program.
namespace tessera::faults {

enum class Verdict {
  found,         ///< the check fails
  stopped,       ///< a tile fault, no progress, a refusal, a signal, a limit
  same,          ///< equal bytes
  rounding,      ///< different, but within the bound of roundings
  other_inputs,  ///< the inputs differ: the results belong to another problem
  survivor       ///< beyond rounding, but the check passes
};
constexpr int kVerdicts = 6;
std::string name_of(Verdict verdict);

struct Judgement {
  Verdict verdict;
  std::string what;  ///< for a survivor: tensor, element and both numbers
};

/// Runs of the correct program, made on demand.
class Runs {
 public:
  /// Stores folders of runs in `work`.
  Runs(std::string program, std::filesystem::path work)
      : program_(std::move(program)), work_(std::move(work)) {}

  /// Runs `faulty` and compares. Throws std::runtime_error if the correct program fails.
  Judgement judge(const Case& of, const std::string& faulty);
  [[nodiscard]] const std::string& program() const { return program_; }
  [[nodiscard]] const std::filesystem::path& work() const { return work_; }

 private:
  struct Right {
    std::filesystem::path folder;
    std::set<std::string> inputs;  ///< input tensors
  };
  const Right& right(const Case& of);

  std::string program_;
  std::filesystem::path work_;
  std::map<std::string, Right> right_;
};

/// Calls the program with `arguments` and the case's config as a.json.
fuzz::Outcome run(const std::string& program, const Case& of, std::vector<std::string> arguments,
                  const std::filesystem::path& folder);

}  // namespace tessera::faults
