#include "sim/sweep/sha256.h"

#include <doctest/doctest.h>

using tessera::sweep::Sha256;

namespace {

std::string hash(std::string_view text) {
  Sha256 sha;
  sha.add(text);
  return sha.finish();
}

}  // namespace

TEST_SUITE("unit") {
  // Test vectors of FIPS 180-4 and NIST's example pages.
  TEST_CASE("SHA-256 gives the published digests") {
    CHECK(hash("") == "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
    CHECK(hash("abc") == "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
    CHECK(hash("abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq") ==
          "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1");
    CHECK(hash(std::string(1'000'000, 'a')) ==
          "cdc76e5c9914fb9281a1c7e284d73e67f1809a48a497200e046d39ccc7112cd0");
  }

  TEST_CASE("how the bytes are cut into pieces does not matter") {
    const std::string text(300, 'x');
    for (const std::size_t piece : {1U, 55U, 56U, 63U, 64U, 65U, 129U}) {
      Sha256 sha;
      for (std::size_t i = 0; i < text.size(); i += piece) sha.add(text.substr(i, piece));
      CHECK(sha.finish() == hash(text));
    }
  }
}
