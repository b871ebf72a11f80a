#!/usr/bin/env bash
# A sweep on a Slurm of its own: a controller and two nodes on this host; one node is killed while the
# sweep runs. All points must complete, and results.csv must equal that of a sweep without Slurm.
# usage: slurm_sweep.sh TESSERA; exit code 77: Slurm is not installed.
set -euo pipefail
tessera=$1
source=$(cd "$(dirname "$0")/../.." && pwd)

. "$(dirname "$0")/slurm_here.sh"

cat > product.json << EOF
{"extends": "$source/configs/runs/quickstart.json", "machine": {"extends": "bow", "tiles": 368},
 "workload": {"m": 768, "n": 768, "k": 768}, "run": {"check": "full"}}
EOF
axes=(machine.tiles=92..368+92 "workload.seed=1..30")
"$tessera" sweep product.json "${axes[@]}" --out out --slurm --shards 6

results() { find out/points -name '*.json' | wc -l; }
second_works() { [ "$(results)" -ge 8 ] && [ -n "$(squeue -h -t R -w n2 -o %i)" ]; }
wait_until 60 "the second node works" second_works
# Emulates a host that loses power: none of its processes may report any more. A step's daemon overwrites
# its environment with its title, so it is found as the parent of the processes it runs.
mapfile -t found < <(with_environment TESSERA_NODE=n2; with_environment SLURMD_NODENAME=n2)
lost=()
for process in "${found[@]}"; do
  kill -STOP "$process" 2> /dev/null || continue # it has ended already
  lost+=("$process")
  parent=$(awk '/^PPid:/ {print $2}' "/proc/$process/status")
  [ "$(cat "/proc/$parent/comm")" = slurmstepd ] || continue
  kill -STOP "$parent"
  lost+=("$parent")
done
[ "${#lost[@]}" -gt 0 ] || { echo "the second node has no process"; exit 1; }
kill -KILL "${lost[@]}" 2> /dev/null || true # lists a daemon once for each child
there=$(results)
echo "the second node was killed with $there of 120 points there"
[ "$there" -lt 110 ]

wait_until 400 "the tables are there" test -s out/results.csv
scontrol show job | grep -q 'Restarts=[1-9]' || { echo "no task was restarted"; exit 1; }
"$tessera" sweep product.json "${axes[@]}" --out alone --quiet
[ "$(wc -l < out/results.csv)" = 121 ]
cmp out/results.csv alone/results.csv
cmp out/points.jsonl alone/points.jsonl
echo "all points arrived"
