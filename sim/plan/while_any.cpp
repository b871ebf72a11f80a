#include <algorithm>
#include <cmath>
#include <memory>

#include "sim/base/errors.h"
#include "sim/plan/description.h"
#include "sim/program/assembler.h"

namespace tessera::plan {
namespace {

constexpr std::uint32_t kWordBytes = 4;
// Up to this many flags go to all tiles directly: another superstep would take longer.
constexpr std::size_t kMostUngrouped = 64;

/// Supervisor codelet that combines words. Arguments: the words, start of their pairs (the first
/// word may be in one), number of pairs, result. Reads one word past the last. Two cycles a word: a
/// loaded word is used two instructions later.
program::Codelet combine_words() {
  constexpr std::uint8_t kArguments = 10, kResult = 11, kSum = 12, kOdd = 13, kEven = 14;
  constexpr std::uint8_t kPairs = 5, kWords = 6;
  using isa::Mnemonic;
  program::Assembler code;
  const auto load = [&](std::uint8_t to, std::uint8_t base, std::int32_t offset) {
    code.emit({.mnemonic = Mnemonic::lw, .rd = to, .rs1 = base, .imm = offset});
  };
  const auto next = [&](std::uint8_t to) {
    code.emit({.mnemonic = Mnemonic::lw_p, .rd = to, .rs1 = kWords, .imm = kWordBytes});
  };
  const auto add = [&](std::uint8_t word) {
    code.emit({.mnemonic = Mnemonic::or_, .rd = kSum, .rs1 = kSum, .rs2 = word});
  };
  load(kWords, kArguments, 0);
  load(kPairs, kArguments, 8);
  load(kResult, kArguments, 12);
  load(kSum, kWords, 0);
  load(kWords, kArguments, 4);
  constexpr std::int32_t kLoop = 7 * 4;  // bytes from `beq` past the skipped instructions
  code.emit({.mnemonic = Mnemonic::beq, .rs1 = kPairs, .imm = kLoop});
  next(kOdd);
  code.emit({.mnemonic = Mnemonic::rpt, .rs1 = kPairs, .imm = 5 * 4});
  next(kEven);
  add(kOdd);
  next(kOdd);
  add(kEven);
  code.emit({.mnemonic = Mnemonic::sw, .rs1 = kResult, .rs2 = kSum});
  code.emit({.mnemonic = Mnemonic::jalr, .rs1 = static_cast<std::uint8_t>(program::Reg::ra)});
  return {"combine_words", code.take()};
}

/// A word on each of some tiles, in ascending order.
struct Words {
  std::vector<Tile> tiles;
  Place word;
};

/// The words [begin, end) that a tile combines; empty for most tiles.
struct Group {
  std::size_t begin = 0, end = 0;

  [[nodiscard]] std::uint32_t size() const { return static_cast<std::uint32_t>(end - begin); }
  /// Includes the word past the last, which the codelet reads.
  [[nodiscard]] std::uint64_t bytes() const {
    return begin == end ? 0 : std::uint64_t{kWordBytes} * (size() + 1);
  }
};
using GroupOf = std::function<Group(Tile)>;

/// Adds the superstep in which tiles pull the words of their groups and combine each group into one
/// word.
Place combine(Description& d, const std::string& pull, const std::string& compute,
              const std::shared_ptr<const Words>& from, const GroupOf& group_of) {
  const auto array = [&](auto bytes) {
    return d.array({"flags", std::move(bytes), false, {}, kWordBytes, program::Category::control});
  };
  const BufferId copies = array([=](Tile tile) { return group_of(tile).bytes(); });
  const BufferId result =
      array([=](Tile tile) -> std::uint64_t { return group_of(tile).size() > 0 ? kWordBytes : 0; });
  d.exchange(
      pull, d.tiles(),
      [=](Tile tile, Pulls& pulls) {
        const Group group = group_of(tile);
        for (std::size_t i = group.begin; i < group.end; ++i) {
          const auto at = static_cast<std::uint32_t>(i - group.begin) * kWordBytes;
          pulls.push_back({{copies, at}, from->tiles[i], from->word, kWordBytes});
        }
      },
      [](Tile) -> std::uint64_t { return kWordBytes; });
  const std::uint32_t codelet = d.code()->add_codelet(combine_words());
  d.compute(compute, d.tiles(), [=](Tile tile, Calls& calls) {
    const std::uint32_t words = group_of(tile).size();
    if (words == 0) return;
    const Place pairs{copies, words % 2 * kWordBytes};
    calls.add({TileId{tile},
               codelet,
               program::Executor::supervisor,
               0,
               {Place{copies}, pairs, words / 2, Place{result}}});
  });
  return {result};
}

/// Combines words into one per group, on the tile of the group's first word.
std::shared_ptr<const Words> gathered(Description& d, const std::string& name,
                                      const std::shared_ptr<const Words>& words) {
  const std::size_t all = words->tiles.size();
  const auto groups = static_cast<std::size_t>(std::sqrt(static_cast<double>(all)));
  auto leaders = std::make_shared<Words>();
  for (std::size_t g = 0; g < groups; ++g) leaders->tiles.push_back(words->tiles[all * g / groups]);
  const auto group_of = [all, groups, leaders](Tile tile) -> Group {
    const auto at = std::lower_bound(leaders->tiles.begin(), leaders->tiles.end(), tile);
    if (at == leaders->tiles.end() || *at != tile) return {};
    const auto g = static_cast<std::size_t>(at - leaders->tiles.begin());
    return {all * g / groups, all * (g + 1) / groups};
  };
  leaders->word = combine(d, name + ": gather", name + ": reduce", words, group_of);
  return leaders;
}

}  // namespace

Place Description::any_raised(const std::string& name, std::vector<Tile> tiles, Place flag) {
  check(!tiles.empty() && std::is_sorted(tiles.begin(), tiles.end()), "plan: flags of {}", name);
  std::shared_ptr<const Words> words = std::make_shared<Words>(Words{std::move(tiles), flag});
  if (words->tiles.size() > kMostUngrouped) words = gathered(*this, name, words);
  return combine(*this, name + ": spread", name + ": decide", words,
                 [all = words->tiles.size()](Tile) {
                   return Group{0, all};
                 });
}

}  // namespace tessera::plan
