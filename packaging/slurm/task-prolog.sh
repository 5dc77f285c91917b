#!/usr/bin/env bash
# TaskProlog of slurm.conf: runs as the user before each task, and what it prints becomes the task's environment. The
# agent reads FAULTLINE_JOB there, so that a job needs no flag and no label. What a user has set stays.
set -euo pipefail
trap 'exit 0' EXIT
# shellcheck source=packaging/slurm/settings.sh
. "$(dirname "$0")/settings.sh"

# give NAME VALUE OURS: unless a user has set it. A value that looks like OURS is of an outer job, from whose script this
# one was submitted.
give() {
  # shellcheck disable=SC2053  # OURS is a pattern
  [[ -n ${!1:-} && ${!1} != $3 ]] || echo "export $1=$2"
}

give FAULTLINE_JOB "slurm-$SLURM_JOB_ID" 'slurm-*'
give NCCL_DEBUG INFO ''
give NCCL_DEBUG_SUBSYS INIT,COLL ''
give NCCL_DEBUG_FILE "$FAULTLINE_LOGS/$SLURM_JOB_ID/nccl.%h.%p.log" "$FAULTLINE_LOGS/*"
