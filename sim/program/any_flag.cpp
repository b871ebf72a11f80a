#include "sim/program/any_flag.h"

#include <cmath>

#include "sim/base/errors.h"
#include "sim/program/assembler.h"

namespace tessera::program {
namespace {

constexpr std::uint32_t kWordBytes = 4;
// Fewer flags go to all tiles at once: another superstep takes longer than their words.
constexpr std::size_t kMostUngrouped = 64;

/// For a supervisor. Arguments: the words, where their pairs begin (the first word may be in one),
/// number of pairs, result. Reads one word behind the last. Two cycles a word: a loaded word is
/// used two instructions later.
Codelet combine_words() {
  constexpr std::uint8_t kArguments = 10, kResult = 11, kSum = 12, kOdd = 13, kEven = 14;
  constexpr std::uint8_t kPairs = 5, kWords = 6;
  using isa::Mnemonic;
  Assembler code;
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
  constexpr std::int32_t kLoop = 7 * 4;  // of the instructions that `beq` skips, with itself
  code.emit({.mnemonic = Mnemonic::beq, .rs1 = kPairs, .imm = kLoop});
  next(kOdd);
  code.emit({.mnemonic = Mnemonic::rpt, .rs1 = kPairs, .imm = 5 * 4});
  next(kEven);
  add(kOdd);
  next(kOdd);
  add(kEven);
  code.emit({.mnemonic = Mnemonic::sw, .rs1 = kResult, .rs2 = kSum});
  code.emit({.mnemonic = Mnemonic::jalr, .rs1 = static_cast<std::uint8_t>(Reg::ra)});
  return {"combine_words", code.take()};
}

class Test {
 public:
  Test(Program& program, const std::string& name)
      : program_(program), name_(name), codelet_(program.add_codelet(combine_words())) {}

  /// The steps that combine `flags` and leave a word on each tile, which `decisions` lists.
  Sequence make(std::span<const Place> flags, std::vector<Place>& decisions) {
    std::vector<Place> words(flags.begin(), flags.end());
    if (words.size() > kMostUngrouped) words = gather(words);
    Exchange spread{name_ + ": spread", {}};
    ComputeSet decide{name_ + ": decide", {}};
    const auto count = static_cast<std::uint32_t>(words.size());
    for (const Place& word : words) spread.copies.push_back({word, kWordBytes, {}});
    for (std::uint32_t i = 0; i < program_.tiles(); ++i) {
      const BufferId copies = add_words(TileId{i}, count + 1);
      for (std::uint32_t j = 0; j < count; ++j)
        spread.copies[j].destinations.push_back({copies, j * kWordBytes});
      decisions.push_back({add_words(TileId{i}, 1)});
      decide.vertices.push_back(combine(TileId{i}, copies, count, decisions.back()));
    }
    steps_.steps.push_back({std::move(spread)});
    steps_.steps.push_back({std::move(decide)});
    return std::move(steps_);
  }

 private:
  /// One word a group, each on the tile of the group's first.
  std::vector<Place> gather(const std::vector<Place>& words) {
    const auto groups = static_cast<std::size_t>(std::sqrt(static_cast<double>(words.size())));
    Exchange collect{name_ + ": gather", {}};
    ComputeSet reduce{name_ + ": reduce", {}};
    std::vector<Place> results;
    for (std::size_t g = 0; g < groups; ++g) {
      const std::size_t begin = words.size() * g / groups;
      const auto count = static_cast<std::uint32_t>(words.size() * (g + 1) / groups - begin);
      const TileId leader = program_.buffer(words[begin].buffer).tile;
      const BufferId copies = add_words(leader, count + 1);
      for (std::uint32_t j = 0; j < count; ++j)
        collect.copies.push_back({words[begin + j], kWordBytes, {{copies, j * kWordBytes}}});
      results.push_back({add_words(leader, 1)});
      reduce.vertices.push_back(combine(leader, copies, count, results.back()));
    }
    steps_.steps.push_back({std::move(collect)});
    steps_.steps.push_back({std::move(reduce)});
    return results;
  }

  BufferId add_words(TileId tile, std::uint32_t count) {
    Buffer buffer{};
    buffer.tile = tile;
    buffer.bytes = count * kWordBytes;
    buffer.align = kWordBytes;
    buffer.category = Category::control;
    buffer.name = "flags";
    return program_.add_buffer(std::move(buffer));
  }

  [[nodiscard]] Vertex combine(TileId tile, BufferId words, std::uint32_t count,
                               Place result) const {
    const std::uint32_t first = count % 2 * kWordBytes;
    return {tile,
            codelet_,
            Executor::supervisor,
            0,
            {Place{words}, Place{words, first}, count / 2, result}};
  }

  Program& program_;
  const std::string& name_;
  std::uint32_t codelet_;
  Sequence steps_;
};

}  // namespace

While while_any(Program& program, const std::string& name, std::span<const Place> flags,
                Sequence body) {
  check(!flags.empty(), "program: {}: no flags", name);
  While loop{name, {}, std::move(body), {}};
  loop.test = Test(program, name).make(flags, loop.decisions);
  return loop;
}

}  // namespace tessera::program
