#include "kernels/gemm/program.h"

#include <algorithm>
#include <array>
#include <memory>

#include "kernels/stored.h"

namespace tessera::gemm {

using plan::Description;
using plan::Tile;

namespace {

constexpr std::uint64_t kLeastBytes = 16;  // least bytes of an array passed to tile code

/// State that the functions of a product's steps share and keep. They run after the description is
/// complete, so each captures `y` as of when its step was added.
struct SharedState {
  SharedState(const Geometry& of, const MachineConfig& on, const elf::KernelCode& code,
              Description& description)
      : geometry(of), machine(on), functions(code, description, on.tile.contexts) {}

  [[nodiscard]] bool splits_depth() const { return geometry.plan().split_k > 1; }
  [[nodiscard]] bool y_is_result() const { return !splits_depth() && !geometry.converts(); }
  [[nodiscard]] Cell cell(Tile tile) const { return geometry.cell(tile); }
  /// The cell that determines a tile's array sizes: in layout natural the fullest one.
  [[nodiscard]] Cell size_cell(Tile tile) const { return cell(geometry.natural() ? 0 : tile); }
  [[nodiscard]] Interval share(Tile tile) const { return geometry.y_share(cell(tile)); }
  [[nodiscard]] std::uint64_t pairs(Tile tile) const { return share(tile).size() / kPair; }

  Geometry geometry;
  const MachineConfig& machine;
  Functions functions;
  BufferId x{}, w{}, y{}, received{}, result{};
};

/// Storage of one operand before the superstep that uses it.
struct Source {
  BufferId array;
  std::function<std::vector<Storage::Piece>(const Cell&, std::uint32_t cut)> pieces;
  /// Bytes of a tile that a superstep sends; absent: not needed.
  std::function<std::uint64_t(Tile, std::uint32_t cut)> bytes_on = {};
};

class Statement {
 public:
  Statement(const Geometry& geometry, const MachineConfig& machine, const elf::KernelCode& code,
            Description& description)
      : description_(description),
        product_(std::make_shared<SharedState>(geometry, machine, code, description)) {}

  /// Layout blocked: A and B are stored in the order that the plan needs.
  void blocked(const Operand* a, const Operand* b) {
    add_arrays();
    x_ = stored(Side::x, "x stored", a, b);
    w_ = stored(Side::w, "w stored", a, b);
    add_products();
    if (splits_depth()) add_partials();
    description_.tensor(
        {tensor_of_blocks(geometry()), product_->result,
         [p = product_](Tile tile, program::Runs& runs) {
           add_blocks(p->geometry, tile, {p->geometry.roles()}, runs);
         },
         [p = product_](Tile tile) { return p->geometry.result_bytes(p->cell(tile)); }});
  }

  /// Layout blocked in rounds: the caller loads A and B of a round into the stored arrays, and
  /// stores the result of a pass.
  RoundSteps given() {
    add_arrays();
    x_ = stored(Side::x, "x given", nullptr, nullptr, false);
    w_ = stored(Side::w, "w given", nullptr, nullptr, false);
    return {x_.array, w_.array, product_->result, product_->y_is_result(), {}, {}};
  }
  void round(bool first) { add_products(first, false); }
  void finish() {
    if (splits_depth())
      add_partials();
    else if (geometry().converts())
      description_.compute("packing", tiles(), packing());
  }

  /// Layout natural: converts rows to panels before the product, and blocks of Y to rows after it.
  void natural(const RowArrays& matrices) {
    // Placed before the product's long code, since a near address takes one instruction.
    product_->functions.regrouping(geometry().block().y_bytes(), false);
    add_arrays();
    add_panels({relaid(Side::x, matrices.a), relaid(Side::w, matrices.b)});
    add_products();
    add_rows_of_y();
    if (splits_depth()) add_partials();
    add_result(matrices.c);
  }

 private:
  /// An operand in rows, and its panels.
  struct Relaid {
    std::shared_ptr<const Panels> panels;
    RowArray given;
    BufferId received, regrouped;
    const plan::Function* regrouping;
  };

  [[nodiscard]] const Geometry& geometry() const { return product_->geometry; }
  [[nodiscard]] Tile tiles() const { return geometry().tiles(); }
  [[nodiscard]] bool splits_depth() const { return product_->splits_depth(); }

  /// An array of bytes(geometry, size_cell(tile)) on each tile.
  template <class Bytes>
  BufferId array(std::string_view name, const Bytes& bytes, const plan::Array& of = {}) {
    return kernels::Arrays{description_, tiles()}(
        name,
        [p = product_, bytes](Tile tile) {
          return std::max<std::uint64_t>(bytes(p->geometry, p->size_cell(tile)), kLeastBytes);
        },
        of);
  }

  void add_arrays() {
    SharedState& p = *product_;
    const auto result = [](const Geometry& g, const Cell& cell) { return g.result_bytes(cell); };
    p.result = array(p.y_is_result() ? "y" : "result", result, {.keep = !geometry().natural()});
    const auto brought = [this](Side side, std::string_view name) {
      return array(name,
                   [side](const Geometry& g, const Cell& cell) { return g.bytes(side, cell, 0); },
                   {.constant = true});
    };
    p.x = brought(Side::x, "x");
    p.w = brought(Side::w, "w");
    p.y = p.y_is_result() && !geometry().natural() ? p.result : add_y("y");
    if (splits_depth())
      p.received = array("partials", [](const Geometry& g, const Cell& cell) {
        return g.y_share(cell).size() * (g.plan().split_k - 1);
      });
  }

  BufferId add_y(std::string_view name) {
    return array(name, [](const Geometry& g, const Cell& cell) { return g.y_bytes(cell); });
  }

  Source stored(Side side, std::string_view name, const Operand* a, const Operand* b,
                bool filled = true) {
    const auto storage = std::make_shared<const Storage>(geometry(), side, product_->machine.tiles);
    plan::Array array{name, [storage](Tile tile) { return storage->bytes_on(tile); }};
    if (filled)
      array.contents = [storage, a, b](Tile tile, std::span<std::byte> into) {
        if (a != nullptr) storage->fill(storage->begin(tile), *a, *b, {}, into);
      };
    const BufferId held = description_.array(std::move(array));
    return {held,
            [storage](const Cell& cell, std::uint32_t cut) { return storage->pieces(cell, cut); },
            [storage](Tile tile, std::uint32_t cut) { return storage->bytes_on(tile, cut); }};
  }

  /// Adds an operand's arrays for re-layout, on every tile as large as on the fullest.
  Relaid relaid(Side side, const RowArray& given) {
    const auto panels = std::make_shared<const Panels>(geometry(), side, product_->machine.tiles);
    const kernels::Arrays add{description_, panels->holders()};
    const auto bytes = [most = panels->bytes_on(0)](Tile) { return most; };
    const bool x = side == Side::x;
    const BufferId received = add(x ? "x in rows" : "w in rows", bytes);
    const BufferId regrouped = add(x ? "x panels" : "w panels", bytes);
    (x ? x_ : w_) = {regrouped, [panels](const Cell& cell, std::uint32_t cut) {
                       return panels->pieces(cell, cut);
                     }};
    return {panels, given, received, regrouped,
            &product_->functions.regrouping(panels->on_tile(0).front().chunk_bytes, true)};
  }

  static void pull_panels(const Relaid& side, Tile tile, Pulls& pulls) {
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

  void add_panels(const std::array<Relaid, 2>& sides) {
    const Tile all = product_->machine.tiles;
    description_.exchange(
        "relayout a b", all,
        [sides](Tile tile, Pulls& pulls) {
          for (const Relaid& side : sides) pull_panels(side, tile, pulls);
        },
        [sides](Tile tile) -> std::uint64_t {
          return sides[0].given.stored.bytes_on(tile) + sides[1].given.stored.bytes_on(tile);
        });
    description_.compute("relayout a b", all, [sides](Tile tile, Calls& calls) {
      for (const Relaid& side : sides)
        for (const Panel& panel : side.panels->on_tile(tile))
          calls.add(*side.regrouping, {panel.rows, panel.chunks},
                    {{side.received, panel.offset}, {side.regrouped, panel.offset}});
    });
  }

  /// `begins`: the products overwrite Y; `ends`: Y is complete after them.
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
      const bool packs = ends && cut + 1 == cuts && !splits_depth() && !geometry().natural();
      description_.compute("product", tiles(),
                           [p = product_, y = product_->y, cut, &code, pack = packing(packs)](
                               Tile tile, Calls& calls) {
                             const Cell cell = p->cell(tile);
                             calls.add(code,
                                       {p->geometry.rows(cell.row).size(),
                                        p->geometry.column_blocks(cell.column).size(),
                                        p->geometry.depth_blocks(cell.depth, cut).size()},
                                       {{p->w}, {p->x}, {y}});
                             pack(tile, calls);
                           });
    }
  }

  /// Calls that pack a tile's finished f32 part of Y to f16 results; none if both have one type, or
  /// if not `wanted`.
  std::function<void(Tile, Calls&)> packing(bool wanted = true) {
    if (!wanted || !geometry().converts()) return [](Tile, Calls&) {};
    return [p = product_, y = product_->y, &code = product_->functions.packing()](Tile tile,
                                                                                  Calls& calls) {
      const Interval share = p->share(tile);
      if (share.size() > 0)
        calls.add(code, {p->pairs(tile)}, {{y, word(share.begin)}, {p->result}});
    };
  }

  /// Converts the parts of Y to rows; later steps use these.
  void add_rows_of_y() {
    const BufferId blocks = product_->y;
    const BufferId rows = product_->y_is_result() ? product_->result : add_y("y in rows");
    const plan::Function& code =
        product_->functions.regrouping(geometry().block().y_bytes(), false);
    product_->y = rows;
    description_.compute("relayout c", tiles(),
                         [p = product_, blocks, rows, &code, pack = packing(!splits_depth())](
                             Tile tile, Calls& calls) {
                           const Cell cell = p->cell(tile);
                           calls.add(code,
                                     {p->geometry.rows(cell.row).size(),
                                      p->geometry.column_blocks(cell.column).size()},
                                     {{blocks}, {rows}});
                           pack(tile, calls);
                         });
  }

  /// All-to-all exchange among the tiles that share a part of Y: each receives its share from all
  /// others and adds them.
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
    description_.compute(
        "adding", tiles(),
        [p = product_, y = product_->y, &code, pack = packing()](Tile tile, Calls& calls) {
          const Interval share = p->share(tile);
          if (share.size() == 0) return;
          const Place own{y, word(share.begin)};
          calls.add(code, {p->pairs(tile), p->geometry.plan().split_k - 1},
                    {own, {p->received}, p->geometry.converts() ? own : Place{p->result}});
          pack(tile, calls);
        });
  }

  /// Sends the finished rows from the tiles' shares to the stored rows of C.
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
  std::shared_ptr<SharedState> product_;
  Source x_, w_;
};

}  // namespace

std::vector<Tile> representatives(const Geometry& geometry) {
  std::vector<Tile> tiles{0};
  const std::uint32_t row =
      geometry.pairs_share_x() ? geometry.column_parts() : geometry.row_parts();
  // A pair of tiles spans the end of a row or layer with an odd number of tiles; the last tile may
  // have no partner.
  for (const std::uint32_t end : {row, geometry.layer()})
    if (end % 2 == 1 && end > 1) tiles.push_back(std::min(end, geometry.tiles() - 1));
  // Vector code processes four rows at a time, then two, then one: one row fewer may take longer.
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
