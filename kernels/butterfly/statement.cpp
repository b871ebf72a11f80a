#include "kernels/butterfly/statement.h"

#include <algorithm>
#include <span>
#include <utility>

#include <fmt/format.h>

#include "kernels/stored.h"
#include "sim/data/element.h"

namespace tessera::butterfly {

using Arrays = std::span<const Place>;

Statement::Statement(plan::Description& description, const Geometry& geometry,
                     const MachineConfig& machine, const Codes& codes, const Operands* operands)
    : description_(description),
      geometry_(geometry),
      machine_tiles_(machine.tiles),
      contexts_(machine.tile.contexts),
      codes_(codes),
      operands_(operands),
      functions_(codes.butterfly, description, geometry.problem, contexts_,
                 geometry.plan.workers_n),
      dense_(codes.gemm, description, contexts_) {}

BufferId Statement::array(std::string_view name, const Bytes& bytes, bool keep, Contents contents) {
  return description_.array({.name = name,
                             .bytes = bytes,
                             .keep = keep,
                             .contents = std::move(contents),
                             .tiles = geometry_.tiles()});
}

// In layout blocked arrays of all rounds and tiles have the largest one's size: all tiles then have
// the same SRAM layout.

BufferId Statement::empty_rows(std::string_view name, bool keep, std::uint32_t times) {
  return array(
      name,
      [first = geometry_.round(0), times, all_alike = blocked()](Tile tile) {
        return times * first.bytes(all_alike ? 0 : tile);
      },
      keep);
}

BufferId Statement::stored(
    const EvenStorage& storage, std::uint64_t each, std::string_view name,
    const std::function<void(std::uint64_t first, std::span<std::byte>)>& fill) {
  return description_.array(
      {name,
       [storage, each](Tile tile) -> std::uint64_t { return tile < storage.tiles() ? each : 0; },
       false,
       [storage, fill, its = operands_](Tile tile, std::span<std::byte> into) {
         if (its != nullptr) fill(storage.begin(tile), into.first(storage.bytes_on(tile)));
       }});
}

std::uint64_t Statement::row_bytes() const {
  return StoredRows(geometry_.round(0), machine_tiles_).storage().each();
}

BufferId Statement::given_rows(Values values, std::string_view name, const Rows& rows, bool keep) {
  if (!blocked()) {
    return array(
        name, [g = geometry_](Tile tile) { return g.bytes(tile); }, keep,
        [g = geometry_, rows, values, its = operands_](Tile tile, std::span<std::byte> into) {
          if (its == nullptr) return;
          std::fill(into.begin(), into.end(), std::byte{});
          g.for_values(tile, rows, [&](std::uint64_t feature, std::uint64_t column, auto at) {
            data::store_element(g.problem.type(), into, at,
                                (its->*values).element(feature, column));
          });
        });
  }
  const StoredRows from(geometry_, machine_tiles_);
  const BufferId store = stored(
      from.storage(), row_bytes(), name,
      [from, values, its = operands_](auto first, auto to) { from.fill(its->*values, first, to); });
  const BufferId array = empty_rows(name);
  inputs_.push_back([from, rows, store, array](Tile tile, Pulls& pulls) {
    for (const StoredRows::Line& line : from.lines_of(tile, rows))
      kernels::pull(pulls, {array, word(line.at)}, from.storage(), store, line.begin, line.end);
  });
  return array;
}

BufferId Statement::twiddles(const RowPass& pass, std::uint64_t bytes, const Groups& fill) {
  const auto each = [bytes](Tile /*tile*/) { return bytes; };
  // Twiddles that only one tile uses are stored on it, as weights are in other products.
  if (!blocked() || geometry_.plan.split_n == 1) {
    return array("twiddles", each, false,
                 [fill, g = geometry_, groups = pass.groups(), its = operands_](
                     Tile tile, std::span<std::byte> into) {
                   if (its != nullptr) fill(g.feature_part(tile), {0, groups}, into);
                 });
  }
  const BufferId array = this->array("twiddles", each);
  const StoredTwiddles from(geometry_, pass, bytes, machine_tiles_);
  const BufferId store =
      stored(from.storage, from.storage.each(), "twiddles",
             [fill, from](auto first, auto into) { from.fill(fill, first, into); });
  inputs_.push_back([from, store, array, g = geometry_](Tile tile, Pulls& pulls) {
    const std::uint64_t begin = g.feature_part(tile) * from.part_bytes;
    kernels::pull(pulls, {array}, from.storage, store, begin, begin + from.part_bytes);
  });
  return array;
}

void Statement::add_inputs() {
  if (inputs_.empty()) return;
  add_exchange(
      "inputs", machine_tiles_,
      [all = std::exchange(inputs_, {}), tiles = geometry_.tiles()](Tile tile, Pulls& pulls) {
        if (tile >= tiles) return;
        for (const PullsOf& each : all) each(tile, pulls);
      });
}

void Statement::add_results() {
  for (std::uint32_t round = 0; round < geometry_.plan.rounds && blocked(); ++round) {
    const StoredRows to(geometry_.round(round), machine_tiles_);
    results_.push_back(description_.array(
        {"y",
         [storage = to.storage(), each = row_bytes()](Tile tile) -> std::uint64_t {
           return tile < storage.tiles() ? each : 0;
         },
         true}));
  }
}

void Statement::finish_rows(BufferId array, const Rows& rows) {
  if (!blocked()) return description_.tensor(result_in_rows(geometry_, rows, array));
  const StoredRows to(geometry_, machine_tiles_);
  const BufferId result = results_[geometry_.number];
  add_exchange(
      "results", machine_tiles_,
      [to, rows, array, result](Tile tile, Pulls& pulls) {
        for (const StoredRows::Part& part : to.parts_on(tile, rows))
          pulls.push_back(
              {{result, word(part.at)}, part.tile, {array, word(part.begin)}, word(part.bytes)});
      },
      [g = geometry_](Tile tile) { return tile < g.tiles() ? g.bytes(tile) : 0; });
  description_.tensor(result_in_store(geometry_, to, result));
}

void Statement::add_exchange(std::string name, Tile tiles, PullsOf pulls, Bytes sends) {
  finish();
  description_.exchange(std::move(name), tiles, std::move(pulls), std::move(sends));
}

/// Each tile pulls, block by block, the rows of its new feature part.
void Statement::add_swap(const RowPass& pass, const std::vector<BufferId>& arrays) {
  if (!pass.before) return;
  add_exchange("swap", geometry_.tiles(),
               [g = geometry_, swap = *pass.before, arrays](Tile tile, Pulls& pulls) {
                 const std::uint32_t ways = 1U << swap.bits;
                 const std::uint32_t block = word(g.bytes(tile) >> swap.bits);
                 const std::uint32_t own = tile >> swap.tile_place & (ways - 1);
                 for (const BufferId array : arrays)
                   for (std::uint32_t way = 0; way < ways; ++way)
                     if (way != own)
                       pulls.push_back({{array, way * block},
                                        tile ^ (own ^ way) << swap.tile_place,
                                        {array, own * block},
                                        block});
               });
}

void Statement::add_shares(const std::vector<Shares>& sums, std::uint64_t least) {
  const std::uint32_t others = geometry_.plan.split_n - 1;
  if (others == 0) return;
  std::vector<BufferId> received;
  received.reserve(sums.size());
  for (const Shares& sum : sums)
    received.push_back(array("received", [share = sum.share, others, least](Tile tile) {
      return std::max(share(tile).size() * others, least);
    }));
  add_exchange("shares", geometry_.tiles(),
               [g = geometry_, sums, received](Tile tile, Pulls& pulls) {
                 for (std::size_t i = 0; i < sums.size(); ++i) {
                   const Interval share = sums[i].share(tile);
                   std::uint64_t at = 0;
                   g.for_alike(tile, [&](Tile from) {
                     if (from == tile || share.size() == 0) return;
                     pulls.push_back({{received[i], word(at)},
                                      from,
                                      {sums[i].all, word(share.begin)},
                                      word(share.size())});
                     at += share.size();
                   });
                 }
               });
  for (std::size_t i = 0; i < sums.size(); ++i)
    add([&adding = dense_.adding(program::Type::f32), others, sum = sums[i],
         received = received[i]](Tile tile, Calls& calls) {
      const Interval share = sum.share(tile);
      if (share.size() == 0) return;
      const Place mine{sum.all, word(share.begin)};
      calls.add(adding, {share.size() / gemm::kPair, others},
                {mine, {received}, sum.result == sum.all ? mine : Place{sum.result}});
    });
}

CallsOf unit_calls(const Geometry& geometry, const plan::Function& code, Place first, BufferId in,
                   BufferId out) {
  return [geometry, &code, first, in, out](Tile tile, Calls& calls) {
    calls.add(code, {geometry.units(tile).size()}, {first, {in}, {out}});
  };
}

CallsOf part_calls(const GradientLayout& layout, const Geometry& geometry,
                   const plan::Function& adding, BufferId sums, BufferId to) {
  return [geometry, &adding, bytes = layout.bytes(), sums, to](Tile tile, Calls& calls) {
    if (const std::uint32_t arrays = geometry.arrays(tile); arrays > 1)
      calls.add(adding, {bytes / gemm::kPair, arrays - 1}, {{sums}, {sums, word(bytes)}, {to}});
  };
}

CallsOf angle_calls(const GradientLayout& layout, const plan::Function& angles, BufferId sums,
                    BufferId turns, BufferId to) {
  return [layout, &angles, sums, turns, to](Tile tile, Calls& calls) {
    const Interval share = layout.share(tile);
    if (share.size() > 0)
      calls.add(angles, {share.size() / layout.pair_bytes()},
                {{sums, word(share.begin)}, {turns}, {to}});
  };
}

void Statement::finish(std::string name) {
  if (set_.empty()) return;
  description_.compute(std::move(name), geometry_.tiles(),
                       [all = std::exchange(set_, {})](Tile tile, Calls& calls) {
                         for (const CallsOf& each : all) each(tile, calls);
                       });
}

namespace {

/// Adds the steps of pass forward or grad_input, round after round.
class Rounds {
 public:
  explicit Rounds(Statement& statement)
      : statement_(statement), factors_(make_factors(statement)) {}

  void state() {
    const auto [problem, plan, number] = statement_.geometry();
    const bool adjoint = problem.pass == Pass::grad_input;
    const std::vector<RowPass> passes = schedule(problem, plan.split_features, plan.fused, adjoint);
    std::vector<BufferId> twiddles;  // by pass
    statement_.add_results();
    for (std::uint32_t round = 0; round < plan.rounds; ++round) {
      statement_.begin_round(round);
      add_rows(passes);
      for (const RowPass& pass : passes)
        if (round == 0) twiddles.push_back(factors_->twiddles(pass, adjoint));
      statement_.add_inputs();
      for (std::size_t i = 0; i < passes.size(); ++i) {
        statement_.add_swap(passes[i], {x_});
        factors_->apply(passes[i], twiddles[i], x_, factors_->in_place() ? x_ : y_);
        if (!factors_->in_place()) std::swap(x_, y_);
      }
      statement_.finish_rows(x_, passes.back().rows);
    }
  }

 private:
  /// Adds the arrays of rows; in layout planned the array that the last factor writes is kept.
  void add_rows(const std::vector<RowPass>& passes) {
    const bool planned = statement_.geometry().problem.layout == Layout::planned;
    const bool turns = planned && !factors_->in_place() && passes.size() % 2 == 1;
    if (turns) y_ = statement_.empty_rows("x", true);
    x_ = statement_.given_rows(&Operands::x, "x", passes.front().rows, planned && !turns);
    if (!turns && !factors_->in_place()) y_ = statement_.empty_rows("x");
    factors_->begin_round();
  }

  Statement& statement_;
  std::unique_ptr<Factors> factors_;
  BufferId x_{}, y_{};  ///< array that holds the rows, array that a factor writes
};

/// Nearly all tiles of a plan have the same number of units: its cost is measured, not fitted.
constexpr FittedCost::Axis kMeasured = FittedCost::Axis::measured();

}  // namespace

plan::Description describe_program(const Geometry& geometry, const MachineConfig& machine,
                                   const Codes& codes, const Operands* operands) {
  plan::Description description(machine.tiles);
  Statement statement(description, geometry, machine, codes, operands);
  if (geometry.problem.pass == Pass::grad_twiddles)
    state_gradient(statement);
  else
    Rounds(statement).state();
  statement.finish();
  return description;
}

std::vector<Tile> representatives(const Geometry& geometry) {
  const bool odd = geometry.plan.split_features == 1 && geometry.plan.split_n % 2 == 1;
  if (odd && geometry.tiles() > 1 && geometry.problem.layout == Layout::blocked)
    return {0, geometry.tiles() - 1};
  return {0};
}

std::string Functions::number_name() const {
  if (problem_.complex_code()) return "complex";
  return std::string(
      config::name_of(kNumbers, problem_.is_complex() ? Number::f32 : problem_.dtype));
}

/// Divides groups and runs of units among workers.
const plan::Function& Functions::of_rows(const std::string& what, const std::string& codelet,
                                         const RowPass& pass, const FirstOperand& first) {
  const auto vertex = [code = this->codelet(codelet), p = problem_, workers_n = workers_n_, pass,
                       first](const Sizes& sizes, Arrays at) {
    const std::uint64_t row = sizes[0] * p.unit_bytes();
    const std::uint32_t unit = p.step_bytes();
    const std::uint32_t low = std::min(pass.first_place(p), pass.last_place(p));
    const std::uint32_t between = 1U << low;
    const std::uint32_t jump = ((1U << pass.stages.size()) - 1) << low;
    kernels::Arguments arguments{Place{at[1].buffer},
                                 Place{at[2].buffer},
                                 word(row << pass.first_place(p)),
                                 word(row << pass.last_place(p)),
                                 between,
                                 word(row * jump),
                                 word(row),
                                 0U};
    const EvenSplit runs{row / unit, workers_n};
    const EvenSplit groups{pass.groups(), code.contexts / workers_n};
    for (std::uint32_t w = 0; w < code.contexts; ++w) {
      const std::uint32_t part = w % workers_n;
      const Interval run = runs.part(part);
      const Interval mine = groups.part(w / workers_n);
      const bool idle = mine.size() == 0 || run.size() == 0;
      const std::uint32_t group = idle ? 0 : word(mine.begin);
      arguments.insert(
          arguments.end(),
          {word(pass.first_row(p, group) * row + (idle ? 0 : run.begin * unit)),
           kernels::behind(at[0], idle ? 0 : group * first.group_bytes + part * first.array_bytes),
           idle ? 0U : word(mine.size()), word(run.size()) - 1, between - group % between, 0U, 0U,
           0U});
    }
    return code.all(std::move(arguments));
  };
  return description_.function(
      {fmt::format("butterfly {} {} {} {} of {} rows, bits {} to {}, by {}, array of {}", what,
                   config::name_of(kNumbers, problem_.dtype),
                   config::name_of(kParameters, problem_.parameters), pass.stages.size(),
                   pass.rows.count(), pass.first_place(problem_), pass.last_place(problem_),
                   workers_n_, first.array_bytes),
       {kMeasured},
       vertex,
       [bytes = first.bytes, row = pass.rows.count() * problem_.unit_bytes()](
           const Sizes& sizes) -> std::vector<std::uint64_t> {
         return {bytes, row * sizes[0], row * sizes[0]};
       }});
}

const plan::Function& Functions::pass(const RowPass& pass, bool adjoint) {
  const std::uint64_t bytes = twiddle_bytes(problem_, pass);
  return of_rows(adjoint ? "adjoint pass" : "pass",
                 fmt::format("butterfly_{}_{}_{}{}", number_name(),
                             config::name_of(kParameters, problem_.parameters),
                             adjoint ? "adjoint_" : "", pass.stages.size()),
                 pass, {bytes, bytes / pass.groups(), 0});
}

const plan::Function& Functions::products(const RowPass& pass, std::uint64_t array_bytes) {
  return of_rows("products", "butterfly_products_" + number_name(), pass,
                 {array_bytes * workers_n_, problem_.complex_code() ? 32U : 16U, array_bytes});
}

const plan::Function& Functions::angles() {
  return description_.function(
      {"butterfly angles",
       {kMeasured},
       [code = codelet("butterfly_angles")](const Sizes& sizes, Arrays at) {
         return code.all_over({at[0], Place{at[1].buffer}, Place{at[2].buffer}, 0U}, sizes[0], 1);
       },
       [](const Sizes& sizes) -> std::vector<std::uint64_t> {
         return {16 * sizes[0], 8 * sizes[0], 4 * sizes[0]};
       }});
}

}  // namespace tessera::butterfly
