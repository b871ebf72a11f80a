#include "kernels/gemm/array_timeline.h"

#include <algorithm>
#include <optional>

namespace tessera::gemm {
namespace {

using Time = std::uint64_t;

/// Ports of one kind of stream and one way on a node: when each is free.
class Ports {
 public:
  explicit Ports(std::uint32_t count) : free_(count, 0) {}
  [[nodiscard]] Time ready() const { return free_.empty() ? 0 : *std::ranges::min_element(free_); }
  void take(Time until) {
    if (!free_.empty()) *std::ranges::min_element(free_) = until;
  }
  void advance(Time cycles) {
    for (Time& free : free_) free += cycles;
  }

 private:
  std::vector<Time> free_;
};

/// Operands that come step by step to a row or column of cores.
struct OperandChain {
  std::uint32_t memory;
  const StreamTime* load;
  const StreamTime* send;
  Ports* ddr;
  Ports* loads;  ///< of the memory tile
  Ports* sends;
  Time ddr_starts = {}, memory_starts = {};  ///< the next load
  Time cores_start = {};                     ///< the next send
  Time loaded = {}, sent = {};
};

class Timeline {
 public:
  Timeline(const ArrayGrid& grid, const arrays::Array& array, const ArrayTimes& times)
      : grid_(grid), times_(times), rows_(grid.plan.array_rows), columns_(grid.plan.array_columns) {
    blocks_ = grid.row_blocks * grid.column_blocks;
    add_chains(array);
    cores_.assign(std::size_t{rows_} * columns_, 2 * times.start);
    left_.assign(cores_.size(), 0);
    stores_.assign(columns_, Store{Ports(times.store.send_ports)});
  }

  Time run() {
    const std::uint32_t of_list = grid_.plan.list_rows * grid_.column_blocks;
    Settling lists(2);
    for (std::uint32_t first = 0; first < blocks_; first += of_list) {
      run_list(first, std::min(first + of_list, blocks_));
      const std::uint32_t left = (blocks_ - first - 1) / of_list;
      if (left > 1) first += of_list * skip(lists, left - 1);
    }
    Time end = std::max(ddr_, *std::ranges::max_element(memories_));
    for (const Store& store : stores_) end = std::max(end, store.end);
    return std::max(end, *std::ranges::max_element(left_)) + times_.wait;
  }

 private:
  /// From a column's memory tile to DDR.
  struct Store {
    Ports ports;
    std::optional<Time> memory_starts = {}, ddr_starts = {};
    Time gathered = 0;  ///< what is stored next
    Time end = 0;
  };
  /// Ends of parts of the work, until each takes what the one `period` before took.
  class Settling {
   public:
    explicit Settling(std::size_t period) : period_(period) {}
    /// Cycles of a period, if those of the one before are the same.
    std::optional<Time> add(Time end) {
      ends_.push_back(end);
      const std::size_t last = ends_.size() - 1;
      if (last < 3 * period_) return std::nullopt;
      const Time cycles = ends_[last] - ends_[last - period_];
      if (cycles != ends_[last - period_] - ends_[last - 2 * period_]) return std::nullopt;
      ends_.clear();
      return cycles;
    }
    [[nodiscard]] std::uint32_t period() const { return static_cast<std::uint32_t>(period_); }

   private:
    std::size_t period_;
    std::vector<Time> ends_;
  };
  /// Parts of at most `left`, whole periods, that take what those before took: they pass.
  std::uint32_t skip(Settling& parts, std::uint32_t left, bool within_block = false) {
    const std::uint32_t periods = left / parts.period();
    const std::optional<Time> cycles = parts.add(ddr_);
    if (!cycles || periods == 0) return 0;
    advance(*cycles * periods, within_block);
    return periods * parts.period();
  }

  [[nodiscard]] bool begins_list(std::uint32_t block) const {
    return block % (grid_.plan.list_rows * grid_.column_blocks) == 0;
  }
  [[nodiscard]] Time call(std::uint32_t step) const {
    if (step == 0) return times_.calls.front();
    return step + 1 == grid_.steps ? times_.calls.back() : times_.calls[1];
  }

  void add_chains(const arrays::Array& array) {
    memories_.assign(array.columns, 0);
    ddr_a_.emplace(times_.load_a.send_ports);
    ddr_b_.emplace(times_.load_b.send_ports);
    const auto ports = [&](std::uint32_t count) {
      return std::vector<Ports>(array.columns, Ports(count));
    };
    a_loads_ = ports(times_.load_a.receive_ports);
    b_loads_ = ports(times_.load_b.receive_ports);
    a_sends_ = ports(times_.send_a.send_ports);
    b_sends_ = ports(times_.send_b.send_ports);
    for (std::uint32_t memory = 0; memory < array.columns; ++memory) {
      const OperandChain a{memory,   &times_.load_a,    &times_.send_a,
                           &*ddr_a_, &a_loads_[memory], &a_sends_[memory]};
      for (std::uint32_t row = memory; row < rows_; row += array.columns)
        row_chains_.emplace_back(row, add(a));
      if (memory < columns_)
        column_chains_.push_back(add({memory, &times_.load_b, &times_.send_b, &*ddr_b_,
                                      &b_loads_[memory], &b_sends_[memory]}));
    }
    std::ranges::sort(row_chains_);
  }
  std::uint32_t add(OperandChain chain) {
    memories_[chain.memory] += times_.start;
    chain.memory_starts = memories_[chain.memory];
    chain.cores_start = 2 * times_.start;
    chains_.push_back(chain);
    return static_cast<std::uint32_t>(chains_.size() - 1);
  }

  void run_list(std::uint32_t first, std::uint32_t end) {
    Settling blocks(2);
    for (std::uint32_t block = first; block < end; ++block) {
      run_block(block);
      if (block + 2 < end) block += skip(blocks, end - block - 2);
    }
  }
  void run_block(std::uint32_t block) {
    Settling steps(2);
    for (std::uint32_t step = 0; step < grid_.steps; ++step) {
      run_step(block, step);
      if (step > 1 && step + 2 < grid_.steps) step += skip(steps, grid_.steps - step - 2, true);
    }
  }
  /// So many cycles pass; `within_block`: in which no results leave.
  void advance(Time cycles, bool within_block) {
    ddr_ += cycles;
    for (Time& memory : memories_) memory += cycles;
    for (Time& core : cores_) core += cycles;
    for (OperandChain& chain : chains_)
      for (Time* const time : {&chain.ddr_starts, &chain.memory_starts, &chain.cores_start,
                               &chain.loaded, &chain.sent})
        *time += cycles;
    for (std::vector<Ports>* const all : {&a_loads_, &b_loads_, &a_sends_, &b_sends_})
      for (Ports& ports : *all) ports.advance(cycles);
    ddr_a_->advance(cycles);
    ddr_b_->advance(cycles);
    if (within_block) return;
    for (Time& left : left_) left += cycles;
    for (Store& store : stores_) {
      store.ports.advance(cycles);
      store.end += cycles;
      store.gathered += cycles;
      for (std::optional<Time>* const starts : {&store.memory_starts, &store.ddr_starts})
        if (*starts) **starts += cycles;
    }
  }

  void run_step(std::uint32_t block, std::uint32_t step) {
    const bool ends_block = step + 1 == grid_.steps;
    const bool ends = ends_block && block + 1 == blocks_;
    load(block, step, ends || (ends_block && begins_list(block + 1)));
    send(block + step == 0);
    for (std::uint32_t row = 0; row < rows_; ++row)
      for (std::uint32_t column = 0; column < columns_; ++column) compute(row, column, step);
    if (step == std::min(1U, grid_.steps - 1)) store();
    if (!ends_block) return;
    gather(block);
    if (ends || begins_list(block + 1)) store();
    wait_for_stores();
    storing_ = true;
    for (Store& store : stores_) {
      store.ddr_starts = ddr_ += times_.start;
      begin(store);
    }
  }
  void wait_for_stores() {
    if (!storing_) return;
    storing_ = false;
    for (const Store& store : stores_) ddr_ = std::max(ddr_, store.end) + times_.wait;
  }
  void begin(Store& store) {
    if (!store.memory_starts || !store.ddr_starts) return;
    store.end = transfer(times_.store, std::max(*store.memory_starts, *store.ddr_starts),
                         store.ports, nullptr);
    store.memory_starts.reset();
    store.ddr_starts.reset();
  }

  Time transfer(const StreamTime& stream, Time ready, Ports& from, Ports* to) {
    const Time begin = std::max({ready, from.ready(), to != nullptr ? to->ready() : 0});
    const Time end = begin + stream.cycles;
    from.take(end);
    if (to != nullptr) to->take(end);
    return end + times_.fixed;
  }

  void load(std::uint32_t block, std::uint32_t step, bool pauses) {
    if (step == 0 && begins_list(block)) {
      wait_for_stores();
      ddr_ += times_.start + times_.wait;
      for (OperandChain& chain : chains_) chain.ddr_starts = ddr_ += times_.start;
    }
    for (OperandChain& chain : chains_)
      chain.loaded = transfer(*chain.load, std::max(chain.ddr_starts, chain.memory_starts),
                              *chain.ddr, chain.loads);
    for (OperandChain& chain : chains_) {
      ddr_ = std::max(ddr_, chain.loaded) + times_.wait;
      if (!pauses) chain.ddr_starts = ddr_ += times_.start;
    }
  }

  /// What has come to memory tiles is sent on, and the next asked for.
  void send(bool first) {
    for (OperandChain& chain : chains_) {
      Time& memory = memories_[chain.memory];
      memory = std::max(memory, chain.loaded) + times_.wait;
      if (!first) memory = std::max(memory, chain.sent) + times_.wait;
      memory += times_.start;
      chain.sent =
          transfer(*chain.send, std::max(memory, chain.cores_start), *chain.sends, nullptr);
      chain.memory_starts = memory += times_.start;
      chain.cores_start = 0;
    }
  }

  void compute(std::uint32_t row, std::uint32_t column, std::uint32_t step) {
    Time& core = cores_[row * columns_ + column];
    for (const std::uint32_t number : {row_chains_[row].second, column_chains_[column]}) {
      OperandChain& chain = chains_[number];
      core = std::max(core, chain.sent) + times_.wait + times_.start;
      chain.cores_start = std::max(chain.cores_start, core);
    }
    core += call(step);
  }

  /// Tiles of C go to the memory tiles when their cores' ones before have left.
  void gather(std::uint32_t block) {
    for (std::uint32_t column = 0; column < columns_; ++column) {
      Time ready = memories_[column] += times_.start;
      for (std::uint32_t row = 0; row < rows_; ++row) {
        Time& core = cores_[row * columns_ + column];
        if (block > 0) core = std::max(core, left_[row * columns_ + column]) + times_.wait;
        core += times_.start;
        ready = std::max(ready, core);
      }
      Ports ports(times_.results.receive_ports);
      for (std::uint32_t row = 0; row < rows_; ++row) {
        const Time end = std::max(ready, ports.ready()) + times_.results.cycles;
        ports.take(end);
        left_[row * columns_ + column] = end + times_.fixed;
        stores_[column].gathered = end + times_.fixed;
      }
    }
    gathers_ = true;
  }
  /// What memory tiles have gathered goes to DDR.
  void store() {
    if (!gathers_) return;
    gathers_ = false;
    for (std::uint32_t column = 0; column < columns_; ++column) {
      Store& store = stores_[column];
      Time& memory = memories_[column];
      memory = std::max(memory, store.gathered) + times_.wait;
      memory = std::max(memory, store.end) + times_.wait;
      store.memory_starts = memory += times_.start;
      begin(store);
    }
  }

  const ArrayGrid& grid_;
  const ArrayTimes& times_;
  std::uint32_t rows_, columns_;
  std::uint32_t blocks_ = 0;
  std::vector<OperandChain> chains_;  ///< in the order in which DDR and memory tiles take them
  std::vector<std::pair<std::uint32_t, std::uint32_t>> row_chains_;  ///< {row, number}
  std::vector<std::uint32_t> column_chains_;                         ///< numbers
  std::optional<Ports> ddr_a_, ddr_b_;
  std::vector<Ports> a_loads_, b_loads_, a_sends_, b_sends_;  ///< by memory tile
  Time ddr_ = 0;
  std::vector<Time> memories_;
  std::vector<Time> cores_, left_;  ///< by row and column; when results have left
  std::vector<Store> stores_;       ///< by column
  bool gathers_ = false;            ///< results that are not stored yet
  bool storing_ = false;
};

}  // namespace

std::uint64_t timeline_cycles(const ArrayGrid& grid, const arrays::Array& array,
                              const ArrayTimes& times) {
  return Timeline(grid, array, times).run();
}

}  // namespace tessera::gemm
