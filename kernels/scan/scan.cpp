#include <cmath>

#include <fmt/format.h>

#include "kernels/check/comparison.h"
#include "kernels/codelet.h"
#include "kernels/pinned.h"
#include "kernels/planned.h"
#include "kernels/stored.h"
#include "sim/data/element.h"
#include "sim/data/seeded.h"
#include "sim/elf/codelet.h"

/// The workload `scan`: prefix sums of a vector distributed over tiles. Each tile adds its workers'
/// sums, tiles exchange sums within their group, then groups exchange theirs, and workers write
/// running sums from these offsets.
namespace tessera::scan {

using kernels::behind;
using plan::Tile;

namespace {

constexpr std::uint64_t kBytes = 4;
constexpr config::Names<program::Type, 2> kTypes{
    {{"i32", program::Type::i32}, {"f32", program::Type::f32}}};

struct Plan {
  std::uint32_t group = 1;  ///< tiles per group, which exchange their sums
  std::uint32_t tiles = 0;  ///< tiles that hold elements; 0: all
};
void describe(config::Fields& fields, Plan& plan) {
  fields.field({"group", "neighbouring tiles that exchange their sums before groups do"},
               plan.group, {1, 1U << 24});
  fields.field({"tiles", "number of tiles that hold elements; 0: all"}, plan.tiles, {0, 1U << 24});
}

struct Options {
  std::uint64_t elements = 1U << 20;
  program::Type dtype = program::Type::i32;
  bool exclusive = false;
  std::uint64_t seed = 1;
  std::optional<Plan> plan;
};
void describe(config::Fields& fields, Options& options) {
  fields.field({"elements", "number of elements of the vector"}, options.elements,
               {1, std::uint64_t{1} << 40});
  fields.field({"dtype", "type of the elements: i32 (sums modulo 2^32) or f32"}, options.dtype,
               kTypes);
  fields.field({"exclusive", "exclusive sums: each element's result leaves out the element itself"},
               options.exclusive);
  fields.field({"seed", "seed of the values"}, options.seed);
  kernels::describe_plan(fields, options.plan);
}

/// The inputs of a program's description; its functions keep them.
struct Problem {
  Options options;
  MachineConfig machine;
  elf::KernelCode code{"scan"};

  [[nodiscard]] bool integer() const { return options.dtype == program::Type::i32; }
  [[nodiscard]] std::string_view type() const { return config::name_of(kTypes, options.dtype); }
  [[nodiscard]] data::Seeded x() const { return {options.dtype, options.seed, 0}; }
  [[nodiscard]] std::uint32_t contexts() const { return machine.tile.contexts; }
  [[nodiscard]] Tile most_tiles() const {
    return static_cast<Tile>(std::min<std::uint64_t>(options.elements, machine.tiles));
  }
};

/// Byte offsets of the words of a tile: the sum of the tiles before it in its group, its own sum,
/// the sum of the groups before its own, and on a group's last tile the group's sum.
enum Word : std::uint32_t { before = 0, own = 4, groups_before = 8, group = 12, kWordBytes = 16 };

/// Tile code on a tile's elements, by all workers or by one. Operands: sums, the tile's words, x,
/// y.
const plan::Function& on_words(const Problem& problem, plan::Description& description,
                               std::string_view name, std::uint32_t workers) {
  const auto code = kernels::Codelet::of(problem.code, description,
                                         fmt::format("{}_{}", name, problem.type()), workers);
  return description.function(
      {fmt::format("{} by {}", name, workers),
       {{workers, std::uint64_t{8} * workers, 32}},
       [=](const Sizes& sizes, std::span<const Place> of) {
         auto arguments =
             code.dealt({of[0], of[1]}, sizes[0], [&](Interval part, kernels::Arguments& into) {
               const std::uint64_t at = part.begin * kBytes;
               into.insert(into.end(),
                           {behind(of[2], at), behind(of[3], at), word(part.size()), 0U});
             });
         return workers == 1 ? code.one(std::move(arguments)) : code.all(std::move(arguments));
       },
       [workers](const Sizes& sizes) -> std::vector<std::uint64_t> {
         return {workers * kBytes, kWordBytes, sizes[0] * kBytes, sizes[0] * kBytes};
       }});
}

plan::Described described(const std::shared_ptr<const Problem>& problem, const Plan& plan) {
  const Options& options = problem->options;
  const Tile tiles = plan.tiles, each = plan.group;
  const std::uint32_t contexts = problem->contexts();
  plan::Description d(problem->machine.tiles);
  const kernels::Arrays array{d, tiles};
  const kernels::Spread vector{d, {options.elements, tiles}};
  const auto elements = [=, split = vector.split](Tile tile) { return split.part(tile).size(); };
  const BufferId x = vector.given("x", "x", problem->x());
  const BufferId y = vector.result("y", "Y", options.dtype);
  const BufferId sums = array("sums", [=](Tile /*tile*/) { return contexts * kBytes; });
  const BufferId words =
      array("words", [](Tile /*tile*/) { return kWordBytes; }, {.contents = plan::zeros});
  const plan::Function& sum = on_words(*problem, d, "scan_sums", contexts);
  const plan::Function& write =
      on_words(*problem, d, options.exclusive ? "scan_exclusive" : "scan_inclusive", contexts);
  const plan::Function& one = on_words(*problem, d, "scan_sums", 1);
  // Adds `count` words into one of the tile's words.
  const auto add = [=, &one](Calls& calls, std::uint64_t count, BufferId of, Word into) {
    calls.add(one, {count}, {{words, into}, {words}, {of}, {y}});
  };
  d.compute("sums", tiles, [=, &sum](Tile tile, Calls& calls) {
    calls.add(sum, {elements(tile)}, {{sums}, {words}, {x}, {y}});
    add(calls, contexts, sums, own);
  });
  // Gathers the sums of the tiles before a tile in its group, then those of the groups before its
  // group.
  const auto gather = [&](const char* name, auto count, auto from, Word source, Word into) {
    const BufferId received = array(name, [=](Tile tile) { return kBytes * count(tile); });
    d.exchange(name, tiles, [=](Tile tile, Pulls& pulls) {
      for (std::uint32_t i = 0; i < count(tile); ++i)
        pulls.push_back(
            {{received, word(i * kBytes)}, from(tile, i), {words, source}, word(kBytes)});
    });
    d.compute(name, tiles, [=](Tile tile, Calls& calls) {
      if (count(tile) > 0) add(calls, count(tile), received, into);
      if (source == own && tile % each + 1 == each) add(calls, 2, words, group);
    });
  };
  if (each > 1)
    gather(
        "in groups", [=](Tile tile) { return tile % each; },
        [=](Tile tile, std::uint32_t i) { return tile / each * each + i; }, own, before);
  if (tiles > each)
    gather(
        "among groups", [=](Tile tile) { return tile / each; },
        [=](Tile /*tile*/, std::uint32_t i) { return i * each + each - 1; }, each > 1 ? group : own,
        groups_before);
  d.compute("running sums", tiles, [=, &write](Tile tile, Calls& calls) {
    calls.add(write, {elements(tile)}, {{sums}, {words}, {x}, {y}});
  });
  // Representative tiles: the fullest, the last of a group, the first of the last group, the last
  // of the group before it, the last of all.
  const Tile last = (tiles - 1) / each * each;
  return {std::move(d), {0, std::min(each, tiles) - 1, last, last > 0 ? last - 1 : 0, tiles - 1}};
}

/// Adds every number of tiles up to 8, then in steps of an eighth up to all; for each the smallest
/// group size per number of groups, and the next even one: pairs of tiles share received data.
/// Bounds: exchanges, and calls of the fullest tile.
void add_plans(const std::shared_ptr<const Problem>& problem, kernels::Plans<Plan>& plans) {
  const plan::Function& one = on_words(*problem, plans.shell(), "scan_sums", 1);
  const plan::Function& sum = on_words(*problem, plans.shell(), "scan_sums", problem->contexts());
  const auto add = [&](Tile each, Tile tiles) {
    const auto gather = [&](std::uint64_t received) {
      return received == 0
                 ? 0
                 : plans.superstep({0, received * kBytes, 0, tiles}) + plans.call(one, {received});
    };
    const std::uint64_t elements = ceil_div(problem->options.elements, std::uint64_t{tiles});
    plans.add({each, tiles},
              gather(each - 1) + gather((tiles - 1) / each) + plans.call(sum, {elements}));
  };
  for (Tile tiles = problem->most_tiles(); tiles > 0; tiles -= ceil_div(tiles, 8U)) {
    for (Tile each = 1; each <= tiles;) {
      add(each, tiles);
      if (each % 2 == 1 && each < tiles) add(each + 1, tiles);
      const Tile groups = (tiles - 1) / each;
      each = groups == 0 ? tiles + 1 : (tiles - 1) / groups + 1;
    }
  }
}

void complete(const Problem& problem, Plan& plan) {
  const Tile most = problem.most_tiles();
  if (plan.tiles == 0) plan.tiles = most;
  kernels::require_parts("tiles", plan.tiles, most, "tiles that can have elements");
  kernels::require_parts("group", plan.group, plan.tiles, "tiles that have elements");
}

std::uint64_t least_bytes(const Problem& problem, const Plan& plan) {
  return 2 * kBytes * problem.options.elements / plan.tiles;
}

std::string text(const Problem& problem) {
  return fmt::format("{} sums of {} {}", problem.options.exclusive ? "exclusive" : "inclusive",
                     problem.options.elements, problem.type());
}

WorkloadSummary summary(const Problem& problem, const Plan& /*plan*/) {
  const std::uint64_t elements = problem.options.elements;
  return {.peak_type = problem.integer() ? "bytes" : "f32",
          .useful_flops = problem.integer() ? 0 : elements,
          .useful_integer_operations = problem.integer() ? elements : 0,
          .useful_bytes = 2 * kBytes * elements};
}

/// Error bound of an f32 sum: u times the sum of magnitudes for each addition on the longest path,
/// through a worker's part, workers, tiles of a group and groups. Integers are exact, modulo 2^32.
CheckResult checked(const Problem& problem, const Plan& plan, const TensorReader& tensors,
                    HostThreads& threads) {
  const Options& options = problem.options;
  const std::uint64_t additions =
      ceil_div(options.elements, std::uint64_t{plan.tiles} * problem.contexts()) +
      problem.contexts() + plan.group + plan.tiles / plan.group + 2;
  const double each = static_cast<double>(additions) * data::unit_roundoff(program::Type::f32);
  double sum = 0, magnitudes = 0;
  std::uint64_t taken = 0;
  return kernels::compare_all("Y", tensors, threads, [&](std::uint64_t i) -> kernels::Expected {
    for (; taken < (options.exclusive ? i : i + 1); ++taken) {
      sum += problem.x().element(taken);
      magnitudes += std::abs(problem.x().element(taken));
      if (problem.integer())
        sum = static_cast<std::int32_t>(static_cast<std::int64_t>(sum) & UINT32_MAX);
    }
    return {sum, problem.integer() ? 0.5 : each * magnitudes};
  });
}

}  // namespace

Kernel kernel() {
  return kernels::planned_kernel<Problem>("scan", "prefix sums of a vector on all tiles");
}

}  // namespace tessera::scan
