#pragma once

#include <cstdint>
#include <functional>
#include <vector>

/// How the workers of a tile divide rows of unequal work, which they go through in passes.
namespace tessera::sparse {

/// What one worker does: these rows in these passes.
struct WorkerRows {
  std::uint32_t first_row = 0;
  std::uint32_t rows = 0;
  std::uint32_t first_pass = 0;
  std::uint32_t passes = 0;
};

/// Rectangles of rows and passes, one a worker, some of them empty. `before`: the work before each
/// row, and of all. Passes are cut into 1 to
/// `most_pass_parts` parts, whichever gives the least `cycles`.
std::vector<WorkerRows> divide_rows(
    const std::vector<std::uint64_t>& before, std::uint32_t passes, std::uint32_t workers,
    std::uint32_t most_pass_parts,
    const std::function<std::uint64_t(const std::vector<WorkerRows>&)>& cycles);

}  // namespace tessera::sparse
