#include "sim/sweep/store.h"

#include <filesystem>
#include <iterator>

#include <doctest/doctest.h>

#include "tests/folder.h"

using namespace tessera::sweep;

namespace {

const std::string kId(32, 'a');

std::string name_of(const std::string& id) { return "points/" + id + ".json"; }

struct StoreFolder : tessera::test::Folder {
  Store store{path()};
  StoreFolder() {
    store.open();
    store.put(kId, {"done", "", 7, {{"time", {{"cycles", 4711}}}}});
  }
};

}  // namespace

TEST_SUITE("unit") {
  TEST_CASE("a stored point comes back as it was put") {
    const StoreFolder folder;
    const auto found = folder.store.find(kId);
    REQUIRE(found);
    CHECK(found->status == "done");
    CHECK(found->seed == 7);
    CHECK(found->report["time"]["cycles"] == 4711);
    CHECK(folder.store.damage(kId).empty());
    CHECK(!folder.store.find("none"));
    CHECK(folder.store.damage("none").empty());
  }

  TEST_CASE("a point's file in which any one byte was changed or cut off is not believed") {
    const StoreFolder folder;
    const std::string whole = folder.read(name_of(kId));
    for (std::size_t i = 0; i + 1 < whole.size(); ++i) {
      CAPTURE(i);
      std::string changed = whole;
      changed[i] = static_cast<char>(changed[i] ^ 1);
      for (const std::string& text : {changed, whole.substr(0, i)}) {
        folder.write(name_of(kId), text);
        REQUIRE(!folder.store.find_any(kId));
        REQUIRE(folder.store.damage(kId) ==
                folder.file(name_of(kId)) + ": its checksum does not agree");
      }
    }
  }

  TEST_CASE("the file of one point under the name of another is not believed") {
    const StoreFolder folder;
    const std::string other(32, 'b');
    std::filesystem::rename(folder.file(name_of(kId)), folder.file(name_of(other)));
    CHECK(!folder.store.find(other));
    CHECK(folder.store.damage(other) ==
          folder.file(name_of(other)) + ": it is the file of the point " + kId);
  }

  TEST_CASE("points that died or lacked resources are tried again") {
    const StoreFolder folder;
    for (const char* status : {"died", "starved"}) {
      folder.store.put(kId, {status, "why", 7, nullptr});
      CHECK(!folder.store.find(kId));
      CHECK(folder.store.find_any(kId)->error == "why");
    }
  }
}
