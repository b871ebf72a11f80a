#include "kernels/scan/scan.h"

#include <bit>
#include <cmath>
#include <cstring>

#include <fmt/format.h>

#include "kernels/check/comparison.h"
#include "kernels/codelet.h"
#include "sim/base/counted.h"
#include "sim/config/writers.h"
#include "sim/data/element.h"
#include "sim/data/random.h"
#include "sim/plan/lower.h"

namespace tessera::scan {

using kernels::EvenSplit;
using kernels::Interval;
using plan::Sizes;
using plan::Tile;
using program::BufferId;
using program::Place;

namespace {

constexpr std::uint64_t kBytes = 4;
constexpr config::Names<program::Type, 2> kTypes{
    {{"i32", program::Type::i32}, {"f32", program::Type::f32}}};

/// Words that each tile keeps: what the tiles of its group before it have, what it has itself, what
/// the groups before its own have, and of a group's last tile what the group has.
enum Word : std::uint32_t { before, own, groups_before, group, kWords };
Place word_of(BufferId words, Word which) { return {words, word(which * kBytes)}; }

using Operands = std::span<const Place>;

class Functions {
 public:
  Functions(std::shared_ptr<const Problem> problem, plan::Description& description)
      : problem_(std::move(problem)), description_(description) {}

  /// Of elements of a tile. Operands: sums of the workers, the tile's words, x, y.
  const plan::Function& on_elements(const std::string& name) {
    const std::uint32_t contexts = problem_->contexts;
    const kernels::Codelet codelet = codelet_of(name);
    plan::Function function{name, {{contexts, std::uint64_t{8} * contexts, 32}}, {}, {}};
    function.vertex = [=](const Sizes& sizes, Operands operands) {
      kernels::Arguments arguments{operands[0], operands[1]};
      for (std::uint32_t w = 0; w < contexts; ++w) {
        const Interval part = EvenSplit{sizes[0], contexts}.part(w);
        for (const Place& array : operands.last(2))
          arguments.emplace_back(Place{array.buffer, array.offset + word(part.begin * kBytes)});
        arguments.insert(arguments.end(), {word(part.size()), 0U});
      }
      return codelet.all(std::move(arguments));
    };
    function.operand_bytes = [=](const Sizes& sizes) -> std::vector<std::uint64_t> {
      return {contexts * kBytes, kWords * kBytes, sizes[0] * kBytes, sizes[0] * kBytes};
    };
    return description_.function(std::move(function));
  }

  /// Of a number of words. Operands: these, their sum.
  const plan::Function& add() {
    plan::Function function{"scan_add", {{1, 8, 32}}, {}, {}};
    function.vertex = [codelet = codelet_of("scan_add")](const Sizes& sizes, Operands operands) {
      return codelet.one({operands[0], word(sizes[0]), operands[1]});
    };
    function.operand_bytes = [](const Sizes& sizes) -> std::vector<std::uint64_t> {
      return {sizes[0] * kBytes, kBytes};
    };
    return description_.function(std::move(function));
  }

 private:
  kernels::Codelet codelet_of(const std::string& name) {
    return kernels::Codelet::of(
        problem_->code, description_,
        fmt::format("{}_{}", name, config::name_of(kTypes, problem_->options.dtype)),
        problem_->contexts);
  }

  std::shared_ptr<const Problem> problem_;
  plan::Description& description_;
};

plan::Description describe_program(const std::shared_ptr<const Problem>& problem,
                                   const Plan& plan) {
  const Tile tiles = plan.tiles, each = plan.group;
  const EvenSplit split{problem->options.elements, tiles};
  plan::Description d(problem->machine_tiles);
  const auto array = [&](std::string_view name, auto words, bool keep = false,
                         decltype(plan::Array::contents) contents = {}) {
    const auto bytes = [=](Tile tile) -> std::uint64_t {
      return tile < tiles ? kBytes * words(tile) : 0;
    };
    return d.array({name, bytes, keep, std::move(contents)});
  };
  const auto elements = [=](Tile tile) { return split.part(tile).size(); };
  const BufferId x =
      array("x", elements, false, [problem, split](Tile tile, std::span<std::byte> into) {
        for (std::uint64_t i = 0; i < into.size() / kBytes; ++i) {
          const std::uint32_t bits = problem->element(split.begin(tile) + i);
          std::memcpy(&into[i * kBytes], &bits, kBytes);
        }
      });
  const BufferId y = array("y", elements, true);
  const BufferId sums = array("sums", [=](Tile /*tile*/) { return problem->contexts; });
  const auto zeros = [](Tile /*tile*/, std::span<std::byte> into) {
    std::fill(into.begin(), into.end(), std::byte{});
  };
  const BufferId words = array(
      "words", [](Tile /*tile*/) { return std::uint32_t{kWords}; }, false, zeros);
  Functions functions(problem, d);
  const plan::Function& sum = functions.on_elements("scan_sums");
  const plan::Function& write =
      functions.on_elements(problem->options.exclusive ? "scan_exclusive" : "scan_inclusive");
  const plan::Function& add = functions.add();

  d.compute("sums", tiles, [=, &sum, &add](Tile tile, plan::Calls& calls) {
    calls.add(sum, {elements(tile)}, {{sums}, {words}, {x}, {y}});
    calls.add(add, {problem->contexts}, {{sums}, word_of(words, own)});
  });
  // What comes before a tile in its group, and what comes before its group.
  const auto gather = [&](const char* name, auto count, auto from, Word source, Word into) {
    const BufferId received = array(name, count);
    d.exchange(name, tiles, [=](Tile tile, plan::Pulls& pulls) {
      for (std::uint32_t i = 0; i < count(tile); ++i)
        pulls.push_back(
            {{received, word(i * kBytes)}, from(tile, i), word_of(words, source), word(kBytes)});
    });
    d.compute(name, tiles, [=, &add](Tile tile, plan::Calls& calls) {
      if (count(tile) > 0) calls.add(add, {count(tile)}, {{received}, word_of(words, into)});
      if (source == own && tile % each + 1 == each)
        calls.add(add, {2}, {{words}, word_of(words, group)});
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
  d.compute("running sums", tiles, [=, &write](Tile tile, plan::Calls& calls) {
    calls.add(write, {elements(tile)}, {{sums}, {words}, {x}, {y}});
  });

  d.tensor({{"Y", program::Role::result, problem->options.dtype, {problem->options.elements}},
            y,
            [=](Tile tile, program::Runs& runs) {
              runs.add({0, split.begin(tile), elements(tile), 1});
            }});
  program::Tensor given{
      "x", program::Role::input, problem->options.dtype, {problem->options.elements}};
  given.given = [problem](std::uint64_t first, std::span<std::byte> into) {
    for (std::uint64_t i = 0; i < into.size() / kBytes; ++i) {
      const std::uint32_t bits = problem->element(first + i);
      std::memcpy(&into[i * kBytes], &bits, kBytes);
    }
  };
  d.tensor(given);
  return d;
}

/// The fullest, the last of a group, one of the last group, the last of all.
std::vector<Tile> stand_for_all(const Plan& plan) {
  const Tile last = (plan.tiles - 1) / plan.group * plan.group;
  return {0, std::min(plan.group, plan.tiles) - 1, last, last > 0 ? last - 1 : 0, plan.tiles - 1};
}

/// Every number of tiles up to 8, and from one to the next an eighth more, up to all; of each the
/// groups that differ in how many groups there are, of the least and of an even size: pairs of
/// tiles share what they receive.
std::vector<Plan> candidates(Tile most) {
  std::vector<Plan> plans;
  for (Tile tiles = most; tiles > 0; tiles -= ceil_div(tiles, 8U)) {
    for (Tile each = 1; each <= tiles;) {
      plans.push_back({each, tiles});
      if (each % 2 == 1 && each < tiles) plans.push_back({each + 1, tiles});
      const Tile groups = (tiles - 1) / each;
      each = groups == 0 ? tiles + 1 : (tiles - 1) / groups + 1;
    }
  }
  return plans;
}

/// Cycles that no program of these plans beats: exchanges, and calls of the fullest tile.
std::vector<std::uint64_t> bounds_of(const std::vector<Plan>& plans,
                                     const std::shared_ptr<const Problem>& problem,
                                     plan::Pricing& pricing) {
  const MachineCosts& costs = pricing.costs();
  plan::Description shell(1);
  Functions functions(problem, shell);
  const plan::Function& add = functions.add();
  const plan::Function& sum = functions.on_elements("scan_sums");
  const auto takes = [&](std::uint64_t received, Tile tiles) -> std::uint64_t {
    if (received == 0) return 0;
    return costs.barrier() + costs.exchange({0, received * kBytes, 0, tiles}) +
           pricing.call(shell, add, {received});
  };
  std::vector<std::uint64_t> bounds;
  bounds.reserve(plans.size());
  for (const auto& [each, tiles] : plans)
    bounds.push_back(
        takes(each - 1, tiles) + takes((tiles - 1) / each, tiles) +
        pricing.call(shell, sum, {ceil_div(problem->options.elements, std::uint64_t{tiles})}));
  return bounds;
}

std::pair<Plan, Prediction> priced(const std::shared_ptr<const Problem>& problem, Plan pinned,
                                   plan::Pricing& pricing) {
  const Tile most = problem->most_tiles();
  if (pinned.tiles == 0) pinned.tiles = most;
  const auto allow = [](const char* key, Tile found, Tile allowed, const char* which) {
    if (found > allowed)
      throw KeyError(key, fmt::format("found {}, allowed 1 to {} (tiles that {} elements)", found,
                                      allowed, which));
  };
  allow("workload.plan.tiles", pinned.tiles, most, "can have");
  allow("workload.plan.group", pinned.group, pinned.tiles, "have");
  const plan::Found found =
      plan::priced({describe_program(problem, pinned), stand_for_all(pinned)}, true, pricing);
  return {pinned, found.prediction};
}

/// The plan of least predicted cycles; a pinned one as it is.
std::pair<Plan, Prediction> planned(const std::shared_ptr<const Problem>& problem,
                                    MachineCosts& costs) {
  plan::Pricing pricing(costs);
  if (const auto& pinned = problem->options.plan) return priced(problem, *pinned, pricing);
  const std::vector<Plan> plans = candidates(problem->most_tiles());
  plan::Space space;
  space.bounds = bounds_of(plans, problem, pricing);
  space.least_bytes = [&](std::size_t option) {
    return 2 * kBytes * problem->options.elements / plans[option].tiles;
  };
  space.describe = [&](std::size_t option, std::uint32_t /*variant*/) {
    return plan::Described(describe_program(problem, plans[option]), stand_for_all(plans[option]));
  };
  const plan::Found found = plan::search(space, pricing);
  const Plan& best = plans[found.option];
  if (!found.fits)
    throw UserError(program::overflow_message(
        fmt::format("no plan of scan for elements={} fits {}; of the closest, group {}",
                    problem->options.elements, counted(problem->machine_tiles, "tile"), best.group),
        {&found.memory, 1}, costs.machine()));
  return {best, found.prediction};
}

}  // namespace

void describe(config::Fields& fields, Plan& plan) {
  fields.field({"group", "tiles side by side that tell each other their sums, before groups do"},
               plan.group, {1, 1U << 24});
  fields.field({"tiles", "tiles that have elements; 0: as many as there are"}, plan.tiles,
               {0, 1U << 24});
}

void describe(config::Fields& fields, Options& options) {
  fields.field({"elements", "of the vector"}, options.elements, {1, std::uint64_t{1} << 40});
  fields.field({"dtype", "i32: sums modulo 2^32; f32"}, options.dtype, kTypes);
  fields.field({"exclusive", "whether a sum is that of the elements before, without its own"},
               options.exclusive);
  fields.field({"seed", "of the values"}, options.seed);
  fields.optional_group({"plan", "a pinned plan; the planner searches one if not given"},
                        options.plan);
}

std::uint32_t Problem::element(std::uint64_t at) const {
  if (options.dtype == program::Type::i32)
    return static_cast<std::uint32_t>(data::random_bits(options.seed, 0, at));
  return std::bit_cast<std::uint32_t>(data::random_signed(options.seed, 0, at, 23));
}

Scan::Scan(const Options& options, MachineCosts& costs)
    : problem_(std::make_shared<const Problem>(
          Problem{options, costs.machine().tile.contexts, costs.machine().tiles})) {
  auto [plan, prediction] = planned(problem_, costs);
  plan_ = plan;
  const bool integer = options.dtype == program::Type::i32;
  summarise({.problem = fmt::format("{}, {} {}", options.exclusive ? "exclusive" : "inclusive",
                                    options.elements, config::name_of(kTypes, options.dtype)),
             .peak_type = integer ? "bytes" : "f32",
             .plan = config::resolved(plan_),
             .prediction = prediction,
             .useful_flops = integer ? 0 : options.elements,
             .useful_integer_operations = integer ? options.elements : 0,
             .useful_bytes = 2 * kBytes * options.elements});
}

program::Program Scan::lowered() const { return plan::lower(describe_program(problem_, plan_)); }

/// A sum of f32 may be off by u of the sum of magnitudes for each addition on its longest path: in
/// a worker's part, over workers, tiles of a group and groups. Integers are exact.
CheckResult Scan::check(const TensorReader& tensors, const CheckRequest& request) const {
  const Options& options = problem_->options;
  HostThreads threads(request.threads);
  const std::uint64_t additions = ceil_div(EvenSplit{options.elements, plan_.tiles}.largest(),
                                           std::uint64_t{problem_->contexts}) +
                                  problem_->contexts + plan_.group + plan_.tiles / plan_.group + 2;
  kernels::Comparison comparison({"Y", program::Type::f32, program::Type::f32});
  std::uint32_t bits = 0;
  double sum = 0, magnitudes = 0;
  const auto next = [&](std::uint64_t i) {
    const std::uint32_t element = problem_->element(i);
    bits += element;
    const double value = static_cast<double>(std::bit_cast<float>(element));
    sum += value;
    magnitudes += std::abs(value);
  };
  const bool integer = options.dtype == program::Type::i32;
  const std::vector<std::byte> all = tensors.bytes("Y", threads);
  for (std::uint64_t i = 0; i < options.elements; ++i) {
    if (!options.exclusive) next(i);
    std::uint32_t found = 0;
    std::memcpy(&found, &all[i * kBytes], kBytes);
    if (integer)
      comparison.add({0, i, static_cast<double>(found), static_cast<double>(bits), 0.5});
    else
      comparison.add(
          {0, i, static_cast<double>(std::bit_cast<float>(found)), sum,
           static_cast<double>(additions) * data::unit_roundoff(program::Type::f32) * magnitudes});
    if (options.exclusive) next(i);
  }
  return comparison.result("full");
}

}  // namespace tessera::scan
