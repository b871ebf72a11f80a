#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <random>
#include <vector>

#include "sim/program/transfer_list.h"
#include "tests/sim/engine/assembled.h"

/// Random programs with a known execution path, and a simple model of their issue timing: its own
/// table of latencies, one instruction at a time.
namespace tessera::engine::test {

/// One executed instruction.
struct Executed {
  Instruction instruction;
  std::uint32_t pc;
  bool falls_through = false;  ///< from the previous one, in the same straight stretch
  bool branches = false;       ///< a taken branch
  std::optional<program::OuterEntry> transfer = {};  ///< the transfer that it starts
};

struct RandomPath {
  std::vector<Instruction> code;
  std::vector<Executed> path;
};

class PathMaker {
 public:
  explicit PathMaker(std::uint32_t seed, int most_times = 40, int transfers = 0)
      : random_(seed), most_times_(most_times), transfers_(transfers) {}
  /// Adds instructions of the int8 unit, which load and store 32 bytes at x10.
  PathMaker& with_integers() {
    integers_ = true;
    return *this;
  }

  /// About `length` instructions that load from 64 bytes at x10, and transfer bytes between the 1
  /// KiB after them and the first 2 KiB of external memory.
  RandomPath make(int length) {
    made_ = {};
    stretch_ = false;
    while (static_cast<int>(made_.code.size()) < length) {
      const int what = pick(0, 11);
      if (transfers_ > 0 && pick(0, 99) < transfers_) transfer();
      if (what == 0)
        skip();
      else if (what == 1)
        loop();
      else
        execute(add(straight()), false);
    }
    execute(add(end()), false);
    return made_;
  }

 private:
  int pick(int low, int high) { return std::uniform_int_distribution(low, high)(random_); }
  int x() { return pick(5, 8); }
  int f() { return pick(1, 4); }
  Instruction of_integer_unit() {
    const int kind = pick(0, 9);
    if (kind == 0) return r_type(set_b, pick(0, 2), pick(0, 5), 0);
    if (kind == 1) return r_type(ld8, pick(0, 2), 10, 10, 0);
    if (kind == 2) return r_type(ld4h, pick(0, 5), 10, 10, 0);
    if (kind == 3) return r_type(st_b, pick(0, 2), 10, 0, 0);
    if (kind == 4) return r_type(st4h, pick(0, 5), 10, 10, 0);
    if (kind == 5) return r_type(max_8b, pick(0, 2), pick(0, 2), pick(0, 2));
    if (kind == 6) return r_type(mode_b, 0, x(), 0);
    return r_type(amp_b, pick(0, 2), pick(0, 5), pick(0, 2));
  }
  Instruction straight() {
    if (integers_ && pick(0, 2) > 0) return of_integer_unit();
    const int kind = pick(0, 11);
    if (kind == 0) return r_type(mul, x(), x(), x());
    if (kind == 1) return r_type(divu, x(), x(), x());
    if (kind == 2) return i_type(lw, x(), 10, 4 * pick(0, 15));
    if (kind == 3) return i_type(flw, f(), 10, 4 * pick(0, 15));
    if (kind == 4) return r_type(fadd_s, f(), f(), f());
    if (kind == 5) return r_type(fmul_s, f(), f(), f());
    if (kind == 6) return r_type(fmadd_s, f(), f(), f(), f());
    if (kind == 7 && pick(0, 1) == 0) return r_type(fdiv_s, f(), f(), f());
    if (kind == 7) return r_type(fsqrt_s, f(), f(), 0);
    if (kind == 8) return r_type(fsgnj_s, f(), f(), f());
    if (kind == 9) return r_type(isa::Mnemonic::add, x(), x(), x());
    return i_type(addi, x(), x(), pick(-9, 9));
  }
  std::size_t add(const Instruction& instruction) {
    made_.code.push_back(instruction);
    return made_.code.size() - 1;
  }
  void execute(std::size_t at, bool branches) {
    made_.path.push_back({made_.code[at], static_cast<std::uint32_t>(4 * at), stretch_, branches});
    stretch_ = !branches;
  }
  void skip() {
    const bool taken = pick(0, 2) > 0;
    const int over = pick(1, 3);
    execute(add(branch_to(taken ? beq : bne, 0, 0, 4 * (over + 1))), taken);
    for (int i = 0; i < over; ++i) {
      const std::size_t at = add(straight());
      if (!taken) execute(at, false);
    }
  }
  void loop() {
    const int times = pick(1, most_times_);
    const int body = pick(1, 6);
    execute(add(i_type(addi, 9, 0, times)), false);
    execute(add(branch_to(rpt, 9, 0, 4 * (body + 1))), false);
    std::vector<std::size_t> all;
    all.reserve(static_cast<std::size_t>(body));
    for (int i = 0; i < body; ++i) all.push_back(add(straight()));
    for (int i = 0; i < times; ++i) {
      stretch_ = false;
      for (const std::size_t at : all) execute(at, false);
    }
    stretch_ = false;
  }

  void transfer() {
    program::OuterEntry entry{};
    entry.rows = 1;
    entry.local = static_cast<std::uint32_t>(64 + 8 * pick(0, 63));
    entry.address = 8 * static_cast<std::uint64_t>(pick(0, 127));
    entry.row_bytes = static_cast<std::uint32_t>(8 * pick(1, pick(0, 3) == 0 ? 64 : 4));
    entry.outward = static_cast<std::uint32_t>(pick(0, 1));
    execute(add(i_type(addi, 11, 10, static_cast<int>(entry.local))), false);
    execute(add(i_type(addi, 12, 0, static_cast<int>(entry.address))), false);
    execute(add(i_type(addi, 13, 0, static_cast<int>(entry.row_bytes))), false);
    execute(add(r_type(entry.outward != 0 ? isa::Mnemonic::sdma : isa::Mnemonic::ldma, 13, 11, 12)),
            false);
    made_.path.back().transfer = entry;
    stretch_ = false;
  }

  std::mt19937 random_;
  int most_times_;  ///< highest iteration count of a loop
  int transfers_;   ///< percentage of transfers
  bool integers_ = false;
  RandomPath made_;
  bool stretch_ = false;
};

/// A context that issues a path; the caller passes the time.
class PlainContext {
 public:
  PlainContext(std::vector<Executed> path, const TileConfig& tile, std::uint32_t pace)
      : path_(std::move(path)), tile_(tile), pace_(pace) {}

  void start(std::uint64_t at) { slot_ = std::max(slot_, at); }
  /// The transfer that the next instruction starts, and whether its last slot has just issued.
  [[nodiscard]] std::optional<program::OuterEntry> transfer() const { return path_[at_].transfer; }
  [[nodiscard]] bool transfer_issued() const { return taken_ == 0; }
  void extend(const std::vector<Executed>& more) {
    path_.insert(path_.end(), more.begin(), more.end());
  }
  [[nodiscard]] bool done() const { return at_ == path_.size(); }
  [[nodiscard]] std::uint64_t end() const { return end_; }
  /// When the next instruction or pair, or the next slot of a multi-slot instruction, can issue,
  /// disregarding busy units.
  [[nodiscard]] std::uint64_t ready() const {
    std::uint64_t time = slot_;
    if (taken_ > 0) return time;
    return std::max(time, operands(path_[at_]));
  }
  /// The same with functional units that are busy until `units`.
  [[nodiscard]] std::uint64_t ready(const std::vector<std::uint64_t>& units) const {
    const std::uint64_t time = ready();
    return taken_ > 0 ? time : std::max(time, units[static_cast<std::size_t>(unit(path_[at_]))]);
  }
  /// Issues at `now`: returns 1 slot, or 0 if the instruction takes none.
  std::uint64_t issue(std::uint64_t now, std::vector<std::uint64_t>& units) {
    if (taken_ == 0) count_ = group(now, units);
    const std::size_t count = count_;
    std::uint64_t slots = 0;
    bool branched = false;
    for (std::size_t i = at_; i < at_ + count; ++i) {
      const Executed& done = path_[i];
      const std::uint64_t own = slots_of(done);
      slots = std::max(slots, own);
      if (taken_ == 0 && interval(done) > 1)
        units[static_cast<std::size_t>(unit(done))] = now + interval(done);
      if (taken_ + 1 != own) continue;
      results(done, now + paced(latency(done)));
      unit_results(done, now);
    }
    for (std::size_t i = at_; i < at_ + count; ++i) branched |= path_[i].branches;
    if (slots == 0) {
      slot_ = end_ = now;
      at_ += count;
      return 0;
    }
    end_ = now + 1;
    slot_ = now + std::max(1U, tile_.reissue_cycles);
    if (++taken_ < slots) return 1;
    taken_ = 0;
    at_ += count;
    if (branched) slot_ = std::max(slot_, now + paced(tile_.latency.branch_taken));
    return 1;
  }

 private:
  void results(const Executed& done, std::uint64_t ready) {
    const isa::RegisterSets sets = isa::registers(done.instruction);
    for (int r = 0; r < 32; ++r) {
      if ((sets.writes_x >> r & 1U) != 0) x_[r] = ready;
      if ((sets.writes_f >> r & 1U) != 0) f_[r] = ready;
    }
  }
  void unit_results(const Executed& done, std::uint64_t now) {
    const bool loads = isa::info(done.instruction.mnemonic).bytes_loaded > 0;
    const std::uint64_t ready = now + paced(loads ? tile_.latency.load : latency(done));
    for (int r = 0; r < 64; ++r) {
      if ((isa::registers(done.instruction).writes_unit >> r & 1U) == 0) continue;
      unit_[r] = ready;
      is_sum_[r] = done.instruction.mnemonic == amp_b;
    }
  }
  /// The sum of an amp.b is immediately available to the next amp.b that adds to it.
  [[nodiscard]] std::uint64_t unit_operands(const Executed& next) const {
    std::uint64_t time = 0;
    const isa::RegisterSets sets = isa::registers(next.instruction);
    for (int r = 0; r < 64; ++r) {
      if (((sets.reads_unit | sets.writes_unit) >> r & 1U) == 0) continue;
      if (!is_sum_[r] || next.instruction.mnemonic != amp_b) time = std::max(time, unit_[r]);
    }
    return time;
  }
  [[nodiscard]] std::uint64_t operands(const Executed& next) const {
    std::uint64_t time = unit_operands(next);
    const isa::RegisterSets sets = isa::registers(next.instruction);
    for (int r = 0; r < 32; ++r) {
      if (((sets.reads_x | sets.writes_x) >> r & 1U) != 0) time = std::max(time, x_[r]);
      if (((sets.reads_f | sets.writes_f) >> r & 1U) != 0) time = std::max(time, f_[r]);
    }
    return time;
  }
  /// The number of instructions that issue at `now` (1 or 2).
  [[nodiscard]] std::size_t group(std::uint64_t now,
                                  const std::vector<std::uint64_t>& units) const {
    if (!tile_.dual_issue || at_ + 1 >= path_.size()) return 1;
    const Executed& first = path_[at_];
    const Executed& second = path_[at_ + 1];
    const bool neighbours = second.falls_through && first.pc % 8 == 0 && second.pc == first.pc + 4;
    if (!neighbours || !isa::may_pair(first.instruction, second.instruction)) return 1;
    const bool waits =
        operands(second) > now || units[static_cast<std::size_t>(unit(second))] > now;
    return waits ? 1 : 2;
  }
  [[nodiscard]] std::uint64_t paced(std::uint64_t cycles) const {
    return (cycles + pace_ - 1) / pace_;
  }
  /// An instruction's issue slots, its latency and its functional unit.
  struct Account {
    std::uint32_t SlotCosts::*slots = &SlotCosts::plain;
    std::uint32_t LatencyConfig::*latency = &LatencyConfig::integer;
    int unit = 0;
  };
  [[nodiscard]] static const Account& account(const Executed& done) {
    using S = SlotCosts;
    using L = LatencyConfig;
    static const std::map<Mnemonic, Account> kAccounts = {
        {mul, {&S::integer_multiply, &L::integer_multiply, 1}},
        {divu, {&S::integer_divide, &L::integer_divide, 2}},
        {fadd_s, {&S::plain, &L::f32_add, 3}},
        {fmul_s, {&S::plain, &L::f32_multiply, 3}},
        {fmadd_s, {&S::plain, &L::f32_fma, 3}},
        {fdiv_s, {&S::float_divide, &L::float_divide, 4}},
        {fsqrt_s, {&S::float_divide, &L::square_root, 4}},
        {lw, {&S::plain, &L::load}},
        {flw, {&S::plain, &L::load}},
        {fsgnj_s, {&S::plain, &L::float_move}},
        {set_b, {&S::plain, &L::float_move}},
        {max_8b, {&S::plain, &L::float_move}},
        {amp_b, {&S::plain, &L::matrix}}};
    static const Account kInteger;
    const auto found = kAccounts.find(done.instruction.mnemonic);
    return found == kAccounts.end() ? kInteger : found->second;
  }
  [[nodiscard]] std::uint64_t slots_of(const Executed& done) const {
    const Mnemonic m = done.instruction.mnemonic;
    if (m == isa::Mnemonic::run || (m == xctl && done.instruction.imm == 1)) return 0;
    return m == amp_b ? 1 : tile_.slots.*account(done).slots;
  }
  [[nodiscard]] std::uint64_t latency(const Executed& done) const {
    return tile_.latency.*account(done).latency;
  }
  [[nodiscard]] static int unit(const Executed& done) { return account(done).unit; }
  [[nodiscard]] std::uint64_t interval(const Executed& done) const {
    const IntervalConfig& all = tile_.interval;
    const std::uint32_t intervals[] = {1, all.integer_multiply, all.integer_divide, all.floating,
                                       all.float_divide};
    return intervals[unit(done)];
  }

  std::vector<Executed> path_;
  TileConfig tile_;
  std::uint64_t pace_;
  std::size_t at_ = 0;
  std::size_t count_ = 0;    ///< instructions that issue together
  std::uint64_t taken_ = 0;  ///< slots issued of the next instruction or pair
  std::uint64_t slot_ = 0;
  std::uint64_t end_ = 0;
  std::uint64_t x_[32] = {};
  std::uint64_t f_[32] = {};
  std::uint64_t unit_[64] = {};
  bool is_sum_[64] = {};
};

/// A tile with a random pipeline.
inline TileConfig random_pipeline(std::uint32_t seed) {
  std::mt19937 random(seed);
  const auto pick = [&](int low, int high) {
    return static_cast<std::uint32_t>(std::uniform_int_distribution(low, high)(random));
  };
  TileConfig tile{.dual_issue = pick(0, 1) == 1};
  LatencyConfig& l = tile.latency;
  for (std::uint32_t* each :
       {&l.load, &l.integer, &l.integer_multiply, &l.integer_divide, &l.f32_add, &l.f32_multiply,
        &l.f32_fma, &l.float_move, &l.float_divide, &l.square_root, &l.branch_taken})
    *each = pick(0, 2) == 0 ? 1 : pick(1, 12);
  IntervalConfig& i = tile.interval;
  for (std::uint32_t* each : {&i.integer_multiply, &i.integer_divide, &i.floating, &i.float_divide})
    *each = pick(0, 1) == 0 ? 1 : pick(1, 9);
  SlotCosts& s = tile.slots;
  for (std::uint32_t* each : {&s.integer_multiply, &s.integer_divide, &s.float_divide})
    *each = pick(0, 2) == 0 ? pick(1, 4) : 1;
  if (pick(0, 5) == 0) s.plain = 2;
  return tile;
}

}  // namespace tessera::engine::test
