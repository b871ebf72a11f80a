#pragma once

#include <functional>
#include <string>
#include <vector>

#include "sim/config/json_text.h"
#include "tests/folder.h"
#include "tests/refusal.h"

namespace tessera::test {

using config::Json;

/// Exit code and output of the program.
struct Answer {
  int code = 0;
  std::string out;
  std::string err;
};

/// A folder in which the built program is called.
class CommandFolder : public Folder {
 public:
  using Folder::Folder;

  /// The whole file as JSON; throws if it is none.
  [[nodiscard]] Json json(const std::string& name) const;
  /// Calls the program with shell-quoted arguments in this folder.
  [[nodiscard]] Answer call(const std::string& arguments, const std::string& input = "") const;
  /// A call that must exit with code 0; otherwise the test ends with the program's messages.
  Answer done(const std::string& arguments, const std::string& input = "") const;
  /// Calls it with arguments as they are and sends the signal as soon as `ready` holds, which must
  /// be before it ends. Returns its exit code; -1 if the signal killed it.
  [[nodiscard]] int interrupt(const std::vector<std::string>& arguments, int signal,
                              const std::function<bool()>& ready) const;
};

/// The config tests/cli/small.json on so many tiles, for tests that need a kernel, but no
/// particular one.
std::string small_config(unsigned tiles);
/// The path of that file.
std::string small_file();

/// `text` with the kernel of small.json for each KERNEL, that of configs/runs/quickstart.json, a
/// dense product, for each PRODUCT.
std::string with_kernel(std::string text);
std::vector<std::string> with_kernel(std::vector<std::string> texts);

/// That product on so many tiles of a bow, with these keys of its workload.
std::string product_config(unsigned tiles, const std::string& keys);

/// The arguments of a run of that product that takes seconds, with these options.
std::vector<std::string> long_run(const std::vector<std::string>& options = {});

/// A file of the source tree, which may have comments.
Json source_json(const std::string& name);
/// Strict JSON. Here and not in each test: the parser takes long to compile.
Json parsed_json(const std::string& text);

/// A .npy file: elements of `type` such as <f4, of a shape such as "2, 3", with these bytes.
std::string numpy_file(const std::string& type, const std::string& shape, const std::string& bytes);
/// One of bytes 0, 1, ..., modulus - 1, 0, ... in the order of the file.
std::string numpy_counting(const std::vector<unsigned>& shape, unsigned modulus);
/// One of this f32 throughout.
std::string numpy_filled(const std::vector<unsigned>& shape, float value);

/// One of zeros of a type.
std::string numpy_zeros(const std::string& type, const std::vector<unsigned>& shape);
/// An IDX file: two zeros, the type (8: unsigned bytes), the rank, extents in 32 bits, the highest
/// byte first, values of which the last extent changes fastest.
std::string idx_file(const std::vector<unsigned>& shape, const std::string& values, char type = 8);
/// The values 0, 1, ..., modulus - 1, 0, ... of such a shape.
std::string counting(const std::vector<unsigned>& shape, unsigned modulus);

/// The value at a path of a report, such as time.cycles; null: there is none.
Json value_at(const Json& report, std::string path);
/// Checks the values at paths of a report; null: there is none. Numbers may be given by bounds:
/// {"above": 0, "below": 1}.
void check_report(const Json& report, const Json& expected);

/// Checks numbers of a report over those of another one (`ratios`) or beside them (`differences`),
/// each within two bounds, what is the `same` in both, and what is not (`differ`).
void check_compared(const Json& report, const Json& other, const Json& facts);

/// Checks that the call is refused with exit code `code`: all parts of `message` on stderr, nothing
/// on stdout, nothing new in the folder.
void check_refused(const CommandFolder& folder, const std::string& arguments,
                   const std::vector<std::string>& message, int code = 2);

}  // namespace tessera::test
