#!/usr/bin/env bash
# Epilog of slurm.conf: runs as root on each node after a job. Sends what the agent has not sent yet, and the kernel's
# messages, and says that nothing follows: so the diagnosis waits for nothing. It ends with 0 whatever happens: Slurm
# drains a node whose epilog fails.
set -euo pipefail
trap 'exit 0' EXIT
# shellcheck source=packaging/slurm/settings.sh
. "$(dirname "$0")/settings.sh"

umask 077
exec </dev/null >>"$FAULTLINE_LOGS/.epilog" 2>&1

# The node is held until this script ends, and Slurm drains it if that is later than PrologEpilogTimeout. What takes
# longer, because the server is away, goes on in a session of its own.
if [[ ${1:-} != --rest ]]; then
  touch "$FAULTLINE_LOGS/.ended.$SLURM_JOB_ID"
  setsid "$0" --rest &
  for _ in {1..200}; do
    kill -0 "$!" 2>/dev/null || break
    sleep 0.1
  done
  exit
fi

kernel=$FAULTLINE_LOGS/.kernel.$SLURM_JOB_ID
if pid=$(faultline_agent_of "$SLURM_JOB_ID"); then
  kill "$pid"
  for _ in {1..100}; do
    kill -0 "$pid" 2>/dev/null || break
    sleep 0.1
  done
fi

send=(timeout 110 faultline ship --final --job "slurm-$SLURM_JOB_ID" --host "$faultline_node" --to "$FAULTLINE_URL"
  "${faultline_server[@]}" --retry-for 45s)
"${send[@]}" --kmsg --state "$kernel" || echo "job $SLURM_JOB_ID: the kernel's messages were not sent"
[[ -z $(ls "$FAULTLINE_LOGS/$SLURM_JOB_ID") ]] || "${send[@]}" "$FAULTLINE_LOGS/$SLURM_JOB_ID" ||
  echo "job $SLURM_JOB_ID: its logs were not all sent"
# Unless the job was started again meanwhile.
faultline_agent_of "$SLURM_JOB_ID" >/dev/null || rm -rf "$kernel"
