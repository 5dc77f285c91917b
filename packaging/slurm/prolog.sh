#!/usr/bin/env bash
# Prolog of slurm.conf: runs as root on each node before a job. Makes the folder for the job's logs, and sends what the
# kernel says while the job runs. It ends with 0 whatever happens: Slurm drains a node whose prolog fails.
set -euo pipefail
trap 'exit 0' EXIT
# shellcheck source=packaging/slurm/settings.sh
. "$(dirname "$0")/settings.sh"

umask 022 # users pass through this folder
mkdir -p "$FAULTLINE_LOGS"
umask 077
exec </dev/null >>"$FAULTLINE_LOGS/.prolog" 2>&1

# The epilog marks what has ended. It did not run for jobs during which the node went down.
touch -d "@$(awk '/^btime/ { print $2 }' /proc/stat)" "$FAULTLINE_LOGS/.booted"
while read -r kernel; do
  touch "$FAULTLINE_LOGS/.ended.${kernel##*.}"
  rm -rf "$kernel"
done < <(find "$FAULTLINE_LOGS" -maxdepth 1 -type d -name '.kernel.*' ! -newer "$FAULTLINE_LOGS/.booted")
# A job that was started again runs, whatever the mark says.
rm -f "$FAULTLINE_LOGS/.ended.$SLURM_JOB_ID"
while read -r ended; do
  old=${ended##*.}
  faultline_agent_of "$old" >/dev/null || rm -rf "${FAULTLINE_LOGS:?}/${old:?}" "$ended"
done < <(find "$FAULTLINE_LOGS" -maxdepth 1 -type f -name '.ended.?*' -mtime "+$FAULTLINE_KEEP_DAYS")

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
