#include "kernels/spmm_dynamic/program.h"

#include "kernels/gemm/vertices.h"
#include "kernels/spmm_dynamic/pricer.h"

namespace tessera::spmm_dynamic {

namespace {

constexpr std::uint32_t kHomeOffset = 2;  // byte offset of the pool's home in its head

class Statement {
 public:
  Statement(plan::Description& description, const Parts& parts, const sparse::TileCode& code,
            const DataTimes& decided, const std::shared_ptr<const Given>& given)
      : d_(description),
        steps_{description, code, parts.pool.contexts},
        s_(std::make_shared<Arrays>(parts)),
        decided_(decided),
        dense_(code.gemm, description, parts.pool.contexts) {
    s_->given = given;
  }

  BufferId state() {
    const bool whole = s_->problem.region == Region::all;
    d_.measure(whole);
    const BufferId results = add_results();
    add_pools();
    add_operands();
    if (shape().natural()) add_rows_in();
    if (grid().x > 1 || grid().z > 1 || (shape().gradient && grid().y > 1))
      d_.exchange("distribute", tiles(),
                  [s = s_](Tile tile, Pulls& pulls) { s->pull_operands(tile, pulls); });
    add_products(whole);
    d_.measure(true);
    if (grid().partitions() > 1) add_propagation();
    d_.measure(whole);
    add_sums();
    if (s_->rows_wanted()) add_rows_out(results);
    return results;
  }

 private:
  using Contents = std::function<void(Tile, std::span<std::byte>)>;

  [[nodiscard]] const Shape& shape() const { return s_->shape(); }
  [[nodiscard]] const Grid& grid() const { return s_->grid(); }
  [[nodiscard]] Tile tiles() const { return grid().tiles(); }

  // --- arrays ------------------------------------------------------------------------------------

  /// An array of `bytes(parts, cell)` bytes on every tile of the grid.
  template <class Bytes>
  BufferId array(std::string_view name, const Bytes& bytes, Contents contents = {},
                 bool keep = false) {
    return d_.array({name,
                     [s = s_, bytes](Tile tile) -> std::uint64_t {
                       return tile < s->grid().tiles() ? bytes(*s, s->cell(tile)) : 0;
                     },
                     keep, std::move(contents)});
  }
  BufferId array(std::string_view name, std::uint32_t bytes) {
    return array(name, [bytes](const Parts&, const Cell&) { return bytes; });
  }

  /// An array of the rows of a dense matrix in layout natural: an operand, or (null) the kept
  /// results.
  sparse::RowArray rows(std::string_view name, std::uint32_t block_rows,
                        const data::DenseOperand* Given::*operand) {
    const EvenStorage storage = row_storage(s_->problem, grid(), block_rows);
    const auto part = [storage, bytes = shape().bytes(), width = s_->width()](Tile tile) {
      return sparse::chunks_on(storage, tile, bytes, 1, width);
    };
    Contents fill;
    if (operand != nullptr) fill = sparse::contents_of(shape().type, s_->operand(operand), part);
    return {storage, shape().bytes(),
            steps_.stored(storage, name, std::move(fill), operand == nullptr)};
  }

  /// Adds the arrays of results; returns the one that the host reads.
  BufferId add_results() {
    const bool rows_wanted = s_->rows_wanted();
    const BufferId wanted =
        rows_wanted ? rows("results", s_->problem.block_rows, nullptr).array : BufferId{};
    s_->results = array(
        rows_wanted ? "result blocks" : "results",
        [](const Parts& p, const Cell& cell) { return p.result_bytes(cell); }, {}, !rows_wanted);
    return rows_wanted ? wanted : s_->results;
  }

  /// A tile's bucket, an equal part of its partition's pool, is rewritten before each run.
  void add_pools() {
    const bool alone = grid().z == 1;
    const std::uint32_t each = alone ? s_->bytes.pool : s_->bytes.pool_slice;
    s_->bucket = d_.array({"bucket",
                           [all = tiles(), each](Tile tile) { return tile < all ? each : 0; },
                           false,
                           {},
                           8,
                           program::Category::tensors,
                           [s = s_](Tile tile, std::span<std::byte> into, std::uint32_t run) {
                             if (s->given != nullptr) s->fill_bucket(tile, run, into);
                           }});
    const auto whole = [](const Parts& p, const Cell&) { return p.bytes.pool; };
    s_->pools[0] = alone ? s_->bucket : array("bucket pool", whole);
    s_->pools[1] = array("bucket pool", whole);
    s_->flags = array("flags", kFlagBytes);
  }

  void add_operands() {
    const Buffers& bytes = s_->bytes;
    s_->x_slice = dense("x", s_->problem.block_columns, &Given::x, &Parts::x_part);
    s_->x = grid().x == 1 ? s_->x_slice : array("x", bytes.x);
    if (shape().gradient) {
      s_->y_slice = dense("yg", s_->problem.block_rows, &Given::yg, &Parts::yg_part);
      s_->y = grid().y == 1 ? s_->y_slice : array("yg", bytes.y);
    } else {
      s_->y = array("partial results", bytes.y);
    }
    s_->received = array("received", [](const Parts& p, const Cell& cell) {
      return (p.bytes.parts - 1) * p.share(cell).size() * kChunkBytes;
    });
  }

  using PartOf = sparse::Chunked (Parts::*)(const Cell&) const;
  [[nodiscard]] std::function<sparse::Chunked(Tile)> part_on(PartOf part) const {
    return [s = s_, part](Tile tile) {
      return tile < s->grid().tiles() ? ((*s).*part)(s->cell(tile)) : sparse::Chunked{{}, 1, 1, {}};
    };
  }

  /// The array that a cell distributes along its column (row) of tiles; in layout natural it is
  /// converted from rows.
  BufferId dense(std::string_view name, std::uint32_t block_rows,
                 const data::DenseOperand* Given::*operand, PartOf part) {
    const auto bytes = [part](const Parts& p, const Cell& cell) {
      return (p.*part)(cell).elements.size() * p.shape().bytes();
    };
    if (!shape().natural())
      return array(name, bytes,
                   sparse::contents_of(shape().type, s_->operand(operand), part_on(part)));
    const bool x = part == &Parts::x_part;
    const BufferId blocks = array(name, bytes);
    const BufferId panels = x && shape().x_depth() > 1 ? array("x panels", bytes) : blocks;
    rows_in_.push_back({rows(x ? "x by rows" : "yg by rows", block_rows, operand), panels, part});
    return blocks;
  }

  // --- steps -------------------------------------------------------------------------------------

  /// Layout natural: converts rows to the initial arrays of layout blocked.
  void add_rows_in() {
    d_.exchange(
        "relayout x", tiles(),
        [s = s_, all = rows_in_](Tile tile, Pulls& pulls) {
          for (const RowsIn& one : all)
            sparse::pull_panels(one.rows, ((*s).*one.part)(s->cell(tile)), one.panels, pulls);
        },
        [all = rows_in_](Tile tile) {
          std::uint64_t sent = 0;
          for (const RowsIn& one : all) sent += one.rows.storage.bytes_on(tile);
          return sent;
        });
    if (shape().x_depth() > 1)
      turn("relayout x", &Parts::x_part, rows_in_.front().panels, s_->x_slice,
           sparse::Direction::to_blocks);
  }

  void add_rows_out(BufferId wanted) {
    BufferId panels = s_->results;
    if (shape().y_depth() > 1) {
      panels = array("result panels",
                     [](const Parts& p, const Cell& cell) { return p.result_bytes(cell); });
      turn("relayout y", &Parts::result_part, s_->results, panels, sparse::Direction::to_rows);
    }
    const sparse::RowArray to{row_storage(s_->problem, grid(), s_->problem.block_rows),
                              shape().bytes(), wanted};
    d_.exchange(
        "relayout y", tiles(),
        [s = s_, to, panels](Tile tile, Pulls& pulls) {
          const auto holder = [&](std::uint64_t row, std::uint64_t column) -> sparse::Holder {
            const Cell cell = s->holder(row, column);
            return {s->grid().tile(cell), s->result_part(cell)};
          };
          sparse::pull_rows(to, s->width(), tile, panels, holder, pulls);
        },
        [s = s_](Tile tile) -> std::uint64_t { return s->result_bytes(s->cell(tile)); });
  }

  void turn(const char* step, PartOf part, BufferId from, BufferId to,
            sparse::Direction direction) {
    sparse::add_turning(steps_, step, tiles(), shape().type, part_on(part), direction, from, to);
  }

  /// Clears partial results, then adds the products to them.
  void add_products(bool whole) {
    product_code_ = steps_.codelet(product_codelet(shape()));
    const auto multiply = product(0, decided_.own);
    if (shape().gradient) d_.measure(true);
    if (shape().gradient) return d_.compute("multiply", tiles(), multiply);
    const auto clear = [s = s_, &code = zeroing(steps_)](Tile /*tile*/, Calls& calls) {
      calls.add(code, {s->bytes.y / kWord}, {{s->y}});
    };
    if (!whole) d_.compute("zero", tiles(), clear);
    d_.measure(true);
    d_.compute("multiply", tiles(), [clear, multiply, whole](Tile tile, Calls& calls) {
      if (whole) clear(tile, calls);
      multiply(tile, calls);
    });
  }

  /// The product of a tile with its sub-groups in the pool in buffer `side`.
  [[nodiscard]] std::function<void(Tile, Calls&)> product(int side, std::uint64_t cycles) const {
    return [s = s_, code = product_code_, cycles, side](Tile tile, Calls& calls) {
      const PoolPlaces places{s->pools[side], s->x, s->y, s->flags};
      calls.add(spmm_dynamic::product(code, s->pool, s->bytes.meta, s->cell(tile), places), cycles);
    };
  }

  /// Handles blocks spilled into other partitions' pools: the pools travel along y and along x
  /// while any tile's flag is set, and each tile computes its sub-groups in the pool that it holds.
  /// Pools travel in pairs of steps, so that they end in buffer 0. Pools of gradients travel back
  /// home.
  void add_propagation() {
    const std::uint32_t y_turns = decided_.y_steps / 2;
    const std::uint32_t first = grid().x > 1 ? ceil_div(y_turns, 2U) : y_turns;
    const std::uint32_t rounds = grid().x > 1 ? decided_.x_steps / 2 : std::min(y_turns, 1U);
    loop("spilled", Flag::spilled, rounds, [&] {
      along_y(0, first);
      if (grid().x == 1) return;
      step(&Cell::x, 0);
      along_y(1, y_turns - first);
      step(&Cell::x, 1);
    });
    if (!shape().gradient) return;
    compare();
    go_home(&Cell::y, "away along y", Flag::away_along_y, decided_.y_steps);
    go_home(&Cell::x, "away along x", Flag::away_along_x, decided_.x_steps);
  }

  /// Pairs of steps while a pool holds sub-groups for the part of the rows where it is.
  void along_y(int side, std::uint32_t turns) {
    if (grid().y == 1) return;
    loop("spilled here", Flag::spilled_here, turns, [&] {
      step(&Cell::y, side);
      step(&Cell::y, 1 - side);
    });
  }

  /// Every pool moves one tile back along the axis; the receiving tile computes its sub-groups.
  void step(Axis along, int from) {
    shift(along, from, 1);
    d_.compute("multiply spilled", tiles(), product(1 - from, decided_.spilled));
  }

  /// Every tile receives the pool of the tile `ahead` tiles ahead, from buffer `from` into the
  /// other.
  void shift(Axis along, int from, std::uint32_t ahead) {
    d_.exchange(along == &Cell::x ? "shift x" : "shift y", tiles(),
                [s = s_, along, from, ahead, all = grid().sizes().*along](Tile tile, Pulls& pulls) {
                  Cell at = s->cell(tile);
                  at.*along = (at.*along + ahead) % all;
                  pulls.push_back(
                      {{s->pools[1 - from]}, s->grid().tile(at), {s->pools[from]}, s->bytes.pool});
                });
  }

  /// Pools travel back in pairs of steps, as on the way out, so that they end in buffer 0.
  void go_home(Axis along, const char* name, Flag flag, std::uint32_t steps) {
    const std::uint32_t all = grid().sizes().*along;
    if (all == 1) return;
    loop(name, flag, turns_home(steps, all), [&] {
      shift(along, 0, all - 1);
      shift(along, 1, all - 1);
      compare();
    });
  }

  void compare() {
    const auto vertex = [codelet = steps_.codelet("pool_away")](const Cell& home, Place pool,
                                                                Place flags) {
      return codelet.supervised({pool, home.x, home.y, flags});
    };
    const plan::Function& code = d_.function(
        {"pool_away",
         {},
         [vertex](const Sizes&, std::span<const Place> at) { return vertex({}, at[0], at[1]); },
         [](const Sizes&) { return std::vector<std::uint64_t>(2, kFlagBytes); }});
    d_.compute("compare with home", tiles(), [s = s_, vertex, &code](Tile tile, Calls& calls) {
      const Place home{s->pools[0], kHomeOffset};
      calls.add(vertex(s->cell(tile), home, s->flag(Flag::away_along_y)), code, {});
    });
  }

  /// A loop while `flag` is set; the tiles of a partition agree, so one of each is asked.
  template <class Body>
  void loop(const std::string& name, Flag flag, std::uint32_t turns, const Body& body) {
    std::vector<Tile> asked;
    for (Tile tile = 0; tile < tiles(); ++tile)
      if (s_->cell(tile).z == 0) asked.push_back(tile);
    d_.while_any(name, std::move(asked), s_->flag(flag), turns, body);
  }

  /// Sends partial results to the tiles that sum them; adds and packs them.
  void add_sums() {
    const bool adds = s_->bytes.parts > 1;
    const bool packs = shape().mixed();
    if (adds || !packs)
      d_.exchange("send partial results", tiles(),
                  [s = s_](Tile tile, Pulls& pulls) { s->pull_partials(tile, pulls); });
    if (!adds && !packs) return;
    const plan::Function* adding = adds ? &dense_.adding(shape().partials) : nullptr;
    const plan::Function* packing = packs ? &dense_.packing() : nullptr;
    d_.compute("add", tiles(), [s = s_, adding, packing](Tile tile, Calls& calls) {
      const Interval share = s->share(s->cell(tile));
      if (share.size() == 0) return;
      const Place own = s->partial(share.begin);
      if (adding != nullptr)
        calls.add(*adding, {share.size(), s->bytes.parts - 1},
                  {own, {s->received}, packing != nullptr ? own : Place{s->results}});
      if (packing != nullptr) calls.add(*packing, {share.size()}, {own, {s->results}});
    });
  }

  struct RowsIn {
    sparse::RowArray rows;
    BufferId panels;
    PartOf part;
  };

  plan::Description& d_;
  sparse::Statement steps_;
  std::shared_ptr<Arrays> s_;
  DataTimes decided_;
  gemm::Functions dense_;
  std::vector<RowsIn> rows_in_;  ///< layout natural: X, Yg
  sparse::Codelet product_code_{};
};

}  // namespace

BufferId state_program(plan::Description& description, const Parts& parts,
                       const sparse::TileCode& code, const DataTimes& decided,
                       const std::shared_ptr<const Given>& given) {
  return Statement(description, parts, code, decided, given).state();
}

std::vector<Tile> representatives(const Grid& grid) {
  const std::uint32_t alike = grid.alike();
  if (alike % 2 == 1 && alike > 1) return {0, alike - 1};
  return {0};
}

}  // namespace tessera::spmm_dynamic
