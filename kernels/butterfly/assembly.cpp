#include "kernels/butterfly/assembly.h"

#include <algorithm>

#include "sim/data/element.h"

namespace tessera::butterfly {

// Buffers of all rounds and tiles are as large as the largest: all tiles are then packed as the
// sample is.

std::vector<BufferId> Assembly::empty_rows(std::string_view name, bool keep, std::uint32_t times) {
  std::vector<BufferId> buffers;
  for (std::uint32_t t = 0; t < tiles; ++t)
    buffers.push_back(
        add_buffer(t, times * geometry.round(0).bytes(blocked() ? 0 : t), name, keep));
  return buffers;
}

std::vector<BufferId> Assembly::stored(
    const kernels::EvenStorage& storage, std::uint64_t each, std::string_view name,
    const std::function<void(std::uint64_t first, std::span<std::byte>)>& fill) {
  std::vector<BufferId> buffers;
  for (std::uint32_t t = 0; t < (sample() ? 1 : storage.tiles()); ++t)
    buffers.push_back(add_buffer(
        t, each, name, false,
        [fill, first = storage.begin(t), bytes = storage.bytes_on(t)](std::span<std::byte> into) {
          fill(first, into.first(bytes));
        }));
  return buffers;
}

std::uint64_t Assembly::row_bytes() const {
  return StoredRows(geometry.round(0), machine_tiles_).storage().each();
}

std::vector<BufferId> Assembly::given_rows(Values values, std::string_view name, const Rows& rows,
                                           bool keep) {
  if (blocked()) {
    const StoredRows from(geometry, machine_tiles_);
    const std::vector<BufferId> store = stored(
        from.storage(), row_bytes(), name, [from, values, its = operands](auto first, auto into) {
          from.fill(its->*values, first, into);
        });
    std::vector<BufferId> buffers = empty_rows(name);
    if (sample()) {
      inputs_.copies.push_back({{store[0]}, kWordBytes, {{buffers[0]}}});
      const Moved moved = moved_rows(from, from.lines_of(0, rows).size());
      moved_in_.load.sent += moved.load.sent;
      moved_in_.load.received += moved.load.received;
      moved_in_.sends += moved.sends;
      moved_in_.receives += moved.receives;
      return buffers;
    }
    for (std::uint32_t t = 0; t < tiles; ++t)
      for (const StoredRows::Line& line : from.lines_of(t, rows))
        for (const auto& piece : from.storage().pieces(line.begin, line.end))
          inputs_.copies.push_back({{store[piece.tile], piece.offset},
                                    piece.bytes,
                                    {{buffers[t], word(line.at + piece.at)}}});
    return buffers;
  }
  std::vector<BufferId> buffers;
  for (std::uint32_t t = 0; t < tiles; ++t) {
    const auto fill = [this_ = geometry, rows, values, its = operands,
                       t](std::span<std::byte> into) {
      std::fill(into.begin(), into.end(), std::byte{});
      this_.for_values(t, rows, [&](std::uint64_t feature, std::uint64_t column, std::size_t at) {
        data::store_element(this_.problem.type(), into, at,
                            (its->*values).element(feature, column));
      });
    };
    buffers.push_back(add_buffer(t, geometry.bytes(t), name, keep, fill));
  }
  return buffers;
}

/// A tile's lines are cut where stretches begin, a stretch where the lines of tiles do.
Assembly::Moved Assembly::moved_rows(const StoredRows& rows, std::size_t lines) const {
  const std::uint64_t each = rows.storage().each();
  const std::uint64_t bytes = geometry.bytes(0);
  const std::uint64_t units = geometry.round_units().size();
  const std::uint64_t shortest = units / geometry.plan.split_n * (rows.pitch() / units);
  const std::uint64_t pieces = each / shortest + ceil_div(each, rows.pitch()) + 2;
  return {{each, bytes, 0, machine_tiles_}, pieces, lines + ceil_div(bytes, each)};
}

std::vector<BufferId> Assembly::twiddles(const RowPass& pass, std::uint64_t bytes,
                                         const Groups& fill) {
  // What one tile alone takes lies there, as weights do in other products.
  const bool brought = blocked() && geometry.plan.split_n > 1;
  std::vector<BufferId> buffers;
  for (std::uint32_t t = 0; t < tiles; ++t) {
    Contents contents;
    if (!brought)
      contents = [fill, part = geometry.feature_part(t), groups = pass.groups()](auto into) {
        fill(part, {0, groups}, into);
      };
    buffers.push_back(add_buffer(t, bytes, "twiddles", false, std::move(contents)));
  }
  if (!brought) return buffers;
  const StoredTwiddles from(geometry, pass, bytes, machine_tiles_);
  const std::vector<BufferId> store =
      stored(from.storage, from.storage.each(), "twiddles",
             [fill, from, of_part = pass.groups()](std::uint64_t first, std::span<std::byte> into) {
               while (!into.empty()) {
                 const std::uint64_t group = first / from.group_bytes;
                 const std::uint64_t begin = group % of_part;
                 const std::uint64_t count =
                     std::min<std::uint64_t>(into.size() / from.group_bytes, of_part - begin);
                 const std::uint64_t size = count * from.group_bytes;
                 fill(word(group / of_part), {begin, begin + count}, into.first(size));
                 into = into.subspan(size);
                 first += size;
               }
             });
  if (sample()) {
    inputs_.copies.push_back({{store[0]}, kWordBytes / 2, {{buffers[0]}}});
    // Both tiles of a pair take the same where none is left over.
    const bool pairs = geometry.plan.split_features == 1 && geometry.plan.split_n % 2 == 0;
    moved_in_.load.sent += from.storage.each();
    (pairs ? moved_in_.load.shared : moved_in_.load.received) += bytes;
    moved_in_.sends += 2;
    moved_in_.receives += ceil_div(bytes, from.storage.each()) + 1;
    return buffers;
  }
  for (std::uint32_t part = 0; part < geometry.plan.split_features; ++part)
    for (const auto& piece :
         from.storage.pieces(part * from.part_bytes, (part + 1) * from.part_bytes)) {
      program::Copy copy{{store[piece.tile], piece.offset}, piece.bytes, {}};
      for (std::uint32_t t = part; t < tiles; t += geometry.plan.split_features)
        copy.destinations.push_back({buffers[t], piece.at});
      inputs_.copies.push_back(std::move(copy));
    }
  return buffers;
}

std::vector<BufferId> Assembly::twiddles(const RowPass& pass, bool adjoint) {
  return twiddles(pass, twiddle_bytes(geometry.problem, pass),
                  [pass, adjoint, its = operands](std::uint32_t part, Interval groups,
                                                  std::span<std::byte> into) {
                    its->twiddles.fill(pass, part, adjoint, groups, into);
                  });
}

void Assembly::add_inputs() {
  if (inputs_.copies.empty()) return;
  moved_in_.load.tiles = machine_tiles_;
  add(std::exchange(inputs_, {"inputs", {}}), std::exchange(moved_in_, {}));
}

void Assembly::add_results() {
  for (std::uint32_t round = 0; round < geometry.plan.rounds && blocked(); ++round) {
    for (std::uint32_t t = 0; t < program.tiles(); ++t)
      results_.push_back(add_buffer(t, row_bytes(), "y", true));
  }
}

void Assembly::finish_rows(const std::vector<BufferId>& buffers, const Rows& rows) {
  if (!blocked()) return;
  const StoredRows to(geometry, machine_tiles_);
  const std::size_t first = std::size_t{geometry.number} * program.tiles();
  program::Exchange exchange{"results", {}};
  if (sample()) {
    exchange.copies.push_back({{buffers[0]}, kWordBytes, {{results_[first]}}});
    Moved moved = moved_rows(to, to.lines_of(0, rows).size());
    std::swap(moved.load.sent, moved.load.received);
    std::swap(moved.sends, moved.receives);
    return add(std::move(exchange), moved);
  }
  for (std::uint32_t t = 0; t < tiles; ++t)
    for (const StoredRows::Line& line : to.lines_of(t, rows))
      for (const auto& piece : to.storage().pieces(line.begin, line.end))
        exchange.copies.push_back({{buffers[t], word(line.at + piece.at)},
                                   piece.bytes,
                                   {{results_[first + piece.tile], piece.offset}}});
  add(std::move(exchange), {});
}

/// Blocks of rows go to the tiles whose number they will have in common.
void Assembly::add_swap(const Swap& swap, const std::vector<BufferId>& buffers) {
  program::Exchange exchange{"swap", {}};
  const std::uint32_t ways = 1U << swap.bits;
  for (std::uint32_t t = 0; t < tiles; ++t) {
    const std::uint32_t block = word(geometry.bytes(t) >> swap.bits);
    const std::uint32_t own = t >> swap.tile_place & (ways - 1);
    for (std::uint32_t way = 0; way < ways; ++way) {
      if (way == own) continue;
      const std::uint32_t to = t ^ (own ^ way) << swap.tile_place;
      const std::uint32_t taker = operands == nullptr ? t : to;
      const std::uint32_t at = operands == nullptr ? way : own;
      exchange.copies.push_back({{buffers[t], way * block}, block, {{buffers[taker], at * block}}});
    }
  }
  add(std::move(exchange));
}

void Assembly::end_set() {
  if (!set_.vertices.empty())
    program.main().steps.push_back({std::exchange(set_, {"factors", {}})});
}

void Assembly::add(program::Exchange exchange) {
  const Moved moved = kernels::sample_exchange(exchange, geometry.tiles());
  add(std::move(exchange), moved);
}

void Assembly::add(program::Exchange exchange, const Moved& moved) {
  end_set();
  program.main().steps.push_back({std::move(exchange)});
  exchanges_.push_back(moved);
}

kernels::Sample Assembly::take() {
  end_set();
  return {std::move(program), std::move(exchanges_)};
}

}  // namespace tessera::butterfly
