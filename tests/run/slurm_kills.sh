#!/usr/bin/env bash
# Kills shards of sweeps at random moments, on a Slurm of its own. Each sweep must end, or continue at its
# next start, with the tables of an undisturbed sweep and without leftover files.
# usage: slurm_kills.sh TESSERA [KILLS]; exit code 77: Slurm is not installed.
set -euo pipefail
tessera=$1
kills=${2:-20}
source=$(cd "$(dirname "$0")/../.." && pwd)
. "$(dirname "$0")/slurm_here.sh"

cat > small.json << EOF
{"extends": "$source/tests/cli/small.json", "machine": {"extends": "bow", "tiles": 64},
 "workload": {"elements_per_worker": 6000, "repeats": 40}}
EOF
axes=(machine.tiles=60..64 "workload.repeats=40..49")
"$tessera" sweep small.json "${axes[@]}" --out alone --quiet
RANDOM=1
killed=0
rounds=0
while [ $killed -lt "$kills" ]; do
  rm -rf out
  "$tessera" sweep small.json "${axes[@]}" --out out --slurm --shards 6 > submitted.log
  while [ -n "$(squeue -h -o %i)" ]; do
    sleep 0.$((RANDOM % 10))
    mapfile -t found < <(with_environment "SLURM_JOB_NAME=tessera-sweep"; with_environment "SLURM_JOB_NAME=tessera-collect")
    [ "${#found[@]}" -gt 0 ] && [ $killed -lt "$kills" ] || continue
    kill -KILL "${found[$((RANDOM % ${#found[@]}))]}" 2> /dev/null && killed=$((killed + 1))
  done
  "$tessera" sweep small.json "${axes[@]}" --out out --quiet
  cmp out/results.csv alone/results.csv
  cmp out/points.jsonl alone/points.jsonl
  left=$(find out -name '*.tmp' -o -name sweep.lock)
  [ -z "$left" ] || { echo "left: $left"; exit 1; }
  rounds=$((rounds + 1))
done
echo "$killed processes of $rounds sweeps killed; all tables are the same, nothing is left"
