#include "kernels/external.h"
#include "kernels/spmm_static/program.h"

// Products whose operands lie outside the tiles, in rounds of columns.
namespace tessera::spmm_static {

using kernels::PanelFile;
using plan::Loads;

namespace {

/// Loads or stores of panels of equal size, one per round or pass: each tile moves its part.
std::function<void(Tile, Loads&)> moves(const EvenStorage& panel, const PanelFile& file,
                                        plan::OuterId outside, BufferId array) {
  return [panel, stride = file.stride(), outside, array](Tile tile, Loads& all) {
    plan::Load one{{array}, outside, panel.begin(tile), panel.bytes_on(tile)};
    one.steps[0] = stride;
    all.push_back(one);
  };
}

/// X in external memory, which all parts of W use, and the array that a round loads.
struct GivenX {
  plan::OuterId outside;
  BufferId array;
};

/// States the product of one part of the rows of W.
class RoundStatement {
 public:
  RoundStatement(const Statement& statement, const Partition& partition,
                 const sparse::BlockMatrix& w)
      : statement_(statement), partition_(partition), w_(w), product_(statement, partition, w) {}

  void state(const GivenX& x, bool filled) {
    const BufferId to = statement_.stored(partition_.y_storage(), "y");
    if (partition_.deal.blocks() > 0) bring_values(filled);
    y_ = description().outside({"y", y_panels().bytes(), true, {}});
    plan::Rounds rounds = passes("round", partition_.cuts.rounds);
    rounds.overlap = partition_.cuts.loads == kernels::Loads::beside;
    rounds.loaded = {x.array};
    rounds.loads = moves(partition_.x_storage(), x_panels(partition_), x.outside, x.array);
    rounds.stores = moves(partition_.y_storage(), y_panels(), y_, to);
    description().rounds(
        std::move(rounds), [&](bool /*first*/) { product_.multiply({x.array}); },
        [&] { product_.add_up(to); });
  }

  /// Adds the parts of Y, one per round and tile, and the elements that they hold.
  void add_result(std::uint64_t first_row, std::vector<program::TensorPart>& parts,
                  std::vector<sparse::Chunked>& chunks) const {
    const EvenStorage storage = partition_.y_storage();
    const Shape& shape = partition_.shape;
    for (std::uint64_t round = 0; round < partition_.cuts.rounds; ++round)
      for (Tile tile = 0; tile < storage.tiles(); ++tile) {
        parts.push_back({program::OuterPlace{y_, round * y_panels().stride() + storage.begin(tile)},
                         storage.bytes_on(tile)});
        sparse::Chunked& its = chunks.emplace_back(
            sparse::chunks_on(storage, tile, shape.bytes(), shape.block, partition_.columns));
        its.rows = {first_row, first_row + w_.rows};
        its.column = round * partition_.columns;
      }
  }

  static PanelFile x_panels(const Partition& partition) {
    return {partition.x_storage().bytes(), partition.cuts.rounds};
  }
  [[nodiscard]] std::vector<Tile> representatives() const { return product_.representatives(); }

 private:
  [[nodiscard]] plan::Description& description() const { return statement_.description; }

  /// `count` passes, each with one panel of each matrix.
  [[nodiscard]] plan::Rounds passes(const char* name, std::uint32_t count) const {
    plan::Rounds rounds;
    rounds.name = name;
    rounds.passes = count;
    rounds.tiles = partition_.tiles;
    rounds.radices[1] = rounds.radices[0] = rounds.pass_radices[0] = count;
    return rounds;
  }

  /// Loads the values once, in the distribution order of blocks.
  void bring_values(bool filled) {
    const std::uint64_t size = partition_.shape.bytes();
    plan::OuterArray values{"w", partition_.values() * size};
    if (filled)
      values.contents = [&of = partition_, &w = w_, size](std::uint64_t at,
                                                          std::span<std::byte> into) {
        fill_values(of.deal, w, of.shape, at / size, into);
      };
    const plan::OuterId outside = description().outside(std::move(values));
    plan::Rounds once = passes("w", 1);
    const BufferId into = product_.values_to_come();
    once.loaded = {into};
    once.loads = [given = values_given(partition_), size, outside, into](Tile tile, Loads& all) {
      all.push_back({{into}, outside, given[tile].begin * size, word(given[tile].size() * size)});
    };
    description().rounds(
        std::move(once), [&](bool /*first*/) { product_.share_values(); }, [] {});
  }

  [[nodiscard]] PanelFile y_panels() const {
    return {partition_.y_storage().bytes(), partition_.cuts.rounds};
  }

  const Statement& statement_;
  const Partition& partition_;
  const sparse::BlockMatrix& w_;
  Product product_;
  plan::OuterId y_{};
};

/// Adds X in external memory: chunks of rows, panel by panel.
GivenX given_x(const Statement& statement, const Partition& of, const data::DenseOperand* x) {
  const PanelFile panels = RoundStatement::x_panels(of);
  plan::OuterArray given{"x", panels.bytes()};
  if (x != nullptr)
    given.contents =
        panels.contents([&of, x](std::uint64_t panel, std::uint64_t at, std::span<std::byte> into) {
          sparse::Chunked part = sparse::chunks_on(of.x_storage(), 0, of.shape.bytes(),
                                                   of.shape.x_depth(), of.columns);
          part.column = panel * of.columns;
          sparse::fill_chunks(of.shape.type, *x, part, at / of.shape.bytes(), into);
        });
  return {statement.description.outside(std::move(given)),
          statement.stored(of.x_storage(), "x given")};
}

}  // namespace

Described describe_rounds(std::span<const Partition> partitions,
                          std::span<const sparse::BlockMatrix> parts,
                          const sparse::BlockMatrix& whole, const data::DenseOperand* x,
                          const sparse::TileCode& code, std::uint32_t contexts) {
  const Partition& first = partitions.front();
  Described program(first.tiles);
  const Statement statement{program.description, code, contexts};
  const GivenX given = given_x(statement, first, x);
  std::vector<program::TensorPart> made;
  std::vector<sparse::Chunked> chunks;
  std::uint64_t row = 0;
  for (std::size_t i = 0; i < parts.size(); ++i) {
    RoundStatement rounds(statement, partitions[i], parts[i]);
    rounds.state(given, x != nullptr);
    if (x != nullptr) rounds.add_result(row, made, chunks);
    program.add(rounds.representatives());
    row += parts[i].rows;
  }
  if (x == nullptr) return program;
  const Type type = first.shape.type;
  program::Tensor y{"Y", program::Role::result, type, {whole.rows, x->columns()}};
  y.parts = std::move(made);
  y.runs = sparse::runs_of(whole.rows, x->columns(),
                           [chunks = std::move(chunks)](std::size_t part) { return chunks[part]; });
  program.description.tensor(std::move(y));
  program.description.tensor(data::tensor_of("X", *x, type));
  sparse::add_given(program.description, {"W", program::Role::weights, type, {}}, whole);
  return program;
}

}  // namespace tessera::spmm_static
