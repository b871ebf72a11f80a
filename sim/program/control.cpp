#include "sim/program/control.h"

#include <algorithm>
#include <map>
#include <optional>

#include "sim/base/errors.h"
#include "sim/program/assembler.h"
#include "sim/program/held_lists.h"

namespace tessera::program {
namespace {

constexpr std::uint32_t kCodeAlign = 8;    // of the dual-issue pair rule
constexpr std::uint32_t kStackAlign = 16;  // the ABI's
// s0 points this far into the control data, so that signed 12-bit offsets reach 4 KiB of it.
constexpr std::uint32_t kDataBias = 2048;

enum Operation : std::uint32_t { kEnd = 0, kJoin = 1, kSync = 16 };

/// Writes the code of one group of tiles, step by step.
class ControlWriter {
 public:
  ControlWriter(const Program& program, const Flow& flow, std::uint32_t zone, const TileWork& work,
                const ControlData& data, bool overlap, Reach reach)
      : program_(program),
        flow_(flow),
        zone_(zone),
        work_(work),
        data_(data),
        overlap_(overlap),
        out_(reach),
        branches_(flow.end_of_zone[zone] - flow.begin_of_zone(zone)) {
    const auto branch = [&](std::uint32_t step) {
      if (step >= flow.begin_of_zone(zone) && step < flow.end_of_zone[zone])
        branches_[step - flow.begin_of_zone(zone)] = true;
    };
    for (const FlatLoop& loop : flow.loops) {
      branch(loop.begin);
      branch(loop.end);
      if (loop.condition != nullptr) branch(loop.body);
    }
  }

  ControlCode write(const TileConfig& tile) {
    write_codelets();
    code_.codelet_bytes = out_.here();
    code_.image.entry = Address(out_.here());
    code_.image.symbols.emplace_back(Address(out_.here()), "control");
    write_control();
    code_.control_bytes = out_.here() - code_.codelet_bytes;
    set_addresses(tile);
    code_.image.bytes = out_.take();
    return std::move(code_);
  }
  [[nodiscard]] bool reaches() const { return out_.reaches(); }

 private:
  void write_codelets() {
    for (const Work& item : work_) {
      if (item.vertex != nullptr) codelet_address_[item.vertex->codelet] = 0;
    }
    if (!codelet_address_.empty()) code_.image.steps.emplace_back(Address(0), kNoStep);
    for (auto& [id, address] : codelet_address_) {
      const Codelet& codelet = program_.codelets()[id];
      address = out_.here();
      code_.image.symbols.emplace_back(Address(address), codelet.name);
      out_.append(codelet.code);
      out_.align(kCodeAlign);
    }
  }

  void write_control() {
    write_set_up();
    std::size_t next_loop = 0;
    std::vector<OpenLoop> open;
    const std::uint32_t begin = flow_.begin_of_zone(zone_);
    const std::uint32_t end = flow_.end_of_zone[zone_];
    while (next_loop < flow_.loops.size() && flow_.loops[next_loop].begin < begin) ++next_loop;
    for (std::uint32_t step = begin; step < end; ++step) {
      for (; next_loop < flow_.loops.size() && flow_.loops[next_loop].begin == step; ++next_loop) {
        const FlatLoop& loop = flow_.loops[next_loop];
        if (loop.condition == nullptr) {
          if (overlap_) hold_for(loop, next_loop);
          out_.load_immediate(counter(loop), loop.count);
        }
        open.push_back({&loop, out_.here()});
      }
      write_step(step);
      for (; !open.empty(); open.pop_back()) {
        if (open.back().loop->condition != nullptr && open.back().loop->body == step + 1)
          open.back().branch = write_branch();
        if (open.back().loop->end != step + 1) break;
        close(open.back());
      }
    }
    // The last superstep ends with a barrier like every other, so that its sync is measured too.
    if (begin != end) {
      code_.image.steps.emplace_back(Address(out_.here()), kNoStep);
      out_.control(kSync + zone_);
    }
    out_.control(kEnd);
  }

  struct OpenLoop {
    const FlatLoop* loop;
    std::uint32_t top;
    std::uint32_t branch = 0;  ///< the branch that leaves it
  };

  /// Reads the tile's decision; returns the jump that leaves the loop.
  std::uint32_t write_branch() {
    forget();
    load_data_word(Reg::t0, data_.offset[next_work_]);
    ++next_work_;
    out_.load_word(Reg::t0, Reg::t0, 0);
    return out_.leave_if_zero(Reg::t0);
  }

  void close(const OpenLoop& open) {
    if (open.loop->condition == nullptr) return out_.loop(counter(*open.loop), open.top);
    out_.jump(open.top);
    out_.land_here(open.branch);
  }

  void write_set_up() {
    if (code_.image.steps.empty()) code_.image.steps.emplace_back(Address(out_.here()), kNoStep);
    data_pointer_at_ = out_.here();
    out_.load_address(Reg::s0, 0);
    stack_pointer_at_ = out_.here();
    out_.load_address(Reg::sp, 0);
    out_.add_immediate(Reg::s1, Reg::zero, -1);
  }

  void write_step(std::uint32_t step) {
    const std::uint32_t begin = out_.here();
    const FlatStep& flat = flow_.steps[step];
    const bool takes_part = works_in(step);
    const bool exchanges = takes_part && flat.exchange != nullptr;
    if (!overlap_ || (branches_[step - flow_.begin_of_zone(zone_)] && held_for_ != step)) forget();
    if (exchanges && (overlap_ || flat.starts) && !lists_.holds(data_.offset[next_work_])) {
      // After a single load the next use would stall: a nop is shorter.
      const std::size_t loads = load_lists(step);
      if (loads == 1 && !flat.sync) out_.add_immediate(Reg::zero, Reg::zero, 0);
    }
    if (flat.sync) out_.control(kSync + zone_);
    if (exchanges) {
      if (flat.starts) out_.start_exchange(lists_.at(data_.offset[next_work_]));
      if (overlap_ ? flat.waits : flat.starts)
        out_.wait_for_exchange(lists_.at(data_.offset[next_work_]));
      ++next_work_;
    } else if (takes_part) {
      if (overlap_) load_lists(step);
      write_vertices(step);
    }
    if (out_.here() != begin) code_.image.steps.emplace_back(Address(begin), step);
  }

  void forget() {
    lists_.forget();
    loaded_codelet_.reset();
  }

  /// Loads list addresses of this step and of the following straight-line steps early (before the
  /// barrier and before workers run), so that no load delay stalls. Returns the number of loads.
  std::size_t load_lists(std::uint32_t step) {
    std::vector<std::uint32_t> wanted;
    std::size_t work = next_work_;
    for (std::uint32_t at = step; wanted.size() < HeldLists::kMost; ++at) {
      if (at != step && !(overlap_ && goes_on_to(at))) break;
      if (work == work_.size()) break;
      if (work_[work].step != at) continue;
      if (flow_.steps[at].exchange != nullptr) wanted.push_back(data_.offset[work++]);
      while (work < work_.size() && work_[work].step == at && !uses_registers(work_[work])) ++work;
      if (work < work_.size() && work_[work].step == at) break;
    }
    return hold(wanted);
  }

  /// True if the item clobbers registers: a decision or a supervisor codelet.
  [[nodiscard]] static bool uses_registers(const Work& item) {
    return item.decision != nullptr ||
           (item.vertex != nullptr && item.vertex->executor == Executor::supervisor);
  }

  /// Returns the number of loads.
  std::size_t hold(const std::vector<std::uint32_t>& wanted) {
    const std::vector<HeldLists::Load> loads = lists_.hold(wanted);
    for (const HeldLists::Load& load : loads) load_data_word(load.to, load.offset);
    return loads.size();
  }

  /// Before an innermost loop: loads once what all iterations need, if registers suffice.
  void hold_for(const FlatLoop& loop, std::size_t number) {
    if (number + 1 < flow_.loops.size() && flow_.loops[number + 1].begin < loop.end) return;
    std::vector<std::uint32_t> lists;
    std::vector<std::uint32_t> codelets;
    for (std::size_t work = next_work_; work < work_.size() && work_[work].step < loop.end;
         ++work) {
      if (uses_registers(work_[work])) return;
      if (work_[work].exchanges())
        lists.push_back(data_.offset[work]);
      else
        codelets.push_back(work_[work].vertex->codelet);
    }
    if (!lists_.can_hold(lists)) return;
    if (branches_[loop.begin - flow_.begin_of_zone(zone_)]) forget();
    hold(lists);
    held_for_ = loop.begin;
    const bool one = !codelets.empty() && std::ranges::count(codelets, codelets.front()) ==
                                              static_cast<std::ptrdiff_t>(codelets.size());
    loaded_codelet_.reset();
    if (one) load_codelet(codelets.front());
  }

  void load_codelet(std::uint32_t id) {
    if (loaded_codelet_ == id) return;
    out_.load_immediate(Reg::a1, codelet_address_.at(id));
    if (overlap_) loaded_codelet_ = id;
  }

  /// True if a step of the zone follows without barrier, loop or branch.
  [[nodiscard]] bool goes_on_to(std::uint32_t step) const {
    return step < flow_.end_of_zone[zone_] && !flow_.steps[step].sync &&
           !branches_[step - flow_.begin_of_zone(zone_)];
  }

  /// True if the next work is a vertex or an exchange of `step`.
  [[nodiscard]] bool works_in(std::uint32_t step) const {
    return next_work_ < work_.size() && work_[next_work_].step == step &&
           work_[next_work_].decision == nullptr;
  }

  void write_vertices(std::uint32_t step) {
    const Vertex* running = nullptr;
    for (; works_in(step); ++next_work_) {
      const Vertex& vertex = *work_[next_work_].vertex;
      const bool together = running != nullptr && running->executor == Executor::one_worker &&
                            vertex.executor == Executor::one_worker;
      if (running != nullptr && !together) out_.control(kJoin);
      write_vertex(vertex, data_.offset[next_work_]);
      running = vertex.executor == Executor::supervisor ? nullptr : &vertex;
    }
    if (running != nullptr) out_.control(kJoin);
  }

  void write_vertex(const Vertex& vertex, std::uint32_t arguments) {
    load_data_address(Reg::a0, arguments);
    if (vertex.executor == Executor::supervisor) {
      forget();
      return out_.call(codelet_address_.at(vertex.codelet));
    }
    load_codelet(vertex.codelet);
    Reg worker = Reg::s1;
    if (vertex.executor == Executor::one_worker) {
      worker = vertex.worker == 0 ? Reg::zero : Reg::t1;
      if (vertex.worker != 0) out_.load_immediate(worker, vertex.worker);
    }
    out_.run(Reg::a1, Reg::a0, worker);
  }

  static bool near(std::uint32_t offset) { return offset < 2 * kDataBias; }
  static std::int32_t biased(std::uint32_t offset) {
    return static_cast<std::int32_t>(offset) - static_cast<std::int32_t>(kDataBias);
  }

  void load_data_address(Reg to, std::uint32_t offset) {
    if (near(offset)) return out_.add_immediate(to, Reg::s0, biased(offset));
    far_.push_back({out_.here(), to, offset});
    out_.load_address(to, 0);
  }

  void load_data_word(Reg to, std::uint32_t offset) {
    if (near(offset)) return out_.load_word(to, Reg::s0, biased(offset));
    load_data_address(to, offset);
    out_.load_word(to, to, 0);
  }

  static Reg counter(const FlatLoop& loop) {
    return static_cast<Reg>(static_cast<std::uint32_t>(Reg::s2) + loop.depth);
  }

  /// Places stacks and data after the code, and patches the pointers to them.
  void set_addresses(const TileConfig& tile) {
    const std::uint32_t stacks = round_up(out_.here(), kStackAlign);
    const std::uint32_t top =
        round_up(stacks + tile.contexts * tile.worker_stack_bytes + tile.supervisor_stack_bytes,
                 kStackAlign);
    code_.image.worker_stacks = Address(stacks);
    code_.stack_bytes = top - out_.here();
    code_.data_begin = top;
    out_.patch_address(stack_pointer_at_, Reg::sp, top);
    out_.patch_address(data_pointer_at_, Reg::s0, top + kDataBias);
    for (const FarAddress& far : far_) out_.patch_address(far.at, far.to, top + far.offset);
  }

  struct FarAddress {
    std::uint32_t at;
    Reg to;
    std::uint32_t offset;
  };

  const Program& program_;
  const Flow& flow_;
  std::uint32_t zone_;
  const TileWork& work_;
  const ControlData& data_;
  bool overlap_;  ///< transfers overlap code; else code waits at each start
  Assembler out_;
  ControlCode code_;
  std::map<std::uint32_t, std::uint32_t> codelet_address_;  // by index in Program::codelets
  std::vector<FarAddress> far_;
  std::vector<bool> branches_;  ///< by step of the zone: a loop begins, ends or branches before it
  std::size_t next_work_ = 0;
  HeldLists lists_;
  std::optional<std::uint32_t> loaded_codelet_;  ///< codelet whose address a1 holds
  std::optional<std::uint32_t> held_for_;        ///< begin of the loop whose registers are all held
  std::uint32_t data_pointer_at_ = 0;
  std::uint32_t stack_pointer_at_ = 0;
};

}  // namespace

ControlCode emit_control(const Program& program, const Flow& flow, std::uint32_t zone,
                         const TileWork& work, const ControlData& data, const TileConfig& tile) {
  ControlWriter near(program, flow, zone, work, data, tile.overlap, Reach::near);
  ControlCode code = near.write(tile);
  if (near.reaches()) return code;
  return ControlWriter(program, flow, zone, work, data, tile.overlap, Reach::far).write(tile);
}

}  // namespace tessera::program
