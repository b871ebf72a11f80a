#include "tools/benchmark/configs.h"

#include <algorithm>
#include <cstdlib>
#include <dlfcn.h>
#include <filesystem>
#include <fstream>
#include <utility>

#include <fmt/format.h>

#include "sim/base/errors.h"
#include "sim/base/stopwatch.h"

#include "tools/benchmark/commands.h"

namespace tessera::benchmark {
namespace {

using Json = nlohmann::ordered_json;

/// A temporary folder for runs, removed by the destructor.
class Folder {
 public:
  Folder() {
    std::string name = (std::filesystem::temp_directory_path() / "tessera_bench_XXXXXX").string();
    check(::mkdtemp(name.data()) != nullptr, "benchmark: no folder {}", name);
    path_ = name;
  }
  ~Folder() {
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
  }
  Folder(const Folder&) = delete;
  Folder& operator=(const Folder&) = delete;
  [[nodiscard]] std::string path() const { return path_.string(); }

 private:
  std::filesystem::path path_;
};

using Whole = std::pair<Ran, Json>;  ///< with the run's report

/// The quickest of up to three runs; stops after three seconds in all.
Whole quickest(const std::string& config, const std::string& options) {
  constexpr double kMoment = 3;
  const Folder folder;
  const std::string command = fmt::format("{} run '{}' --threads 2 --quiet {} --out '{}/run' 2>&1",
                                          TESSERA_PROGRAM, config, options, folder.path());
  Whole best;
  double all = 0;
  for (int round = 0; round < 3 && all < kMoment; ++round) {
    Ran ran = run(command);
    if (ran.status != 0) throw UserError(fmt::format("{}\n{}", command, ran.output));
    all += ran.wall_seconds;
    if (round != 0 && ran.processor_seconds >= best.first.processor_seconds) continue;
    std::ifstream file(folder.path() + "/run/report.json");
    best = {std::move(ran), Json::parse(file)};
  }
  return best;
}

}  // namespace

std::vector<std::string> shipped_configs() {
  std::vector<std::string> names;
  for (const auto& entry : std::filesystem::directory_iterator(TESSERA_SOURCE "/configs/runs"))
    names.push_back(entry.path().stem().string());
  std::ranges::sort(names);
  return names;
}

MeasuredConfig measure_config(const std::string& path) {
  MeasuredConfig made;
  made.name = std::filesystem::path(path).stem().string();
  made.interpreter = quickest(path, "--set run.engine=interpreter").first.processor_seconds;
  const Whole native = quickest(path, "--set run.engine=native");
  const Json& host = native.second.at("host");
  made.native = native.first.processor_seconds;
  made.wall = native.first.wall_seconds;
  made.build = host.at("build_seconds");
  made.run = host.at("seconds");
  made.check = host.at("check_seconds");
  made.useful_flops = native.second.at("work").at("useful_flops");
  if (native.second.contains("results")) made.results = native.second.at("results");
  const Whole timing = quickest(path, "--timing --again");
  made.timing = timing.first.processor_seconds;
  made.kept = quickest(path, "--timing").first.processor_seconds;
  made.timed = timing.second.at("check").at("method") == "not computed";
  return made;
}

std::optional<double> seconds_of_sgemm(int size) {
  void* const library = ::dlopen("libopenblas.so.0", RTLD_NOW);
  if (library == nullptr) return std::nullopt;
  using SetThreads = void (*)(int);
  using Sgemm = void (*)(int, int, int, int, int, int, float, const float*, int, const float*, int,
                         float, float*, int);
  const auto set_threads =
      reinterpret_cast<SetThreads>(::dlsym(library, "openblas_set_num_threads"));
  const auto sgemm = reinterpret_cast<Sgemm>(::dlsym(library, "cblas_sgemm"));
  if (set_threads == nullptr || sgemm == nullptr) return std::nullopt;
  constexpr int kRowMajor = 101, kAsItIs = 111;
  const auto all = static_cast<std::size_t>(size) * static_cast<std::size_t>(size);
  const std::vector<float> a(all, 1.0F), b(all, 0.5F);
  std::vector<float> c(all);
  set_threads(2);
  double best = 0;
  for (int round = 0; round < 3; ++round) {
    const Stopwatch watch;
    sgemm(kRowMajor, kAsItIs, kAsItIs, size, size, size, 1.0F, a.data(), size, b.data(), size, 0.0F,
          c.data(), size);
    best = round == 0 ? watch.seconds() : std::min(best, watch.seconds());
  }
  check(c.front() == 0.5F * static_cast<float>(size), "benchmark: OpenBLAS computes {}", c.front());
  return best;
}

}  // namespace tessera::benchmark
