#include "kernels/spmm_static/product.h"

namespace tessera::spmm_static {

void pull_chunk(const Partition& partition, const Part& part, const std::vector<DenseRows>& from,
                const std::vector<BufferId>& x, std::uint64_t row, Interval bytes, Place into,
                Pulls& pulls) {
  std::size_t operand = from.size() - 1;
  while (from[operand].first > row) --operand;
  const auto& [before, storage] = from[operand];
  const std::uint64_t depth = partition.shape.x_depth();
  const std::uint64_t first =
      ((row - before) * partition.columns + part.begin * depth) * partition.shape.bytes();
  sparse::pull(pulls, into, storage, x[operand], first + bytes.begin, first + bytes.end);
}

void pull_dense_rows(const Partition& partition, const Part& part,
                     const std::vector<DenseRows>& from, const std::vector<BufferId>& x,
                     const std::vector<std::uint32_t>& blocks, BufferId into, Pulls& pulls) {
  const std::uint64_t depth = partition.shape.x_depth();
  const std::uint64_t bytes = part.width() * depth * partition.shape.bytes();
  const std::uint64_t runs = partition.shape.block / depth;
  for (std::size_t i = 0; i < blocks.size() * runs; ++i)
    pull_chunk(partition, part, from, x, (blocks[i / runs] * runs + i % runs) * depth, {0, bytes},
               {into, word(i * bytes)}, pulls);
}

std::vector<Interval> values_given(const Partition& partition) {
  std::vector<Interval> numbers(partition.tiles, {0, 0});
  const EvenStorage storage = partition.value_storage();
  const std::uint64_t size = partition.shape.bytes();
  for (Tile tile = 0; partition.shares_values() && tile < partition.tiles; ++tile)
    numbers[tile] = {storage.begin(tile) / size, storage.begin(tile + std::uint64_t{1}) / size};
  if (partition.shares_values()) return numbers;
  const auto& first = partition.deal.value_begin;
  for (const Part& part : partition.parts)
    for (const Share& share : partition.layer(part).shares)
      numbers[part.first_tile + share.place] = {first[share.first], first[share.last]};
  return numbers;
}

namespace {

/// Pulls a tile's values, in the same pieces as tiles of other parts.
void pull_values(const Work& work, Tile tile, BufferId from, BufferId into, Pulls& pulls) {
  const std::uint32_t size = work.partition.shape.bytes();
  const std::uint64_t first = work.values(tile).begin * size;
  const std::uint64_t last = work.values(tile).end * size;
  auto end = std::ranges::upper_bound(work.value_bounds, first);
  for (std::uint64_t at = first; at < last; at = *end++)
    sparse::pull(pulls, {into, word(at - first)}, work.partition.value_storage(), from, at,
                 std::min(*end, last));
}

/// Per row of a share: its number of blocks (less one if shape.block > 1), then the place of each
/// block's rows of X.
std::vector<std::uint16_t> row_list(const Partition& partition, const Part& part,
                                    const Share& share) {
  const unsigned less = partition.shape.block == 1 ? 0 : 1;
  std::vector<std::uint16_t> list;
  list.reserve(share.rows.size() + share.blocks());
  for (const RowRun& run : share.rows) {
    list.push_back(static_cast<std::uint16_t>(run.last - run.first - less));
    for (std::uint64_t e = run.first; e < run.last; ++e)
      list.push_back(static_cast<std::uint16_t>(partition.place(part, share, e)));
  }
  return list;
}

/// Offsets of each worker's rows in the list and in the values.
std::vector<WorkerPart> worker_parts(const Partition& partition, const Share& share,
                                     const std::vector<sparse::WorkerRows>& workers) {
  const auto& value = partition.deal.value_begin;
  std::vector<WorkerPart> parts;
  for (const sparse::WorkerRows& worker : workers) {
    const std::uint64_t before =
        worker.rows == 0 ? share.first : share.rows[worker.first_row].first;
    parts.push_back({word(before - share.first + worker.first_row),
                     word(value[before] - value[share.first]), worker});
  }
  return parts;
}

}  // namespace

Product::Product(const Statement& statement, const Partition& partition,
                 const sparse::BlockMatrix& w, std::string name, Region region)
    : statement_(statement),
      work_(std::make_shared<const Work>(partition, w)),
      name_(std::move(name)),
      region_(region) {}

plan::Description& Product::step(bool measured) {
  if (region_ != Region::all) statement_.description.measure(measured);
  return statement_.description;
}

void Product::add_steps(const std::vector<BufferId>& x, BufferId results) {
  multiply(x);
  add_up(results);
}

BufferId Product::values_to_come() {
  to_come_ = begun_ = true;
  add_values();
  return values_.value_or(w_);
}

void Product::share_values() {
  if (!values_) return;
  step(region_ == Region::all)
      .exchange(name_ + "w", work_->partition.tiles,
                [work = work_, from = *values_, into = w_](Tile tile, Pulls& pulls) {
                  pull_values(*work, tile, from, into, pulls);
                });
}

void Product::multiply(const std::vector<BufferId>& x) {
  if (work_->partition.deal.blocks() == 0) return;
  x_ = array("x needed", &Work::x_bytes, true);
  partials_ = array("partial rows", &Work::partial_bytes);
  const bool first = !std::exchange(begun_, true);
  if (first) add_values();
  if (first && change_) change_(values_.value_or(w_));
  add_inputs(x, first && values_);
  const ProductPlaces places{{w_}, {x_}, {list_}, {partials_}};
  const Shape& shape = work_->partition.shape;
  const Multiply multiply = shape.block == 1  ? element_products(places)
                            : shape.on_unit() ? block_products(places)
                                              : vector_products(places);
  step(region_ != Region::add)
      .compute(name_ + "multiply", work_->partition.tiles,
               [work = work_, multiply](Tile tile, Calls& calls) {
                 const auto& [part, share] = work->cells[tile];
                 if (share != nullptr) multiply(*part, *share, calls);
               });
}

/// Adds the arrays of W's values, as given and as needed, and the work lists.
void Product::add_values() {
  const auto fill = [work = work_](std::uint64_t first, std::span<std::byte> into) {
    fill_values(work->partition.deal, work->w, work->partition.shape, first, into);
  };
  if (work_->partition.shares_values() && !values_)
    values_ = statement_.stored(
        work_->partition.value_storage(), "w",
        to_come_ ? Statement::Contents()
                 : [work = work_, fill](Tile tile, std::span<std::byte> into) {
                     const Partition& of = work->partition;
                     fill(of.value_storage().begin(tile) / of.shape.bytes(), into);
                   });
  plan::Array needed{
      "w needed", [work = work_](Tile tile) -> std::uint64_t { return work->value_bytes(tile); }};
  if (!values_ && !to_come_)
    needed.contents = [work = work_, fill](Tile tile, std::span<std::byte> into) {
      fill(work->values(tile).begin, into);
    };
  w_ = statement_.description.array(std::move(needed));
  list_ = statement_.list(
      "list",
      [work = work_](Tile tile) -> std::uint64_t {
        const Share* const share = work->cells[tile].share;
        return share == nullptr ? 0 : share->rows.size() + share->blocks();
      },
      [work = work_](Tile tile) {
        const auto& [part, share] = work->cells[tile];
        return row_list(work->partition, *part, *share);
      });
}

void Product::add_inputs(const std::vector<BufferId>& x, bool values) {
  step(region_ == Region::all)
      .exchange(
          name_ + (values ? "x and w" : "x"), work_->partition.tiles,
          [work = work_, x, values, from = values_, into = x_, w = w_](Tile tile, Pulls& pulls) {
            const auto& [part, share] = work->cells[tile];
            if (share == nullptr) return;
            const Partition& of = work->partition;
            pull_dense_rows(of, *part, of.x, x, share->columns, into, pulls);
            if (values) pull_values(*work, tile, *from, w, pulls);
          });
}

Product::Multiply Product::block_products(const ProductPlaces& places) const {
  const Shape& shape = work_->partition.shape;
  return [&shape, places,
          &function = statement_.description.function(block_function(statement_, shape))](
             const Part& part, const Share& share, Calls& calls) {
    const std::uint64_t rows = share.rows.size();
    calls.add(function, {rows, share.blocks() - rows + 1, part.width() / shape.unroll()},
              {places.values, places.x, places.list, places.partials});
  };
}

Product::Multiply Product::vector_products(const ProductPlaces& places) const {
  const Partition& of = work_->partition;
  std::map<Sharing, const plan::Function*> functions;
  for (const auto& [width, sharings] : of.sharings)
    for (const auto& [sharing, price] : sharings)
      if (const auto [its, is_new] = functions.try_emplace(sharing); is_new)
        its->second =
            &statement_.description.function(vector_function(statement_, of.shape, sharing));
  return [&of, places, functions, code = block_codelet(statement_, of.shape)](
             const Part& part, const Share& share, Calls& calls) {
    const Shared all = share_out(share, of.sharings.at(part.width()), part.width(), code.contexts);
    calls.add_held(vector_product(code, of.shape, places, part.width(), all.sharing.together,
                                  worker_parts(of, share, all.workers)),
                   *functions.at(all.sharing), {all.rows, all.blocks - all.rows + 1, part.width()});
  };
}

Product::Multiply Product::element_products(const ProductPlaces& places) const {
  const Shape& shape = work_->partition.shape;
  std::map<std::uint32_t, Codelet> codes;  // by words of a pass; the wide one is added first
  for (const Part& part : work_->partition.parts)
    for (const std::uint32_t words : {2U, 1U})
      if (words == 2 ? part.width() * shape.bytes() >= 16 : part.width() * shape.bytes() % 16 != 0)
        codes.try_emplace(words, element_codelet(statement_, shape, words));
  return [work = work_, places, codes](const Part& part, const Share& share, Calls& calls) {
    const Partition& of = work->partition;
    for (const auto& [words, divided] :
         work->element_shares({&part, &share}, codes.begin()->second.contexts))
      calls.add_held(element_product(codes.at(words), of.shape, places, part.width(), words,
                                     worker_parts(of, share, divided.workers)),
                     divided.cycles);
  };
}

}  // namespace tessera::spmm_static
