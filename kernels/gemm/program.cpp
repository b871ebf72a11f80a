#include "kernels/gemm/program.h"

#include <algorithm>
#include <memory>

#include "kernels/stored.h"

namespace tessera::gemm {

using plan::Description;
using plan::Tile;

namespace {

constexpr std::uint64_t kLeastBytes = 16;  // of an array that code is given

/// State that the steps of a product share; functions of steps keep it. They run after all
/// statements, so they keep `y` as it was when they were stated.
struct Stated {
  Stated(const Geometry& of, const MachineConfig& on, const elf::KernelCode& code,
         Description& description)
      : geometry(of), machine(on), functions(code, description, on.tile.contexts) {}

  [[nodiscard]] bool splits_depth() const { return geometry.plan().split_k > 1; }
  [[nodiscard]] bool y_is_result() const { return !splits_depth() && !geometry.converts(); }
  [[nodiscard]] Cell cell(Tile tile) const { return geometry.cell(tile); }
  /// The cell that a tile's arrays are sized for: in layout natural the fullest.
  [[nodiscard]] Cell size_cell(Tile tile) const { return cell(geometry.natural() ? 0 : tile); }
  [[nodiscard]] Interval share(Tile tile) const { return geometry.y_share(cell(tile)); }
  [[nodiscard]] std::uint64_t pairs(Tile tile) const { return share(tile).size() / kPair; }

  Geometry geometry;
  const MachineConfig& machine;
  Functions functions;
  BufferId x{}, w{}, y{}, received{}, result{};
};

/// Where one operand waits for the superstep that takes it.
struct Source {
  BufferId array;
  std::function<std::vector<Storage::Piece>(const Cell&, std::uint32_t cut)> pieces;
  /// Bytes of a tile that a superstep takes; absent: nobody asks.
  std::function<std::uint64_t(Tile, std::uint32_t cut)> bytes_on = {};
};

class Statement {
 public:
  Statement(const Geometry& geometry, const MachineConfig& machine, const elf::KernelCode& code,
            Description& description)
      : description_(description),
        product_(std::make_shared<Stated>(geometry, machine, code, description)) {}

  /// Layout blocked: A and B lie as the plan wants them.
  void blocked(const Operand* a, const Operand* b) {
    add_arrays();
    x_ = stored(Storage::Role::x, "x stored", a, b);
    w_ = stored(Storage::Role::w, "w stored", a, b);
    add_products();
    if (splits_depth()) add_partials();
    description_.tensor(
        {tensor_of_blocks(geometry()), product_->result,
         [p = product_](Tile tile, program::Runs& runs) {
           add_blocks(p->geometry, tile, {p->geometry.roles()}, runs);
         },
         [p = product_](Tile tile) { return p->geometry.result_bytes(p->cell(tile)); }});
  }

  /// Layout blocked in rounds: others bring A and B of a round to where they wait, and take the
  /// result of a pass.
  RoundSteps given() {
    add_arrays();
    x_ = stored(Storage::Role::x, "x given", nullptr, nullptr, false);
    w_ = stored(Storage::Role::w, "w given", nullptr, nullptr, false);
    return {x_.array, w_.array, product_->result, product_->y_is_result(), {}, {}};
  }
  void round(bool first) { add_products(first, false); }
  void finish() {
    if (splits_depth())
      add_partials();
    else if (geometry().converts())
      description_.compute("packing", tiles(),
                           [p = product_, y = product_->y, &code = product_->functions.packing()](
                               Tile tile, Calls& calls) { add_packing(*p, code, y, tile, calls); });
  }

  /// Layout natural: rows become panels before the product, blocks of Y rows after it.
  void natural(const RowArrays& matrices) {
    // Before the product's long code: a near address takes one instruction.
    product_->functions.regrouping(geometry().block().y_bytes(), false);
    add_arrays();
    const Side x = side(Storage::Role::x, matrices.a);
    const Side w = side(Storage::Role::w, matrices.b);
    add_panels(x, w);
    add_products();
    add_rows_of_y();
    if (splits_depth()) add_partials();
    add_result(matrices.c);
  }

 private:
  struct Side {
    std::shared_ptr<const Panels> panels;
    RowArray given;
    BufferId received, regrouped;
  };

  [[nodiscard]] const Geometry& geometry() const { return product_->geometry; }
  [[nodiscard]] Tile tiles() const { return geometry().tiles(); }
  [[nodiscard]] bool splits_depth() const { return product_->splits_depth(); }

  /// `bytes` of the cell that a tile's part is sized for.
  template <class Bytes>
  BufferId array(std::string_view name, const Bytes& bytes, bool keep = false,
                 bool constant = false) {
    plan::Array array{name,
                      [p = product_, bytes](Tile tile) -> std::uint64_t {
                        if (tile >= p->geometry.tiles()) return 0;
                        return std::max<std::uint64_t>(bytes(p->geometry, p->size_cell(tile)),
                                                       kLeastBytes);
                      },
                      keep};
    array.constant = constant;
    return description_.array(std::move(array));
  }

  void add_arrays() {
    Stated& p = *product_;
    p.result = array(
        p.y_is_result() ? "y" : "result",
        [](const Geometry& g, const Cell& cell) { return g.result_bytes(cell); },
        !geometry().natural());
    p.x = array(
        "x", [](const Geometry& g, const Cell& cell) { return g.x_bytes(cell, 0); }, false, true);
    p.w = array(
        "w", [](const Geometry& g, const Cell& cell) { return g.w_bytes(cell, 0); }, false, true);
    p.y = p.y_is_result() && !geometry().natural() ? p.result : add_y("y");
    if (splits_depth())
      p.received = array("partials", [](const Geometry& g, const Cell& cell) {
        return g.y_share(cell).size() * (g.plan().split_k - 1);
      });
  }

  BufferId add_y(std::string_view name) {
    return array(name, [](const Geometry& g, const Cell& cell) { return g.y_bytes(cell); });
  }

  Source stored(Storage::Role role, std::string_view name, const Operand* a, const Operand* b,
                bool filled = true) {
    const auto storage = std::make_shared<const Storage>(geometry(), role, product_->machine.tiles);
    plan::Array array{
        name, [storage](Tile tile) -> std::uint64_t { return storage->bytes_on(tile); }, false};
    if (filled)
      array.contents = [storage, a, b](Tile tile, std::span<std::byte> into) {
        if (a != nullptr) storage->fill(storage->begin(tile), *a, *b, {}, into);
      };
    const BufferId held = description_.array(std::move(array));
    return {held,
            [storage](const Cell& cell, std::uint32_t cut) { return storage->pieces(cell, cut); },
            [storage](Tile tile, std::uint32_t cut) { return storage->bytes_on(tile, cut); }};
  }

  /// As large on every tile as on the fullest.
  Side side(Storage::Role role, const RowArray& given) {
    const auto panels = std::make_shared<const Panels>(geometry(), role, product_->machine.tiles);
    const auto bytes = [panels, most = panels->bytes_on(0)](Tile tile) -> std::uint64_t {
      return tile < panels->holders() ? most : 0;
    };
    const bool x = role == Storage::Role::x;
    Side made{panels, given, description_.array({x ? "x in rows" : "w in rows", bytes}),
              description_.array({x ? "x panels" : "w panels", bytes})};
    Source& source = x ? x_ : w_;
    source.array = made.regrouped;
    source.pieces = [panels](const Cell& cell, std::uint32_t cut) {
      return panels->pieces(cell, cut);
    };
    return made;
  }

  static void pull_panels(const Side& side, Tile tile, Pulls& pulls) {
    for (const Panel& panel : side.panels->on_tile(tile)) {
      const std::uint64_t row_bytes = panel.chunks * panel.chunk_bytes;
      const std::uint64_t begin = panel.chunk * panel.chunk_bytes;
      for (std::uint64_t row = 0; row < panel.rows; ++row) {
        const std::uint64_t at = panel.offset + row * row_bytes;
        const std::uint64_t first = (panel.row + row) * side.given.stored.pitch() + begin;
        kernels::pull(pulls, {side.received, word(at)}, side.given.stored, side.given.array, first,
                      first + row_bytes);
      }
    }
  }

  void add_panels(const Side& x, const Side& w) {
    const Tile all = product_->machine.tiles;
    description_.exchange(
        "relayout a b", all,
        [x, w](Tile tile, Pulls& pulls) {
          pull_panels(x, tile, pulls);
          pull_panels(w, tile, pulls);
        },
        [x, w](Tile tile) -> std::uint64_t {
          return x.given.stored.bytes_on(tile) + w.given.stored.bytes_on(tile);
        });
    const plan::Function& x_code = regrouping_of(x);
    const plan::Function& w_code = regrouping_of(w);
    description_.compute("relayout a b", all, [x, w, &x_code, &w_code](Tile tile, Calls& calls) {
      for (const Side* side : {&x, &w})
        for (const Panel& panel : side->panels->on_tile(tile))
          calls.add(side == &x ? x_code : w_code, {panel.rows, panel.chunks},
                    {{side->received, panel.offset}, {side->regrouped, panel.offset}});
    });
  }

  const plan::Function& regrouping_of(const Side& side) {
    return product_->functions.regrouping(side.panels->on_tile(0).front().chunk_bytes, true);
  }

  /// `begins`: Y holds nothing yet; `ends`: it is complete then.
  void add_products(bool begins = true, bool ends = true) {
    const std::uint32_t cuts = geometry().plan().cuts;
    for (std::uint32_t cut = 0; cut < cuts; ++cut) {
      std::function<std::uint64_t(Tile)> sends;
      if (x_.bytes_on && w_.bytes_on)
        sends = [x = x_.bytes_on, w = w_.bytes_on, cut](Tile tile) {
          return x(tile, cut) + w(tile, cut);
        };
      description_.exchange(
          "inputs", tiles(),
          [p = product_, x = x_, w = w_, cut](Tile tile, Pulls& pulls) {
            for (const auto& [source, into] : {std::pair{&x, p->x}, std::pair{&w, p->w}})
              kernels::pull(pulls, {into}, source->array, source->pieces(p->cell(tile), cut));
          },
          std::move(sends));
      const plan::Function& code =
          product_->functions.product(geometry().block(), !begins || cut > 0);
      const plan::Function* packs =
          ends && cut + 1 == cuts && !splits_depth() && !geometry().natural() ? packing() : nullptr;
      description_.compute(
          "product", tiles(),
          [p = product_, y = product_->y, cut, &code, packs](Tile tile, Calls& calls) {
            const Cell cell = p->cell(tile);
            calls.add(
                code,
                {p->geometry.rows(cell.row).size(), p->geometry.column_blocks(cell.column).size(),
                 p->geometry.depth_blocks(cell.depth, cut).size()},
                {{p->w}, {p->x}, {y}});
            if (packs != nullptr) add_packing(*p, *packs, y, tile, calls);
          });
    }
  }

  /// f32 partials become f16 results; null if they are of one type.
  const plan::Function* packing() {
    return geometry().converts() ? &product_->functions.packing() : nullptr;
  }

  static void add_packing(const Stated& p, const plan::Function& code, BufferId y, Tile tile,
                          Calls& calls) {
    const Interval share = p.share(tile);
    if (share.size() > 0) calls.add(code, {p.pairs(tile)}, {{y, word(share.begin)}, {p.result}});
  }

  /// From here on the parts of Y are rows.
  void add_rows_of_y() {
    const BufferId blocks = product_->y;
    const BufferId rows = product_->y_is_result() ? product_->result : add_y("y in rows");
    const plan::Function& code =
        product_->functions.regrouping(geometry().block().y_bytes(), false);
    const plan::Function* packs = splits_depth() ? nullptr : packing();
    description_.compute(
        "relayout c", tiles(), [p = product_, blocks, rows, &code, packs](Tile tile, Calls& calls) {
          const Cell cell = p->cell(tile);
          calls.add(
              code,
              {p->geometry.rows(cell.row).size(), p->geometry.column_blocks(cell.column).size()},
              {{blocks}, {rows}});
          if (packs != nullptr) add_packing(*p, *packs, rows, tile, calls);
        });
    product_->y = rows;
  }

  /// All to all within the tiles that share a part of Y: each takes its share of every other's and
  /// adds them up.
  void add_partials() {
    description_.exchange(
        "partials", tiles(), [p = product_, y = product_->y](Tile tile, Pulls& pulls) {
          const Cell to = p->cell(tile);
          const Interval share = p->share(tile);
          std::uint64_t at = 0;
          for (std::uint32_t depth = 0; depth < p->geometry.plan().split_k; ++depth) {
            if (depth == to.depth) continue;
            pulls.push_back({{p->received, word(at)},
                             p->geometry.tile({to.row, to.column, depth}),
                             {y, word(share.begin)},
                             word(share.size())});
            at += share.size();
          }
        });
    const plan::Function& code = product_->functions.adding(geometry().block().partial);
    const plan::Function* packs = packing();
    description_.compute(
        "adding", tiles(), [p = product_, y = product_->y, &code, packs](Tile tile, Calls& calls) {
          const Interval share = p->share(tile);
          if (share.size() == 0) return;
          const Place own{y, word(share.begin)};
          calls.add(code, {p->pairs(tile), p->geometry.plan().split_k - 1},
                    {own, {p->received}, packs != nullptr ? own : Place{p->result}});
          if (packs != nullptr) add_packing(*p, *packs, y, tile, calls);
        });
  }

  /// Rows of C take what they hold of each tile's share of the finished rows.
  void add_result(const RowArray& c) {
    description_.exchange(
        "relayout c", product_->machine.tiles,
        [p = product_, c](Tile tile, Pulls& pulls) {
          c.stored.for_rows(tile, [&](std::uint64_t row, Interval bytes, std::uint32_t at) {
            if (row < p->geometry.roles().rows)
              pull_row(p->geometry, p->result, row, bytes, {c.array, at}, pulls);
          });
        },
        [p = product_](Tile tile) -> std::uint64_t {
          return tile < p->geometry.tiles() ? p->geometry.result_bytes(p->cell(tile)) : 0;
        });
  }

  Description& description_;
  std::shared_ptr<Stated> product_;
  Source x_, w_;
};

}  // namespace

std::vector<Tile> representatives(const Geometry& geometry) {
  std::vector<Tile> tiles{0};
  const std::uint32_t row =
      geometry.pairs_share_x() ? geometry.column_parts() : geometry.row_parts();
  // A pair is divided where a row of an odd number of tiles ends, or a layer; the last has none.
  for (const std::uint32_t end : {row, geometry.row_parts() * geometry.column_parts()})
    if (end % 2 == 1 && end > 1) tiles.push_back(std::min(end, geometry.tiles() - 1));
  // Vector code takes four rows at a time, then two, then one: a row fewer may take longer.
  if (!geometry.block().on_unit() && geometry.row_parts() > 1)
    tiles.push_back(geometry.tile({geometry.row_parts() - 1, 0, 0}));
  return tiles;
}

void describe_program(Description& description, const Geometry& geometry,
                      const MachineConfig& machine, const elf::KernelCode& code, const Operand* a,
                      const Operand* b) {
  if (!geometry.natural()) return Statement(geometry, machine, code, description).blocked(a, b);
  const RowArrays matrices = given_by_rows(geometry, machine.tiles, description, a, b);
  describe_product(description, geometry, machine, code, matrices);
  if (a != nullptr)
    description.tensor(
        tensor_of({"C", program::Role::result, geometry.block().input, {a->rows(), b->columns()}},
                  matrices.c.stored, matrices.c.array));
}

void describe_product(Description& description, const Geometry& geometry,
                      const MachineConfig& machine, const elf::KernelCode& code,
                      const RowArrays& matrices) {
  Statement(geometry, machine, code, description).natural(matrices);
}

RoundSteps round_steps(const Geometry& geometry, const MachineConfig& machine,
                       const elf::KernelCode& code, Description& description) {
  const auto statement = std::make_shared<Statement>(geometry, machine, code, description);
  RoundSteps steps = statement->given();
  steps.round = [statement](bool first) { statement->round(first); };
  steps.finish = [statement] { statement->finish(); };
  return steps;
}

}  // namespace tessera::gemm
