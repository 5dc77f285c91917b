#!/usr/bin/env bash
# Prolog of slurm.conf: runs as root on each node before a job. Makes the folder for the job's logs, and sends what the
# kernel says while the job runs. It ends with 0 whatever happens: Slurm drains a node whose prolog fails.
set -euo pipefail
trap 'exit 0' EXIT
# shellcheck source=packaging/slurm/settings.sh
. "$(dirname "$0")/settings.sh"

mkdir -p "$FAULTLINE_LOGS"
exec </dev/null >>"$FAULTLINE_LOGS/.prolog" 2>&1
find "$FAULTLINE_LOGS" -mindepth 1 -maxdepth 1 -type d -mtime "+$FAULTLINE_KEEP_DAYS" -exec rm -rf {} +

folder=$FAULTLINE_LOGS/$SLURM_JOB_ID
mkdir -p "$folder"
chown "$SLURM_JOB_UID" "$folder"
chmod 0700 "$folder"

# Follows until the epilog ends it. Slurm ends what a prolog leaves behind, unless it has a session of its own by then.
kernel=$FAULTLINE_LOGS/.kernel.$SLURM_JOB_ID
mkdir -p "$kernel"
setsid faultline ship --follow --kmsg --job "slurm-$SLURM_JOB_ID" --host "$faultline_node" --to "$FAULTLINE_URL" \
  "${faultline_server[@]}" --state "$kernel" >"$kernel/messages" 2>&1 &
echo "$!" >"$kernel/pid"
for _ in {1..50}; do
  [[ ! -e $kernel/lock ]] || break
  sleep 0.1
done
