#!/usr/bin/env bash
# HealthCheckProgram of slurm.conf: runs as root on each node from time to time. Drains this node if a diagnosis blames
# its hardware, and resumes it when that was withdrawn; `faultline guard --help` says what counts. Without
# --act in FAULTLINE_GUARD_FLAGS it only says what it would do. If the server does not answer, nothing changes.
set -euo pipefail
trap 'exit 0' EXIT
# shellcheck source=packaging/slurm/settings.sh
. "$(dirname "$0")/settings.sh"

umask 022 # users pass through this folder
mkdir -p "$FAULTLINE_LOGS"
umask 077
# What it said last. Slurm kills a program that runs for longer than a minute.
timeout 50 faultline guard --slurm --node "$faultline_node" --from "$FAULTLINE_URL" "${faultline_server[@]}" \
  "${FAULTLINE_GUARD_FLAGS[@]}" </dev/null >"$FAULTLINE_LOGS/.guard" 2>&1
