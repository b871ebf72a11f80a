#pragma once

#include <array>
#include <asmjit/x86.h>
#include <deque>
#include <functional>
#include <map>
#include <span>
#include <utility>
#include <vector>

#include "sim/engine/native/addresses.h"
#include "sim/engine/native/analysis.h"
#include "sim/engine/native/hyperblock.h"
#include "sim/engine/native/performers.h"
#include "sim/engine/native/region.h"
#include "sim/engine/native/translation.h"
#include "sim/engine/native/wide/wide.h"

/// Writes the host code of one region.
///
/// Host registers: rbx holds the context, rbp memory, r14 slots, r15 work (as in handlers); rax and
/// rdx are scratch within an instruction; the others hold guest x registers, zero-extended (guest
/// registers without one live in the context). xmm0 to xmm4 are scratch. f registers are held with
/// all 64 bits, zeros above. The cost of a block is added where it is left, as in the interpreter,
/// which can therefore take over before any instruction: if a comparison fails, it executes that
/// one and all after it. A loop that is a hyperblock is unrolled: its turns' cost is added once.
namespace tessera::engine::native {

class Emitter {
 public:
  /// Exits to nodes that are not kept lead out of the region.
  Emitter(asmjit::CodeHolder& code, Region& region, const Setting& setting);

  /// Returns, by node, the label of its entry, a handler; only kept nodes have one.
  std::vector<asmjit::Label> emit();

 private:
  using Gp = asmjit::x86::Gp;
  using Xmm = asmjit::x86::Xmm;
  using Mem = asmjit::x86::Mem;
  using Label = asmjit::Label;

  // emitter.cpp: entries, exits, nodes
  void emit_entry(std::size_t number);
  void emit_common_entry();
  void emit_common_exit();
  void emit_node(std::size_t number);
  void begin_steps(std::span<const Step> steps);
  void emit_steps(std::span<const Step> steps);
  void emit_step(const Step& step);
  void emit_call(const Step& step);
  void save_for_call(const isa::RegisterSets& sets);
  void restore_after_call(const isa::RegisterSets& sets);
  void emit_constants();
  [[nodiscard]] asmjit::Operand slots() const;
  [[nodiscard]] asmjit::Operand work() const;
  /// A 128-bit constant in memory; the upper lane is 0 if not given.
  Mem constant(std::uint64_t low, std::uint64_t high = 0);
  Mem lanes(std::uint64_t both) { return constant(both, both); }
  void zero_done();
  void flush_done();
  Label leave_before(const Step& step);  ///< the interpreter goes on at the step
  void leave(const Op* op, const PipelineState* pipeline_state);
  void cold(const Label& label, std::function<void()> code);

  /// An x register whose value is only in a host register.
  struct Unsaved {
    unsigned x;
    Gp host;
    bool operator==(const Unsaved&) const = default;
  };
  /// A pending addition of a constant to a host register.
  struct Lag {
    Gp host;
    std::int32_t by;
    bool operator==(const Lag&) const = default;
  };
  /// The x register that is to hold the result of the comparison that made kMask.
  struct PendingComparison {
    int x = -1;
    Gp host;
    bool inverted = false;  ///< kMask is ones if the comparison does not hold
    bool operator==(const PendingComparison&) const = default;
  };
  /// Place of a word.
  struct Word {
    asmjit::Operand at;
    bool upper = false;  ///< upper half of a host register
    bool operator==(const Word&) const = default;
  };
  /// A pending result and the places of its operands.
  struct Late {
    isa::Mnemonic mnemonic{};
    std::int32_t by = 0;
    Word first, second;
    Mem made;            ///< where it is computed, before anything moves
    asmjit::Operand to;  ///< its final place; none: only an operand of others
    int part = -1;       ///< its step, a part of a wide operation
    bool operator==(const Late&) const = default;
  };
  /// A word of a 64-bit value to be moved to a place of its own.
  struct WordMove {
    Word from;
    asmjit::Operand to;
    bool operator==(const WordMove&) const = default;
  };
  /// Work that must be done before control passes to code that does not know the state here.
  struct Debt {
    PendingComparison asked;
    std::vector<Late> late;  ///< in this order
    std::vector<Lag> lags;
    std::vector<Unsaved> unsaved;
    std::vector<WordMove> words;
    std::uint32_t unchecked = 0;  ///< f registers, as in Singles
    std::uint32_t unboxed = 0;
    std::uint32_t kept = 0;  ///< may stay unboxed, as the code that goes on allows it
    bool operator==(const Debt&) const = default;
  };

  /// Counts how often choices of the same extra cost went one way.
  struct Tally {
    PathCost each;
    asmjit::x86::Reg host;  ///< an xmm register counts masks
    bool sums = false;      ///< sums the costs of choices without a tally: slots << 32, plus work
  };

  /// Turns of a hyperblock, and exits within it, whose cost has not been added yet.
  struct Turns {
    std::uint32_t times = 0;
    bool counted = false;     ///< by Frame::loops_left
    std::size_t owed = 0;     ///< index into owed_
    std::size_t tallies = 0;  ///< index of the tally routine that adds them; 0: none
    bool operator==(const Turns&) const = default;
  };

  // control.cpp
  void emit_branch(const Step& step);
  void emit_jump(const Step& step);
  void emit_jump_register(const Step& step);
  void leave_elsewhere(const Step& step);
  [[nodiscard]] Label target(const Exit& exit) const;
  void take(const Exit& exit) { take(exit, turns_, target(exit), debt(exit.node)); }
  void take(const Exit& exit, const Turns& turns, const Label& to, const Debt& debt);
  void go(const Exit& exit, const Label& to, std::uint32_t unboxed);
  void owe(const PathCost& spent);
  void owe(const Exit& exit);
  void account(const Exit& exit, const Turns& turns);
  void call_tallies(const Turns& turns);
  void account(const Turns& turns);
  void account(const PathCost& spent);
  void add_work(std::uint64_t work);
  void compare_equal(unsigned a, unsigned b);
  asmjit::x86::CondCode condition(const Step& step);

  // loop.cpp
  [[nodiscard]] std::uint32_t turns_in_a_row(const Hyperblock& loop) const;
  void emit_turns(const Hyperblock& loop, std::uint32_t times);
  void emit_stretch(const Hyperblock& block);
  void forget_tallies();
  void emit_guard(const Hyperblock& loop, std::uint32_t times, const Label& single);
  void emit_again(const Step& step);
  void emit_back(const Step& step);
  void emit_loop(const Step& step);
  void emit_loop_end(const Step& step);
  void count_loops(std::uint32_t turns);

  // choice.cpp
  void emit_choice(const Step& step);
  void emit_mask(const Choice& choice, const Step& step);
  void mask_where(asmjit::x86::CondCode taken);
  void emit_side(const std::vector<Step>& side, bool taken);
  [[nodiscard]] asmjit::x86::CondCode taken_where(const Choice& choice, const Step& step);
  void select_x(const Choice& choice, asmjit::x86::CondCode taken);
  static bool is_number(const Choice& choice, const Choice::Select& select, std::size_t side);
  void prepare(const Choice& choice, const Choice::Select& select);
  void select_f(const Choice& choice);
  void add_more(const PathCost& more, bool masked, asmjit::x86::CondCode taken);
  void begin_tallies(const Hyperblock& loop);
  [[nodiscard]] std::size_t different_costs(const Hyperblock& loop) const;
  void zero_tallies();
  const Tally* summing(const PathCost& more);
  void count(const asmjit::x86::Reg& tally, asmjit::x86::CondCode taken);
  bool emit_link(const Choice& choice, asmjit::x86::CondCode taken);
  const asmjit::x86::Reg* tally_for(const PathCost& each, bool masks,
                                    std::vector<asmjit::x86::Reg>& free);
  void add_up(const std::vector<Tally>& tallies);
  void end_tallies();

  // skip.cpp
  struct Turn;
  void emit_skip(const Choice& choice, const Step& step);
  void count_side(const Step& step);
  void emit_apart(std::span<const Step> steps);
  void do_put_off(std::uint32_t f_registers);
  void restore_turns(const std::vector<Turn>& turns);

  // integer.cpp; these return false for other instructions
  bool emit_integer(const isa::Instruction& is, const Step& step);
  bool emit_multiply(const isa::Instruction& is);
  /// Emits both words of a product at once; false if the next step is not its other word.
  bool emit_wide_product(const isa::Instruction& is);
  [[nodiscard]] const isa::Instruction* straight_ahead(std::size_t steps) const;
  void emit_divide(const isa::Instruction& is);
  void binary(asmjit::x86::Inst::Id id, const isa::Instruction& is, bool commutes);
  void binary_immediate(asmjit::x86::Inst::Id id, const isa::Instruction& is);
  void shift(asmjit::x86::Inst::Id id, const isa::Instruction& is);
  void shift_immediate(asmjit::x86::Inst::Id id, const isa::Instruction& is);
  void shifted_add(const isa::Instruction& is, unsigned amount);
  void set_if(asmjit::x86::CondCode condition, std::uint8_t rd);
  void add_immediate(std::uint8_t rd, std::uint8_t rs1, std::int32_t imm);

  // put_off.cpp
  /// Returns false if the instruction is still to be emitted.
  bool emit_put_off(const Step& step);
  bool emit_rotation(const Step& step);
  bool emit_carry(const Step& step);
  [[nodiscard]] bool is_taken(const isa::Instruction& is) const;
  [[nodiscard]] bool is_dead(unsigned x) const;
  [[nodiscard]] const isa::Instruction* waiting(unsigned x) const;
  void before(const Step& step);
  void make_read(const Step& step);
  void make_lost(const Step& step);
  void make_all(const std::function<bool(const isa::Instruction&)>& due);
  void make(isa::Instruction is);

  // wide.cpp
  void begin_wide(std::span<const Step> steps);
  /// Returns false if the step is not part of an operation.
  bool emit_wide(const Step& step);
  void settle_words(std::uint32_t registers);
  void emit_operation(const WideOperation& is, const Step& step);
  void wide_unary(const WideOperation& is, const std::function<void(const Gp&)>& change);
  void wide_binary(asmjit::x86::Inst::Id id, const WideOperation& is);
  Gp wide(const Pair& pair, const Gp& scratch);
  Gp into_wide(const WideOperation& is);
  [[nodiscard]] std::size_t position() const;
  [[nodiscard]] bool is_wide(std::size_t ahead) const;

  // places.cpp
  void forget_places();
  Gp wide_host(unsigned low);
  Gp own_place(unsigned x);
  void overwrite(unsigned x, unsigned but);
  [[nodiscard]] unsigned holder(unsigned x, unsigned but) const;
  void take_out(unsigned x);
  void narrow(unsigned x);
  bool keep_apart(std::size_t i);
  Gp word(unsigned x, const Gp& scratch);
  [[nodiscard]] Word place(unsigned x) const;
  [[nodiscard]] asmjit::Operand last_place(unsigned x) const;
  void note_words(Debt& debt) const;
  void settle(const WordMove& word);
  void settle_wide();

  // late.cpp
  [[nodiscard]] bool is_forgotten(unsigned x) const;
  [[nodiscard]] const isa::Instruction& part_at(std::size_t i) const;
  [[nodiscard]] bool is_awaited(std::size_t part) const;
  [[nodiscard]] bool is_evaluated(std::size_t part) const;
  [[nodiscard]] bool asks(std::size_t part, std::size_t operand) const;
  [[nodiscard]] std::vector<Late> late() const;
  [[nodiscard]] std::vector<Late> late_parts() const;
  [[nodiscard]] std::vector<Late> late_parts(std::vector<std::size_t> wanted) const;
  void keep(const Kept& words);
  void fetch(const Word& from);
  void evaluate(const Late& late);

  // memory.cpp
  bool emit_memory(const isa::Instruction& is, const Step& step);
  Mem address(const Step& step, const Access& access);
  Mem gathered(const Step& step, std::uint8_t base, unsigned log, bool store);
  void compare(const Gp& address, std::int32_t displacement, unsigned log, bool store,
               std::uint32_t span, const Step& step);
  void load_x(const isa::Instruction& is, const Mem& from, const Gp& made);
  void load_ahead(const Step& load);
  void load_single(std::uint8_t fd, const Mem& from);
  void load_half(std::uint8_t fd, const Mem& from);
  void load_word(std::uint8_t fd, const Mem& from);
  void bring(const Mem& from);

  // float.cpp
  bool emit_float(const isa::Instruction& is, const Step& step);
  void arithmetic(asmjit::x86::Inst::Id id, const isa::Instruction& is, const Step& step);
  void square_root(const isa::Instruction& is, const Step& step);
  void fused(const isa::Instruction& is, const Step& step);
  void check_fused(const Xmm& made, const Xmm& first, const Xmm& second);
  void compare_singles(const isa::Instruction& is, const Step& step);
  [[nodiscard]] const Choice* asked_next(const Step& step) const;
  void sign(const isa::Instruction& is, const Step& step);
  void least_or_most(const isa::Instruction& is, const Step& step);
  void convert(const isa::Instruction& is, const Step& step);

  // packed.cpp
  bool emit_packed(const isa::Instruction& is, const Step& step);
  bool emit_lanes(const isa::Instruction& is);
  bool emit_packed_half(const isa::Instruction& is, const Step& step);
  void packed_half(asmjit::x86::Inst::Id id, const isa::Instruction& is);
  void packed_single(asmjit::x86::Inst::Id id, const isa::Instruction& is);
  void fused_half(const isa::Instruction& is, const Step& step);
  void fused_single(const isa::Instruction& is, const Step& step);
  void dot(const isa::Instruction& is, const Step& step);
  void narrow(const Xmm& made, const Xmm& from);
  void canonical_singles(const Xmm& value);

  // registers.cpp: x registers without a host register of their own for the whole region take turns
  // in a few, and are written home where the node is left.
  void begin_node();
  /// The work owed before the node `next`, or the interpreter.
  [[nodiscard]] Debt debt(int next = kOutside) const;
  void settle(const Debt& debt);
  void settle_all();
  void answer(const PendingComparison& asked);
  void answer() { answer(std::exchange(asked_, {})); }
  [[nodiscard]] bool hosted(unsigned x) const { return allocation_.x[x] != kHome; }
  [[nodiscard]] Gp host(unsigned x) const;
  [[nodiscard]] Mem home(unsigned x) const;
  /// The register that holds x until the step ends; for x0 `scratch`, cleared.
  Gp get(unsigned x, const Gp& scratch);
  /// Like get(), but without adding lag_[x].
  Gp get_behind(unsigned x, const Gp& scratch);
  /// Adds `by` to x; the host register is changed later.
  void move_by(unsigned x, std::int32_t by);
  void add_to(const Gp& host, std::int32_t by);
  void vacate(std::size_t i);
  /// Where to compute the result for rd; call it after the last place where the step may be left.
  Gp into(unsigned rd);
  void put(unsigned rd, const Gp& value);

  // singles.cpp
  /// Known facts about f registers and shadows, a bit each.
  struct Singles {
    std::uint64_t known = 0;      ///< hold binary32 values
    std::uint64_t unboxed = 0;    ///< known ones with the upper half not set yet
    std::uint64_t unchecked = 0;  ///< known ones with a possible NaN not canonical yet
    std::uint64_t computed = 0;   ///< known ones where a NaN is canonical
  };
  [[nodiscard]] bool hosted_f(unsigned f) const { return allocation_.f[f] != kHome; }
  [[nodiscard]] Xmm host_f(unsigned f) const;
  [[nodiscard]] Mem home_f(unsigned f) const;
  Xmm get_f(unsigned f, const Xmm& scratch);
  /// Without pending boxing or NaN checks; does not change the host's flags.
  Xmm get_as_is(unsigned f, const Xmm& scratch);
  /// Only the lower half is valid.
  Xmm get_low(unsigned f, const Xmm& scratch);
  /// An operand of arithmetic; leaves to the interpreter if it is not a boxed value.
  Xmm get_single(unsigned f, const Xmm& scratch, const Step& step);
  [[nodiscard]] Xmm into_f(unsigned fd) const;
  void put_f(unsigned fd, const Xmm& value);
  struct SingleState {
    bool unboxed = true;
    bool unchecked = false;
    bool computed = false;
  };
  void put_single(unsigned fd, const Xmm& value, const SingleState& made);
  void check_nan(unsigned f);
  void box(const Xmm& value);
  void canonical(const Xmm& result, const std::function<void()>& before = {});
  [[nodiscard]] bool is_unboxed(unsigned f) const;
  void start_singles(std::size_t node);

  /// A host register that x registers take in turns.
  struct Turn {
    int x = -1;
    bool unsaved = false;
    std::size_t used = 0;  ///< step of the last use
  };
  [[nodiscard]] std::size_t next_use(int x) const;
  std::size_t take_turn(unsigned x);
  [[nodiscard]] Gp turn_host(std::size_t i) const;

  struct Constant {
    Label label;
    std::uint64_t low, high;
  };
  struct Activities {
    Label label;
    Done done;
  };
  struct Cold {
    Label label;
    std::function<void()> code;
  };
  struct Leaving {
    Label label;
    const Op* op;
    const PipelineState* pipeline_state;
    Turns turns;
    Debt debt;
  };

  asmjit::x86::Assembler a_;
  const Region& region_;
  Loops loops_;
  Setting setting_;
  Allocation allocation_;
  std::vector<Label> entries_;
  std::vector<Label> nodes_;
  std::size_t emitted_ = 0;  ///< nodes before this one are emitted
  int pushed_ = 0;           ///< bytes on the stack beside stack::kBytes
  Label common_entry_, common_exit_, fallback_;
  std::vector<Cold> cold_;
  std::vector<Leaving> leavings_;
  std::vector<Constant> constants_;
  std::vector<Activities> activities_;
  std::deque<PathCost> owed_ = std::deque<PathCost>(1);
  // of the current node:
  std::size_t number_ = 0;
  Turns turns_;                                       ///< before the current step
  Label again_;                                       ///< where its loop goes on
  Label behind_;                                      ///< behind its loop
  std::vector<Tally> tallies_;                        ///< the loop's tallies
  std::map<std::size_t, asmjit::x86::Reg> tally_of_;  ///< Step::choice
  std::map<const Choice*, Gp> both_of_;               ///< tallies of Choice::both
  std::vector<Label> tally_routines_{{}};             ///< the last one is the loop's
  AddressPlan plan_;
  std::size_t access_ = 0;                      ///< plan index of the next instruction's access
  std::vector<Turn> shared_;                    ///< empty: all x registers have their own
  std::size_t step_ = 0;                        ///< counts steps
  std::size_t done_with_ = 0;                   ///< a step emitted together with an earlier one
  std::span<const Step> ahead_;                 ///< steps after the current one
  std::array<std::int32_t, kRegisters> lag_{};  ///< to be added to host registers
  std::vector<isa::Instruction> waiting_;       ///< instructions put off, in order
  static constexpr std::uint8_t kNobody = 0xff;
  WidePlan wide_;                    ///< plan for all_steps_
  std::span<const Step> all_steps_;  ///< ends with ahead_
  std::array<std::uint8_t, 32>
      mate_{};                ///< by register: the one in its host's upper half; 0: zeros
  std::uint32_t inside_ = 0;  ///< registers whose values are only in an upper half
  std::uint32_t apart_ = 0;   ///< registers that lie in stack::kWide with their mates
  Singles singles_;
  std::uint64_t behind_known_ = 0;  ///< Singles::known behind the loop
  const Op* mask_of_ = nullptr;     ///< comparison whose result kMask holds
  PendingComparison asked_;
  // of a choice:
  const Step* branch_ = nullptr;    ///< its branch, where the interpreter goes on
  const Choice* linked_ = nullptr;  ///< the choice before, if it has Choice::both
  enum class Masked : std::uint8_t { no, where_not_taken, where_taken } masked_ = Masked::no;
};

}  // namespace tessera::engine::native
