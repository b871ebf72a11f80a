#!/usr/bin/env bash
# A sweep on a Slurm of its own: a controller and two nodes on this host, of which one is killed while
# the sweep runs. All points must arrive, and results.csv be that of a sweep without Slurm.
# usage: slurm_sweep.sh TESSERA; exit code 77: Slurm is not installed.
set -euo pipefail
tessera=$1

for program in slurmctld slurmd munged sbatch scontrol; do
  PATH=$PATH:/usr/sbin command -v $program > /dev/null ||
    { echo "skipped: no $program; apt-get install slurm-wlm munge"; exit 77; }
done
PATH=$PATH:/usr/sbin

folder=$(mktemp -d /tmp/tessera-slurm.XXXXXX)
cd "$folder"
export SLURM_CONF=$folder/slurm.conf

# Processes of this test whose environment holds the line $1.
with_environment() {
  local process
  for process in /proc/[0-9]*; do
    [ "$process" != "/proc/$$" ] || continue
    tr '\0' '\n' < "$process/environ" 2> /dev/null | grep -qxF "$1" || continue
    tr '\0' '\n' < "$process/environ" | grep -qxF "SLURM_CONF=$SLURM_CONF" || continue
    echo "${process#/proc/}"
  done 2> /dev/null
}

clean_up() {
  local code=$?
  if [ $code -ne 0 ]; then tail -n 30 ./*.log out/slurm/*.log 2> /dev/null || true; fi
  with_environment "SLURM_CONF=$SLURM_CONF" | xargs -r kill -9 2> /dev/null || true
  rm -rf "$folder"
  exit $code
}
trap clean_up EXIT

wait_until() { # SECONDS WHAT COMMAND...
  local left=$1 what=$2
  shift 2
  until "$@"; do
    [ $((left -= 1)) -gt 0 ] || { echo "waited in vain until $what"; exit 1; }
    sleep 1
  done
}

user=$(id -un)
port=$((20000 + $$ % 20000))
cat > slurm.conf << EOF
ClusterName=tessera
SlurmctldHost=$(hostname -s)(127.0.0.1)
SlurmctldPort=$port
AuthInfo=socket=$folder/munge.socket
SlurmUser=$user
SlurmdUser=$user
StateSaveLocation=$folder/state
SlurmdSpoolDir=$folder/spool-%n
SlurmctldPidFile=$folder/controller.pid
SlurmdPidFile=$folder/%n.pid
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
JobAcctGatherType=jobacct_gather/none
SelectType=select/cons_tres
SelectTypeParameters=CR_CPU
SlurmdTimeout=5
KillWait=1
ReturnToService=2
CommunicationParameters=NoCtldInAddrAny,NoInAddrAny
SlurmdParameters=config_overrides
NodeName=n1 NodeHostname=$(hostname -s) NodeAddr=127.0.0.1 Port=$((port + 1)) CPUs=1
NodeName=n2 NodeHostname=$(hostname -s) NodeAddr=127.0.0.1 Port=$((port + 2)) CPUs=1
PartitionName=all Nodes=n1,n2 Default=YES
EOF

head -c 1024 /dev/urandom > munge.key
chmod 400 munge.key
munged --force --key-file=munge.key --socket="$folder/munge.socket" --pid-file="$folder/munge.pid" \
  --log-file="$folder/munge.log" --seed-file="$folder/munge.seed" 2> /dev/null
mkdir state
slurmctld -D > controller.log 2>&1 &
TESSERA_NODE=n1 slurmd -D -N n1 > n1.log 2>&1 &
TESSERA_NODE=n2 slurmd -D -N n2 > n2.log 2>&1 &
both_idle() { [ "$(sinfo -h -N -o %t 2> /dev/null | grep -c idle)" = 2 ]; }
wait_until 60 "both nodes are up" both_idle

cat > gemm.json << EOF
{"machine": {"extends": "bow", "tiles": 368},
 "workload": {"kernel": "gemm", "m": 768, "n": 768, "k": 768}, "run": {"check": "full"}}
EOF
axes=(machine.tiles=92..368+92 "workload.seed=1..30")
"$tessera" sweep gemm.json "${axes[@]}" --out out --slurm --shards 6

results() { find out/points -name '*.json' | wc -l; }
second_works() { [ "$(results)" -ge 8 ] && [ -n "$(squeue -h -t R -w n2 -o %i)" ]; }
wait_until 60 "the second node works" second_works
# As a host that loses power: nothing of it can report anything any more. A step's daemon writes its
# title over its environment; it is the parent of what it runs.
mapfile -t found < <(with_environment TESSERA_NODE=n2; with_environment SLURMD_NODENAME=n2)
lost=()
for process in "${found[@]}"; do
  kill -STOP "$process" 2> /dev/null || continue # it has ended meanwhile
  lost+=("$process")
  parent=$(awk '/^PPid:/ {print $2}' "/proc/$process/status")
  [ "$(cat "/proc/$parent/comm")" = slurmstepd ] || continue
  kill -STOP "$parent"
  lost+=("$parent")
done
[ "${#lost[@]}" -gt 0 ] || { echo "the second node has no process"; exit 1; }
kill -KILL "${lost[@]}" 2> /dev/null || true # a daemon is named once a child
there=$(results)
echo "the second node was killed with $there of 120 points there"
[ "$there" -lt 110 ]

wait_until 400 "the tables are there" test -s out/results.csv
scontrol show job | grep -q 'Restarts=[1-9]' || { echo "no task was restarted"; exit 1; }
"$tessera" sweep gemm.json "${axes[@]}" --out alone --quiet
[ "$(wc -l < out/results.csv)" = 121 ]
cmp out/results.csv alone/results.csv
cmp out/points.jsonl alone/points.jsonl
echo "all points arrived"
