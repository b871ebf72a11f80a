#pragma once

#include <cstdint>
#include <hdf5.h>
#include <string>
#include <vector>

#include <fmt/format.h>

#include "sim/base/errors.h"

/// Shared parts of the readers of HDF5 files. libhdf5 may crash on malformed files: call these in a
/// child process (child_reader.h).
namespace tessera::data {

/// An open object of the HDF5 library.
class Hdf5Handle {
 public:
  using Close = herr_t (*)(hid_t);
  Hdf5Handle(hid_t id, Close close) : id_(id), close_(close) {}
  Hdf5Handle(const Hdf5Handle&) = delete;
  Hdf5Handle& operator=(const Hdf5Handle&) = delete;
  ~Hdf5Handle() {
    if (id_ >= 0) close_(id_);
  }
  [[nodiscard]] bool valid() const { return id_ >= 0; }
  operator hid_t() const { return id_; }  // NOLINT(google-explicit-constructor): the library's type

 private:
  hid_t id_;
  Close close_;
};

/// A file being read.
struct Hdf5File {
  std::string name;
  std::uint64_t most;         ///< limit: numbers plus bytes of text
  std::uint64_t left = most;  ///< what remains of the limit
};

/// A group or dataset of a file; its errors name the file and the path inside.
class Hdf5Place {
 public:
  Hdf5Place(hid_t parent, Hdf5File& file, std::string path)
      : file_(file), path_(std::move(path)), id_(open(parent), H5Oclose) {
    if (!id_.valid()) fail("cannot be read");
  }

  template <class... Args>
  [[noreturn]] void fail(fmt::format_string<Args...> problem, Args&&... args) const {
    throw UserError("{}: {}: {}", file_.name, path_,
                    fmt::format(problem, std::forward<Args>(args)...));
  }
  [[nodiscard]] bool is_group() const { return H5Iget_type(id_) == H5I_GROUP; }
  [[nodiscard]] bool is_dataset() const { return H5Iget_type(id_) == H5I_DATASET; }
  [[nodiscard]] hid_t id() const { return id_; }

  [[nodiscard]] Hdf5Place child(const std::string& name) const {
    H5L_info_t link{};
    if (!is_group() || H5Lget_info(id_, name.c_str(), &link, H5P_DEFAULT) < 0)
      fail("found no '{}'", name);
    if (link.type >= H5L_TYPE_UD_MIN) fail("'{}' lies in another file", name);
    return Hdf5Place(id_, file_, path_ == "/" ? path_ + name : path_ + "/" + name);
  }
  /// In order of name.
  [[nodiscard]] std::vector<std::string> children() const;
  [[nodiscard]] std::vector<std::uint64_t> shape() const;
  /// Number of elements of at most `bytes` each. Throws beyond the file's limit, or if it stores
  /// less.
  [[nodiscard]] std::uint64_t count(std::uint64_t bytes) const;
  [[nodiscard]] std::vector<double> numbers() const;
  [[nodiscard]] std::vector<std::string> texts() const;
  [[nodiscard]] bool holds_text() const {
    return H5Tget_class(Hdf5Handle(H5Dget_type(id_), H5Tclose)) == H5T_STRING;
  }

 private:
  [[nodiscard]] hid_t open(hid_t parent) const {
    const std::string name = path_.substr(path_.rfind('/') + 1);
    return H5Oopen(parent, name.empty() ? "/" : name.c_str(), H5P_DEFAULT);
  }
  void take(std::uint64_t values) const {
    if (values > file_.left)
      fail("with it the file holds more than {} numbers and bytes of text", file_.most);
    file_.left -= values;
  }

  Hdf5File& file_;
  std::string path_;
  Hdf5Handle id_;
};

/// Opens a file held in memory, which the library copies; errors name the expected format `kind`.
Hdf5Handle open_hdf5(const std::string& name, std::string& bytes, const char* kind);

}  // namespace tessera::data
