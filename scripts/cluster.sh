# shellcheck shell=bash
# Tries the pages for clusters on this machine, with the real programs of the cluster as far as Debian has them.

# try_cluster slurm|kubernetes
try_cluster() {
  case ${1:-} in
    slurm) try_slurm ;;
    kubernetes) try_kubernetes ;;
    *) die "cluster takes slurm or kubernetes, not '${1:-}'" ;;
  esac
}

# What a manifest says and kubectl's own types do not have, such as a field that is misspelt, is gone when kubectl prints
# the manifest again. It needs no cluster for that, but does it only for things that have containers.
try_kubernetes() {
  PATH=$PWD/build/tools/usr/bin:$PATH
  command -v kubectl >/dev/null || take_programs kubernetes-client "$PWD/build/tools"
  local file fields
  for file in packaging/kubernetes/*.yaml; do
    say "kubectl reads $file"
    fields=$(comm -23 <(workloads_of "$file" | fields_of) \
      <(workloads_of "$file" | kubectl set env --local -f - -o yaml TRIED=yes | fields_of))
    [[ -z $fields ]] || die "$file: not all of these fields are known: ${fields//$'\n'/ }"
  done
}

# workloads_of FILE: those documents of it that have containers.
workloads_of() {
  awk 'BEGIN { RS = ORS = "---\n" } /\n *containers:/ { print }' "$1"
}

# fields_of: each name of a field in the YAML on stdin, as often as it is there; the second one as "name 2".
fields_of() {
  sed 's/#.*//' | grep -oE '(^|[ {,-])[A-Za-z][A-Za-z.]*:( |$)' | tr -d ' {,:-' | awk '{ print $1, ++count[$1] }' | sort
}

# Slurm with three nodes on this machine, each with an agent: a job loses a GPU, a diagnosis says which, and the node is
# kept out of the next job and then drained. Stand-ins are only the training program, which writes the simulated logs of
# its rank, and what the kernel says.
try_slurm() {
  ((EUID == 0)) || die "root is needed: each node gets a kernel log of its own"
  need_slurm
  [[ -n ${FAULTLINE_BINARY:-} ]] || build release faultline
  slurm_work=$(mktemp -d)
  slurm_pids=()
  trap stop_slurm EXIT
  chmod 755 "$slurm_work"
  mkdir "$slurm_work/bin"
  cp "${FAULTLINE_BINARY:-build/release/faultline}" "$slurm_work/bin/faultline"
  PATH=$slurm_work/bin:$slurm_tools/usr/bin:$slurm_tools/usr/sbin:$PATH
  export SLURM_CONF=$slurm_work/slurm.conf
  LD_LIBRARY_PATH=$slurm_tools/usr/lib/$(uname -m)-linux-gnu
  export LD_LIBRARY_PATH=$LD_LIBRARY_PATH:$LD_LIBRARY_PATH/slurm-wlm
  cd "$slurm_work" || exit

  start_slurm
  start_agents
  local job bad
  say "a job of 16 ranks on two nodes loses a GPU"
  make_job
  bad=$(grep -o 'gpu-node-[0-9]*' simulated/truth.json | head -1)
  job=$(sbatch --parsable --uid=nobody --gid=nogroup --output=/dev/null --nodes=2 --ntasks-per-node=8 \
    --nodelist=gpu-node-1,gpu-node-2 train.sbatch)
  wait_for 60 "the logs of 16 ranks at the server" ranks_are_seen "$job"
  kernel_says "$bad"
  wait_for 60 "a diagnosis" diagnosis_says "$job" '^GPU .* fell off the bus'
  diagnosis "$job" >&2

  say "the job is cancelled; the epilog sends the rest"
  scancel "$job"
  wait_for 60 "the end of the job" job_is_over "$job"
  wait_for 60 "all logs to be complete" all_is_complete "$job"

  say "the next job is kept off the node"
  [[ $(slurm/exclude.sh "$job") == "--exclude=$bad" ]] || die "exclude.sh prints $(slurm/exclude.sh "$job")"
  # shellcheck disable=SC2046  # one option, or none
  job=$(sbatch --parsable $(slurm/exclude.sh "$job") --nodes=2 --wrap 'srun hostname')
  wait_for 60 "the end of the next job" job_is_over "$job"
  [[ $(nodes_of_job "$job") != *"$bad"* ]] || die "job $job ran on $bad"
  say "it ran on $(nodes_of_job "$job")"

  say "the health check says what it would do"
  wait_for 60 "its words" grep -q "would take node $bad" "logs.$bad/.guard"
  [[ $(sinfo --noheader --format=%T) == idle ]] || die "a node is not idle: $(sinfo -N)"
  cat "logs.$bad/.guard" >&2

  say "the health check drains the node when it is told to"
  sed -i 's/^FAULTLINE_GUARD_FLAGS=(/&--act /' slurm/settings.sh
  wait_for 60 "the node to be drained" node_is "$bad" drained
  sinfo --list-reasons --long >&2
  [[ $(sinfo --noheader --Node --format=%T | grep -cx idle) == 2 ]] || die "other nodes are not idle: $(sinfo -N)"

  say "a person says that the finding is wrong; the node is given back"
  local finding
  finding=$(scontrol --oneliner show node "$bad" | sed -n 's/.*finding=\([a-z0-9]*\).*/\1/p')
  as_person -o review.json -X POST "$url/api/v1/findings/$finding/review?verdict=wrong&by=trial"
  wait_for 60 "the node to be resumed" node_is "$bad" idle

  say "a server that is away drains nobody"
  kill "$slurm_server"
  rm -f logs.*/.guard
  wait_for 60 "the health check to notice" grep -q 'no node changes' "logs.$bad/.guard"
  [[ $(sinfo --noheader --format=%T) == idle ]] || die "a node is not idle: $(sinfo -N)"
  say "cluster: all steps of docs/slurm.md were done"
}

stop_slurm() {
  local pid
  timeout 20 scancel --user=root --full 2>/dev/null || true
  for _ in {1..40}; do
    ! timeout 10 squeue --noheader 2>/dev/null | grep -q . || sleep 0.5
  done
  for pid in "${slurm_pids[@]}"; do kill "$pid" 2>/dev/null || true; done
  wait
  # Agents that a prolog started and no epilog ended have sessions of their own.
  cat "$slurm_work"/logs.*/.kernel.*/pid 2>/dev/null | xargs -r kill 2>/dev/null || true
  if [[ -n ${KEEP_TRIAL:-} ]]; then
    say "kept: $slurm_work"
  else
    rm -rf "$slurm_work"
  fi
}

# Slurm's daemons are unpacked, not installed: their packages would start them as services, and so they are not in
# packages.txt.
need_slurm() {
  slurm_tools=$PWD/build/tools/slurm
  local package
  local wanted="slurmctld slurmd slurm-client slurm-wlm-basic-plugins munge libmunge2
    libhwloc15 liblua5.1-0 libipmimonitoring6 libfreeipmi17"
  [[ $(cat "$slurm_tools/complete" 2>/dev/null) != "$wanted" ]] || return 0
  for package in $wanted; do
    take_programs "$package" "$slurm_tools"
  done
  echo "$wanted" >"$slurm_tools/complete"
}

# begin NAME COMMAND...: in the background; its output goes to NAME.out.
begin() {
  "${@:2}" </dev/null >"$1.out" 2>&1 &
  slurm_pids+=("$!")
}

# wait_for SECONDS WHAT COMMAND...: until the command succeeds.
wait_for() {
  local end=$((SECONDS + $1))
  until "${@:3}" >/dev/null 2>&1; do
    ((SECONDS < end)) || die "waited in vain for $2; $PWD has the logs (KEEP_TRIAL=1 keeps them)"
    sleep 0.5
  done
}

# All listens only on loopback.
start_slurm() {
  local port=21840 number
  say "Slurm with three nodes, in $slurm_work"
  mkdir state run logs
  head -c 1024 /dev/urandom >munge.key
  chmod 400 munge.key
  begin munged munged --foreground --force --key-file "$PWD/munge.key" --socket "$PWD/run/munge.socket" \
    --pid-file "$PWD/run/munged.pid" --log-file "$PWD/munged.log" --seed-file "$PWD/munge.seed"
  wait_for 20 munged test -S run/munge.socket

  # The folder of the scripts, as it is copied to each node.
  cp -r "$OLDPWD/packaging/slurm" slurm
  sed -i -e "s#^FAULTLINE_URL=.*#FAULTLINE_URL=http://127.0.0.1:$((port + 9))#" \
    -e "s#^FAULTLINE_TOKEN_FILE=.*#FAULTLINE_TOKEN_FILE=$PWD/nodes.token#" \
    -e "s#^FAULTLINE_READ_TOKEN_FILE=.*#FAULTLINE_READ_TOKEN_FILE=$PWD/users.token#" \
    -e "s#^FAULTLINE_LOGS=.*#FAULTLINE_LOGS=$PWD/logs#" \
    -e "s#^PATH=.*#export SLURM_CONF=$SLURM_CONF LD_LIBRARY_PATH=$LD_LIBRARY_PATH PATH=$PATH#" \
    -e "s#^FAULTLINE_GUARD_FLAGS=.*#FAULTLINE_GUARD_FLAGS=(--hold 2s --state $PWD/guard.\${SLURMD_NODENAME:-})#" slurm/settings.sh
  cat >slurm.conf <<CONF
ClusterName=trial
SlurmctldHost=$(hostname)(127.0.0.1)
SlurmctldPort=$port
SlurmUser=root
SlurmdUser=root
AuthType=auth/munge
AuthInfo=socket=$PWD/run/munge.socket
CommunicationParameters=NoCtldInAddrAny,NoInAddrAny
PluginDir=${LD_LIBRARY_PATH#*:}
StateSaveLocation=$PWD/state
SlurmdSpoolDir=$PWD/spool.%n
SlurmctldPidFile=$PWD/run/slurmctld.pid
SlurmdPidFile=$PWD/run/slurmd.%n.pid
SlurmctldLogFile=$PWD/slurmctld.log
SlurmdLogFile=$PWD/slurmd.%n.log
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
MpiDefault=none
SelectType=select/cons_tres
SelectTypeParameters=CR_Core
SlurmdParameters=config_overrides
Prolog=$PWD/slurm/prolog.sh
TaskProlog=$PWD/slurm/task-prolog.sh
Epilog=$PWD/slurm/epilog.sh
HealthCheckProgram=$PWD/slurm/health-check.sh
HealthCheckInterval=5
HealthCheckNodeState=ANY
NodeName=gpu-node-[1-3] NodeHostname=$(hostname) NodeAddr=127.0.0.1 Port=$((port + 1))-$((port + 3)) CPUs=8 State=UNKNOWN
PartitionName=train Nodes=ALL Default=YES MaxTime=INFINITE State=UP
CONF
  url=http://127.0.0.1:$((port + 9))
  token_for nodes --scope ingest,read --jobs slurm-
  token_for users --scope read --jobs slurm-
  token_for people --scope read,operate
  begin server faultline serve --data data --listen "127.0.0.1:$((port + 9))" --tokens tokens --stall-after 5s
  slurm_server=${slurm_pids[-1]}
  wait_for 20 "the server" curl -sS --fail "$url/readyz"
  begin slurmctld slurmctld-wlm -D
  for number in 1 2 3; do
    mkdir "spool.gpu-node-$number"
    mkdir "logs.gpu-node-$number"
    echo "6,1,1000000,-;Linux version 6.1.0" >"kmsg.gpu-node-$number"
    begin "slurmd.$number" on_node "gpu-node-$number" slurmd-wlm -D -N "gpu-node-$number" \
      -d "$slurm_tools/usr/sbin/slurmstepd-wlm"
  done
  wait_for 60 "three nodes" nodes_are_idle
}

# token_for NAME FLAG...: the token goes into the file NAME.token, its line into tokens.
token_for() { faultline token "$@" 2>&1 >>tokens | sed 's/.*: //' >"$1.token"; }

# on_node NODE COMMAND...: with the disk and the kernel's messages of that node, in a mount namespace of its own.
on_node() {
  # shellcheck disable=SC2016  # for the other shell
  exec unshare --mount bash -c 'mount --bind "logs.$1" logs && mount --bind "kmsg.$1" /dev/kmsg && exec "${@:2}"' bash "$@"
}

nodes_are_idle() { [[ $(sinfo --noheader --format='%D %T') == '3 idle' ]]; }
node_is() { [[ $(sinfo --noheader --nodes="$1" --format=%T) == "$2" ]]; }
nodes_of_job() { scontrol show job "$1" | sed -n 's/^ *NodeList=//p'; }
job_is_over() { scontrol show job "$1" | grep -qE 'JobState=(COMPLETED|CANCELLED|FAILED)' && nodes_are_idle; }
# as_person FLAG... URL
as_person() { curl -sS --fail --header "Authorization: Bearer $(cat people.token)" "$@"; }
diagnosis() { as_person "$url/api/v1/jobs/slurm-$1/diagnosis?format=text"; }
diagnosis_says() { diagnosis "$1" | grep -q "$2"; }
ranks_are_seen() { diagnosis "$1" | grep -q '^ranks: 16 of 16 seen'; }

all_is_complete() {
  local sources
  sources=$(as_person "$url/api/v1/sources?job=slurm-$1")
  [[ $sources == *'"complete":true'* && $sources != *'"complete":false'* ]]
}

# An agent on each node, as the unit faultline-ship.service runs it.
start_agents() {
  local number
  for number in 1 2 3; do
    begin "agent.$number" on_node "gpu-node-$number" faultline ship --follow --to "$url" --host "gpu-node-$number" \
      --token-file nodes.token --state "agent.$number" "$PWD/logs"
  done
}

# Each task writes the simulated log of its rank where NCCL would write it, and then waits for the others for ever.
make_job() {
  faultline simulate --scenario gpu_off_bus --nodes 2 --seed 3 --no-boot --out simulated >&2
  cat >train.sh <<'TRAIN'
#!/bin/bash
file=${NCCL_DEBUG_FILE//%h/$SLURMD_NODENAME}
exec 3>"${file//%p/$$}"
cat "simulated/logs/$SLURMD_NODENAME/nccl.rank$SLURM_PROCID.log" >&3
sleep 600
TRAIN
  chmod +x train.sh
  cat >train.sbatch <<'BATCH'
#!/bin/bash
srun ./train.sh
BATCH
}

# kernel_says NODE: what the simulated kernel of the node said, now.
kernel_says() {
  local uptime
  uptime=$(awk '{ printf "%.0f", $1 * 1000000 }' /proc/uptime)
  sed 's/^[-0-9T:,+]* //' "simulated/logs/$1/dmesg.txt" |
    awk -v uptime="$uptime" '{ printf "3,%d,%.0f,-;%s\n", NR + 1, uptime + NR, $0 }' >>"kmsg.$1"
}
