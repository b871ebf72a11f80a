#include <algorithm>
#include <cmath>
#include <cstring>
#include <numbers>

#include "kernels/fft/fft.h"
#include "kernels/stored.h"
#include "sim/data/element.h"

namespace tessera::fft {

namespace {

using plan::Tile;

void store_point(std::span<std::byte> into, std::uint64_t byte, double real, double imaginary) {
  data::store_element(kType, into, byte / kRealBytes, real);
  data::store_element(kType, into, byte / kRealBytes + 2, imaginary);
}

/// Adds point `number`: its real part is at `byte`, its imaginary part two f32 further.
void add_point(std::uint64_t byte, std::uint64_t number, program::Runs& runs) {
  runs.add(byte / kRealBytes, 2 * number);
  runs.add(byte / kRealBytes + 2, 2 * number + 1);
}

/// Byte offset of point `at` in a stretch of points in order.
constexpr std::uint64_t in_stretch(std::uint64_t at) {
  return at / kUnitPoints * kUnitBytes + at % kUnitPoints * kRealBytes;
}

/// State that the functions of steps share and keep alive.
struct Transform {
  [[nodiscard]] double sign() const { return digits.problem().sign(); }
  [[nodiscard]] std::uint64_t points_on(Tile tile) const {
    return stretches.bytes_on(tile) / kPointBytes;
  }
  void store(std::span<std::byte> into, std::uint64_t byte, std::uint64_t number) const {
    const Complex value = subject->point(number);
    store_point(into, byte, value.real(), value.imag());
  }

  std::shared_ptr<const Subject> subject;
  Digits digits;
  EvenStorage stretches;  ///< layout natural: points in their order on all tiles
  Vertices vertices;
};

class Statement {
 public:
  Statement(const std::shared_ptr<const Subject>& subject, const Plan& plan,
            plan::Description& description)
      : subject_(*subject),
        description_(description),
        functions_(subject->code, description, subject->machine.tile.contexts),
        transform_(std::make_shared<const Transform>(
            Transform{subject,
                      {subject->problem(), plan},
                      {subject->problem().total() * kPointBytes, kUnitBytes, all_tiles()},
                      functions_.vertices()})) {}

  void state() {
    add_arrays();
    if (natural()) add_inputs();
    const std::uint32_t first = digits().first_phase();
    for (std::uint32_t phase = first; phase < digits().phases(); ++phase) {
      for (const Pass& pass : passes_of(digits().plan(), phase, first)) add_pass(phase, pass);
      if (phase + 1 < digits().phases()) add_swap(phase);
    }
    if (natural()) add_results();
    end_set();
  }

 private:
  using Calling = std::function<void(Tile, Calls&)>;
  using PairsOf = std::function<RowPairs(const Digits&, Tile)>;
  using Contents = std::function<void(Tile, std::span<std::byte>)>;

  [[nodiscard]] const Digits& digits() const { return transform_->digits; }
  [[nodiscard]] bool natural() const { return digits().problem().layout == Layout::natural; }
  [[nodiscard]] Tile all_tiles() const { return subject_.machine.tiles; }

  /// An array on the tiles that transform.
  template <class Bytes>
  BufferId array(std::string_view name, const Bytes& bytes, Contents contents, bool keep = false) {
    return description_.array({name,
                               [t = transform_, bytes](Tile tile) -> std::uint64_t {
                                 return tile < t->digits.tiles() ? bytes(t->digits, tile) : 0;
                               },
                               keep, std::move(contents)});
  }

  /// An array of points in order (layout natural), on all tiles.
  BufferId stretch_array(std::string_view name, Contents contents, bool keep) {
    const auto bytes = [t = transform_](Tile tile) -> std::uint64_t {
      return t->stretches.bytes_on(tile);
    };
    return description_.array({name, bytes, keep, std::move(contents)});
  }

  /// Points move between two arrays; the one they start in is chosen so that the transform ends in
  /// the first, which holds the result.
  void add_arrays() {
    const std::uint64_t rows = digits().problem().all_rows();
    const program::Tensor x{
        "X", program::Role::result, kType, {rows, digits().problem().points, 2}, true};
    if (natural()) {
      result_ = stretch_array("result", {}, true);
      description_.tensor({x, result_, [t = transform_](Tile tile, program::Runs& runs) {
                             const std::uint64_t first = t->stretches.begin(tile) / kPointBytes;
                             for (std::uint64_t i = 0; i < t->points_on(tile); ++i)
                               add_point(in_stretch(i), first + i, runs);
                           }});
    }
    const bool swapped = moves() % 2 == 1;
    const BufferId first = points_array(!swapped, !natural());
    const BufferId second = points_array(swapped, false);
    from_ = swapped ? second : first;
    to_ = swapped ? first : second;
    if (!natural())
      description_.tensor({x, first, [t = transform_](Tile tile, program::Runs& runs) {
                             t->digits.for_points(tile, t->digits.phases() - 1,
                                                  [&](auto values, std::uint64_t byte) {
                                                    add_point(byte, t->digits.output(values), runs);
                                                  });
                           }});
  }

  /// In layout natural as large as the fullest tile's, so that SRAM is laid out as the plan
  /// expects.
  BufferId points_array(bool begins, bool keep) {
    const auto bytes = [fullest = natural()](const Digits& d, Tile tile) {
      return d.most_held(fullest ? 0 : tile) * kPointBytes;
    };
    if (natural() || !begins) return array("points", bytes, {}, keep);
    const auto fill = [t = transform_](Tile tile, std::span<std::byte> into) {
      std::fill(into.begin(), into.end(), std::byte{});
      t->digits.for_points(tile, t->digits.first_phase(), [&](auto values, std::uint64_t byte) {
        t->store(into, byte, t->digits.input(values));
      });
    };
    return array("points", bytes, fill, keep);
  }

  /// How often points move from one array to the other.
  [[nodiscard]] std::size_t moves() const {
    const Plan& plan = digits().plan();
    std::size_t count = plan.radices.size();
    for (std::size_t axis = digits().first_phase(); axis < plan.parts.size(); ++axis)
      count += plan.parts[axis] == 1 ? 1 : 2;
    return count;
  }

  void end_set() {
    if (set_.empty()) return;
    description_.compute("transform", digits().tiles(),
                         [set = std::exchange(set_, {})](Tile tile, Calls& calls) {
                           for (const Calling& call : set) call(tile, calls);
                         });
  }

  /// The division among workers that is best for tile 0; all tiles use it.
  std::uint32_t unit_parts(const plan::Function& function, const Work& work) {
    return subject_.division->best(functions_, function, work).unit_parts;
  }

  void add_pass(std::uint32_t phase, const Pass& pass) {
    BufferId twiddles{};
    if (!pass.first())
      twiddles = array(
          "twiddles",
          [pass](const Digits& /*digits*/, Tile /*tile*/) { return twiddle_bytes(pass); },
          [pass, direction = digits().problem().direction](
              Tile /*tile*/, std::span<std::byte> into) { fill_twiddles(pass, direction, into); });
    const std::uint32_t parts =
        unit_parts(functions_.pass(pass), work_of(pass, digits().columns(0, phase)));
    set_.emplace_back([t = transform_, phase, pass, twiddles, parts, from = from_, to = to_](
                          Tile tile, Calls& calls) {
      calls.add(t->vertices.pass(pass, t->digits.columns(tile, phase),
                                 t->digits.problem().direction, twiddles, from, to, parts));
    });
    std::swap(from_, to_);
  }

  /// The twiddle exp(-+2 pi i e) of every point, in the storage order after a phase.
  BufferId turns_array(std::uint32_t phase) {
    return array(
        "turns", [phase](const Digits& d, Tile tile) { return d.held(tile, phase) * kPointBytes; },
        [t = transform_, phase](Tile tile, std::span<std::byte> into) {
          const std::uint64_t whole = t->digits.turn_whole(phase);
          const double step = t->sign() * 2 * std::numbers::pi / static_cast<double>(whole);
          t->digits.for_points(tile, phase, [&](auto values, std::uint64_t byte) {
            const double angle = step * static_cast<double>(t->digits.turn(phase, values) % whole);
            store_point(into, byte, std::cos(angle), std::sin(angle));
          });
        });
  }

  /// `turned_phase`: also multiplies by the twiddles that follow this phase; null: none.
  void add_transposition(const PairsOf& pairs_of, const std::uint32_t* turned_phase = nullptr) {
    const bool turn = turned_phase != nullptr;
    const BufferId list = array(
        "list",
        [pairs_of](const Digits& d, Tile tile) {
          return pairs_of(d, tile).entries.size() * sizeof(RowPairs::Entry);
        },
        [t = transform_, pairs_of](Tile tile, std::span<std::byte> into) {
          std::memcpy(into.data(), pairs_of(t->digits, tile).entries.data(), into.size());
        });
    const BufferId turns = turn ? turns_array(*turned_phase) : BufferId{};
    const RowPairs first = pairs_of(digits(), 0);
    const std::uint32_t parts = unit_parts(functions_.transposition(turn),
                                           {first.entries.size(), first.columns / kUnitPoints});
    set_.emplace_back([t = transform_, pairs_of, list, turn, turns, parts, from = from_, to = to_](
                          Tile tile, Calls& calls) {
      const RowPairs pairs = pairs_of(t->digits, tile);
      calls.add(t->vertices.transposition(pairs.entries.size(), pairs.columns,
                                          turn ? &turns : nullptr, list, from, to, parts));
    });
    std::swap(from_, to_);
  }

  void add_swap(std::uint32_t phase) {
    add_transposition(
        [phase](const Digits& d, Tile tile) { return pairs_for_swap(d, tile, phase); },
        digits().turns_after(phase) ? &phase : nullptr);
    if (digits().plan().parts[phase] == 1) return;
    end_set();
    description_.exchange(
        "swap", digits().tiles(),
        [t = transform_, phase, from = from_, to = to_](Tile tile, Pulls& pulls) {
          const Digits& d = t->digits;
          const Interval part = d.part(phase, d.coordinate(tile, phase));
          for (std::uint32_t c = 0; c < d.plan().parts[phase]; ++c) {
            const Tile giver = d.neighbour(tile, phase, c);
            const std::uint64_t columns = d.columns(giver, phase);
            const Interval held = d.values(giver, phase, phase + 1);
            const std::uint64_t at = columns / held.size() * held.begin * part.size();
            pulls.push_back({{to, word(at * kPointBytes)},
                             giver,
                             {from, word(columns * part.begin * kPointBytes)},
                             word(columns * part.size() * kPointBytes)});
          }
        },
        sent(phase));
    std::swap(from_, to_);
  }

  /// Bytes of all points that a tile holds in a phase.
  [[nodiscard]] std::function<std::uint64_t(Tile)> sent(std::uint32_t phase) const {
    return [t = transform_, phase](Tile tile) -> std::uint64_t {
      return tile < t->digits.tiles() ? t->digits.held(tile, phase) * kPointBytes : 0;
    };
  }

  /// Brings points from their natural order to where the first phase reads them.
  void add_inputs() {
    const BufferId given = stretch_array(
        "given",
        [t = transform_](Tile tile, std::span<std::byte> into) {
          const std::uint64_t first = t->stretches.begin(tile) / kPointBytes;
          for (std::uint64_t i = 0; i < t->points_on(tile); ++i)
            t->store(into, in_stretch(i), first + i);
        },
        false);
    description_.exchange(
        "inputs", digits().tiles(), [t = transform_, given, from = from_](Tile tile, Pulls& pulls) {
          t->digits.for_runs(tile, t->digits.first_phase(), t->digits.order(0),
                             [&](auto values, std::uint64_t at, std::uint64_t points) {
                               const std::uint64_t begin = t->digits.input(values) * kPointBytes;
                               kernels::pull(pulls, {from, word(at * kPointBytes)}, t->stretches,
                                             given, begin, begin + points * kPointBytes);
                             });
        });
    if (digits().first_phase() > 0) add_transposition(pairs_for_batch);
    if (digits().phases() > 1) return;
    // One column: points of neighbouring rows become neighbours.
    add_transposition([](const Digits& d, Tile /*tile*/) {
      return RowPairs{{{0, kUnitBytes}}, d.length(0)};
    });
  }

  void add_results() {
    if (!pairs_for_result(digits(), 0).entries.empty()) add_transposition(pairs_for_result);
    end_set();
    description_.exchange(
        "results", all_tiles(),
        [t = transform_, result = result_, from = from_](Tile tile, Pulls& pulls) {
          const std::uint64_t first = t->stretches.begin(tile) / kPointBytes;
          for (std::uint64_t at = 0, points = 0; at < t->points_on(tile); at += points) {
            const Digits::Run run = t->digits.result_run(first + at);
            points = std::min(run.points, t->points_on(tile) - at);
            pulls.push_back({{result, word(at * kPointBytes)},
                             run.tile,
                             {from, word(run.at * kPointBytes)},
                             word(points * kPointBytes)});
          }
        },
        sent(digits().phases() - 1));
  }

  const Subject& subject_;
  plan::Description& description_;
  Functions functions_;
  std::shared_ptr<const Transform> transform_;
  BufferId result_{};         // layout natural
  BufferId from_{}, to_{};    // array that holds the points, array they move to next
  std::vector<Calling> set_;  // calls of the compute set under construction
};

}  // namespace

plan::Described described(const std::shared_ptr<const Subject>& subject, const Plan& plan) {
  plan::Description description(subject->machine.tiles);
  Statement(subject, plan, description).state();
  description.tensor(data::tensor_of("x", subject->x, kType, true));
  return description;
}

}  // namespace tessera::fft
