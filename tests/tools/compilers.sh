#!/usr/bin/env bash
# compilers.sh PROGRAM [CONFIG ...]: builds the program with g++ 12 and compares the outputs of the two programs for each config
# (default: the shipped ones), to the last digit except host times. Without g++-12: skipped (77).
set -euo pipefail
program=$(realpath "$1")
shift
command -v g++-12 > /dev/null || { echo "skipped: g++-12 is not installed"; exit 77; }
cd "$(dirname "$0")/../.."
tools/build gcc --target tessera

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
[ $# -gt 0 ] || set -- configs/runs/*.json
different=0
for config in "$@"; do
  for each in "$program" build/gcc/tessera; do
    out=$work/$(basename "$(dirname "$each")")
    rm -rf "$out"
    "$each" run "$config" --out "$out" --quiet
    sed -i '/^  "host": {$/,/^  }/d; /^    "commit": /d' "$out/report.json"
  done
  diff -rq "$work/$(basename "$(dirname "$program")")" "$work/gcc" || { echo "$config differs"; different=1; }
done
exit $different
