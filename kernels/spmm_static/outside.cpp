#include "kernels/external.h"
#include "kernels/spmm_static/program.h"

// Products whose operands lie outside the tiles, in rounds of columns.
namespace tessera::spmm_static {

using kernels::PanelFile;
using plan::Loads;

namespace {

/// Parts of equal panels, one a tile: brought in a round or stored in a pass each.
std::function<void(Tile, Loads&)> moves(const EvenStorage& panel, const PanelFile& file,
                                        plan::OuterId outside, BufferId array) {
  return [panel, stride = file.stride(), outside, array](Tile tile, Loads& all) {
    plan::Load one{{array}, outside, panel.begin(tile), panel.bytes_on(tile)};
    one.steps[0] = stride;
    all.push_back(one);
  };
}

class RoundStatement {
 public:
  RoundStatement(const Statement& statement, const Partition& partition,
                 const sparse::BlockMatrix& w)
      : statement_(statement), partition_(partition), w_(w), product_(statement, partition, w) {}

  void state(const data::DenseOperand* x) {
    const BufferId from = statement_.stored(partition_.x_storage(), "x given");
    const BufferId to = statement_.stored(partition_.y_storage(), "y");
    if (partition_.deal.blocks() > 0) bring_values(x != nullptr);
    const PanelFile x_panels{partition_.x_storage().bytes(), partition_.cuts.rounds};
    const PanelFile y_panels{partition_.y_storage().bytes(), partition_.cuts.rounds};
    plan::OuterArray given{"x", x_panels.bytes()};
    if (x != nullptr) given.contents = x_panels.contents(filling(*x));
    const plan::OuterId y = description().outside({"y", y_panels.bytes(), true, {}});
    plan::Rounds rounds = passes("round", partition_.cuts.rounds);
    rounds.overlap = partition_.cuts.loads == kernels::Loads::beside;
    rounds.loaded = {from};
    rounds.loads = moves(partition_.x_storage(), x_panels, description().outside(given), from);
    rounds.stores = moves(partition_.y_storage(), y_panels, y, to);
    description().rounds(
        std::move(rounds), [&](bool /*first*/) { product_.multiply({from}); },
        [&] { product_.add_up(to); });
    if (x != nullptr) description().tensor(result(y, y_panels.stride(), x->columns()));
  }

  [[nodiscard]] std::vector<Tile> representatives() const { return product_.representatives(); }

 private:
  [[nodiscard]] plan::Description& description() const { return statement_.description; }

  /// Each a round of its own, one panel of each matrix.
  [[nodiscard]] plan::Rounds passes(const char* name, std::uint32_t count) const {
    plan::Rounds rounds;
    rounds.name = name;
    rounds.passes = count;
    rounds.tiles = partition_.tiles;
    rounds.radices[1] = rounds.radices[0] = rounds.pass_radices[0] = count;
    return rounds;
  }

  /// Once, in the order in which blocks are dealt.
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

  /// Of X, in chunks of rows, panel by panel.
  [[nodiscard]] PanelFile::Fill filling(const data::DenseOperand& x) const {
    return [&of = partition_, &x](std::uint64_t panel, std::uint64_t at,
                                  std::span<std::byte> into) {
      sparse::Chunked part = chunks_of(of.x_storage(), of.shape, of.columns, of.shape.x_depth(), 0);
      part.column = panel * of.columns;
      sparse::fill_chunks(of.shape.type, x, part, at / of.shape.bytes(), into);
    };
  }

  /// A part a round and tile.
  [[nodiscard]] program::Tensor result(plan::OuterId y, std::uint64_t stride,
                                       std::uint64_t columns) const {
    const EvenStorage storage = partition_.y_storage();
    std::vector<program::TensorPart> parts;
    for (std::uint64_t round = 0; round < partition_.cuts.rounds; ++round)
      for (Tile tile = 0; tile < storage.tiles(); ++tile)
        parts.push_back(
            {program::OuterPlace{y, round * stride + storage.begin(tile)}, storage.bytes_on(tile)});
    return sparse::tensor_of(
        {"Y", program::Role::result, partition_.shape.type, w_.rows, columns}, std::move(parts),
        [storage, shape = partition_.shape, each = partition_.columns](std::size_t part) {
          sparse::Chunked chunks =
              chunks_of(storage, shape, each, shape.block, part % storage.tiles());
          chunks.column = part / storage.tiles() * each;
          return chunks;
        });
  }

  const Statement& statement_;
  const Partition& partition_;
  const sparse::BlockMatrix& w_;
  Product product_;
};

}  // namespace

Described describe_rounds(const Partition& partition, const sparse::BlockMatrix& w,
                          const data::DenseOperand* x, const sparse::TileCode& code,
                          std::uint32_t contexts) {
  Described program{plan::Description(partition.tiles), {}};
  const Statement statement{program.description, code, contexts};
  RoundStatement rounds(statement, partition, w);
  rounds.state(x);
  program.tiles = rounds.representatives();
  if (x == nullptr) return program;
  const Type type = partition.shape.type;
  program.description.tensor(data::tensor_of("X", *x, type));
  sparse::add_given(program.description, {"W", program::Role::weights, type}, w);
  return program;
}

}  // namespace tessera::spmm_static
