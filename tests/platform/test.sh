#!/usr/bin/env bash
# test.sh PREFIX [COMPILER]: builds the platform in this folder against the Tessera that is installed at
# PREFIX, once by find_package and once by pkg-config, and runs both: results and cycles must equal
# those of PREFIX/bin/tessera run, at 1 fs and at 1 ps.
set -euo pipefail
prefix=$(realpath "$1")
compiler=${2:-c++}
here=$(dirname "$(realpath "$0")")
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"

cmake -S "$here" -B by_cmake -DCMAKE_PREFIX_PATH="$prefix" -DCMAKE_CXX_COMPILER="$compiler" \
  -DCMAKE_BUILD_TYPE=Release > log || { cat log; exit 1; }
cmake --build by_cmake > log || { cat log; exit 1; }
PKG_CONFIG_PATH=$(dirname "$(find "$prefix/lib" -name tessera.pc)")
export PKG_CONFIG_PATH
# shellcheck disable=SC2046
"$compiler" -std=c++17 "$here/main.cpp" -o by_pkg_config $(pkg-config --cflags --libs tessera)

small="\"extends\": \"$prefix/share/tessera/configs/runs/quickstart.json\", \"machine\": {\"extends\": \"bow\", \"tiles\": 64}"
echo "{$small, \"workload\": {\"m\": 64, \"n\": 96, \"k\": 128}}" > first.json
echo "{$small, \"workload\": {\"m\": 96, \"n\": 32, \"k\": 256}}" > second.json
external="\"model\": \"platform\", \"mib_per_channel\": 1, \"way_cycles\": 20, \"outstanding\": 4"
echo "{\"extends\": \"$prefix/share/tessera/configs/runs/quickstart.json\", \"machine\": {\"extends\": \"bow\", \"tiles\": 16, \"energy\": null, \"external\": {$external}}, \"workload\": {\"m\": 64, \"n\": 96, \"k\": 128, \"operands\": \"external\"}}" > outside.json
cycles() { sed -n '/"time"/,/}/s/.*"cycles": \([0-9]*\).*/\1/p' "$1/report.json" | head -1; }
"$prefix/bin/tessera" run first.json --out first --save C=C.npy --quiet
"$prefix/bin/tessera" run second.json --out second --quiet
expected="cycles $(cycles first) $(cycles second)"
for platform in by_cmake/platform ./by_pkg_config; do
  for resolution in fs ps; do
    found=$("$platform" $resolution first.json C.npy second.json outside.json 2> said | grep -v '^$' | tail -1) || true
    if [ "$found" != "$expected" ]; then
      cat said
      echo "$platform at 1 $resolution: found '$found', not '$expected'"
      exit 1
    fi
  done
done
echo "passed: $expected"
