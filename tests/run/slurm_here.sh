# A Slurm of its own for a test: a controller and two nodes, n1 and n2, on this host, in a new folder that
# becomes the current one. Everything is removed when the shell that sources this ends. Exit code 77: not installed.

for program in slurmctld slurmd munged sbatch scontrol; do
  PATH=$PATH:/usr/sbin command -v $program > /dev/null ||
    { echo "skipped: no $program; apt-get install slurm-wlm munge"; exit 77; }
done
PATH=$PATH:/usr/sbin

folder=$(mktemp -d /tmp/tessera-slurm.XXXXXX)
cd "$folder"
export SLURM_CONF=$folder/slurm.conf

# Processes of this test whose environment contains the line $1.
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
