#include "sim/config/config.h"
#include "sim/config/key_path.h"

namespace tessera::config {
namespace {

/// Collects the names of input files and passes over everything else.
class FileCollector : public Fields {
 public:
  FileCollector(std::string path, std::vector<InputFile>& found)
      : path_(std::move(path)), found_(found) {}

 protected:
  void visit_flag(const Field& /*info*/, bool& /*value*/) override {}
  void visit_integer(const Field& /*info*/, std::uint64_t& /*value*/,
                     Range<std::uint64_t> /*range*/) override {}
  void visit_number(const Field& /*info*/, double& /*value*/, Range<double> /*range*/) override {}
  void visit_text(const Field& /*info*/, std::string& /*value*/) override {}
  void visit_choice(const Field& /*info*/, std::string& /*value*/,
                    std::span<const std::string_view> /*allowed*/) override {}
  void visit_integers(const Field& /*info*/, std::vector<std::uint32_t>& /*values*/,
                      Range<std::uint32_t> /*range*/) override {}
  void visit_file(const Field& info, std::string& path) override {
    if (!path.empty()) found_.push_back({join(path_, info.key), path});
  }
  void visit_group(const Field& info, bool* present, const Members& members) override {
    if (present != nullptr && !*present) return;
    FileCollector inner(join(path_, info.key), found_);
    members(inner);
  }
  void visit_list(const Field& info, std::size_t size, const Resize& /*resize*/,
                  const Element& element) override {
    for (std::size_t i = 0; i < size; ++i) {
      FileCollector inner(join(join(path_, info.key), i), found_);
      element(i, inner);
    }
  }

 private:
  std::string path_;
  std::vector<InputFile>& found_;
};

}  // namespace

std::vector<InputFile> input_files(const Config& config) {
  std::vector<InputFile> found;
  FileCollector collector("workload", found);
  config.workload->visit(collector);
  return found;
}

}  // namespace tessera::config
