#include "sim/sweep/point_ids.h"

#include <elf.h>
#include <filesystem>
#include <link.h>
#include <set>

#include <fmt/format.h>

#include "sim/base/types.h"
#include "sim/config/key_path.h"
#include "sim/data/read_file.h"
#include "sim/report/version.h"
#include "sim/sweep/sha256.h"

namespace tessera::sweep {
namespace {

/// The build id among the notes of a segment; empty if there is none.
std::string build_id_in(const char* notes, std::size_t size) {
  for (std::size_t at = 0; at + sizeof(ElfW(Nhdr)) <= size;) {
    const auto* const header = reinterpret_cast<const ElfW(Nhdr)*>(notes + at);
    const std::size_t content = at + sizeof *header + round_up(header->n_namesz, 4U);
    if (header->n_type == NT_GNU_BUILD_ID) {
      std::string digits;
      for (std::size_t i = 0; i < header->n_descsz; ++i) {
        digits += fmt::format("{:02x}", static_cast<unsigned char>(notes[content + i]));
      }
      return digits;
    }
    at = content + round_up(header->n_descsz, 4U);
  }
  return "";
}

/// A callback that stops at the first object, the program itself.
int find_build_id(dl_phdr_info* object, std::size_t /*size*/, void* result) {
  auto& found = *static_cast<std::string*>(result);
  for (int i = 0; i < object->dlpi_phnum && found.empty(); ++i) {
    const ElfW(Phdr)& segment = object->dlpi_phdr[i];
    if (segment.p_type != PT_NOTE) continue;
    const std::uintptr_t notes = object->dlpi_addr + segment.p_vaddr;
    // NOLINTNEXTLINE(performance-no-int-to-ptr): the loader gives addresses as integers
    found = build_id_in(reinterpret_cast<const char*>(notes), segment.p_memsz);
  }
  return 1;
}

/// True for names of input files in folders that configs name: arrays, batches of images,
/// recordings with their lists and labels.
bool is_input(const std::string& name) {
  for (const char* end :
       {".npy", ".bin", ".aedat", "_labels.csv", "trials_to_train.txt", "trials_to_test.txt"})
    if (name.ends_with(end)) return true;
  return false;
}

/// Names of input files in a folder and in its folders 0 to 9, which hold recordings of digits.
std::set<std::string> inputs_in(const std::filesystem::path& folder) {
  std::set<std::string> names;
  for (const auto& entry : std::filesystem::directory_iterator(folder)) {
    const std::string name = entry.path().filename().string();
    if (entry.is_directory() && name.size() == 1 && name >= "0" && name <= "9") {
      for (const std::string& inner : inputs_in(entry.path()))
        names.insert(fmt::format("{}/{}", name, inner));
    } else if (is_input(name)) {
      names.insert(name);
    }
  }
  return names;
}

}  // namespace

std::string program_identity() {
  std::string build_id;
  ::dl_iterate_phdr(find_build_id, &build_id);
  return fmt::format("{} {} {}", report::kVersion, report::kCommit, build_id);
}

std::string program_identity(Way way) {
  return program_identity() + (way == Way::predicted ? " predicted" : "");
}

std::string PointIds::of(const config::Config& config) {
  config::Json identity = config::identity(config.resolved);
  for (const config::InputFile& input : config::input_files(config)) {
    config::set_at(identity, input.path, "sha256:" + hash_of_file(input.file));
  }
  Sha256 hash;
  hash.add(identity.dump());
  hash.add(program_);
  constexpr std::size_t kDigits = 32;
  return hash.finish().substr(0, kDigits);
}

const std::string& PointIds::hash_of_file(const std::string& file) {
  const auto [entry, is_new] = hashes_.try_emplace(file);
  if (!is_new) return entry->second;
  Sha256 hash;
  if (std::filesystem::is_directory(file)) {
    for (const std::string& name : inputs_in(file)) {
      hash.add(name + '\0');
      hash.add(hash_of_file((std::filesystem::path(file) / name).string()));
    }
  } else {
    hash.add(data::read_file(file));
  }
  return entry->second = hash.finish();
}

}  // namespace tessera::sweep
