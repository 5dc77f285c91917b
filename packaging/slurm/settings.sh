# shellcheck shell=bash disable=SC2034  # the scripts beside it read what is set here
# What the scripts in this folder have to know of your cluster. They source it: prolog, task-prolog, epilog,
# health-check, exclude. docs/slurm.md says where the folder goes.

# The server. FAULTLINE_TOKEN_FILE: a token of the scopes ingest and read, which only root may read;
# FAULTLINE_READ_TOKEN_FILE: one of the scope read, for users and exclude. Empty: the server asks for none.
# FAULTLINE_CA_FILE: the authority of its certificate; empty: one that the system knows.
FAULTLINE_URL=http://127.0.0.1:8686
FAULTLINE_TOKEN_FILE=
FAULTLINE_READ_TOKEN_FILE=
FAULTLINE_CA_FILE=

# On each node: where each job has a folder for its logs, which the node's agent follows.
FAULTLINE_LOGS=/var/log/faultline

# Folders of jobs are deleted so many days after the job has ended.
FAULTLINE_KEEP_DAYS=7

# Flags of `faultline guard`. With (--act) health-check drains nodes; without it only says what it would do, in
# FAULTLINE_LOGS/.guard.
FAULTLINE_GUARD_FLAGS=()

# Where faultline and scontrol are. It does not depend on who runs a script.
PATH=/usr/local/bin:/usr/bin:/bin

# Below here nothing has to be changed.
faultline_server=()
[[ -z $FAULTLINE_TOKEN_FILE ]] || faultline_server+=(--token-file "$FAULTLINE_TOKEN_FILE")
[[ -z $FAULTLINE_CA_FILE ]] || faultline_server+=(--ca-file "$FAULTLINE_CA_FILE")
faultline_node=${SLURMD_NODENAME:-$(hostname -s)}

# faultline_agent_of JOBID: the process that sends the kernel's messages for the job, if it runs: no other one that got
# its number.
faultline_agent_of() {
  local kernel=$FAULTLINE_LOGS/.kernel.$1 pid
  pid=$(cat "$kernel/pid" 2>/dev/null) || return 1
  tr '\0' ' ' 2>/dev/null <"/proc/${pid:-none}/cmdline" | grep -qF -- "--state $kernel " || return 1
  echo "$pid"
}
