#!/usr/bin/env bash
# exclude.sh JOBID: prints the option that keeps the hosts that the job's diagnosis blames out of its next start, or
# nothing:  sbatch $(exclude.sh 4711) train.sbatch
set -euo pipefail
# shellcheck source=packaging/slurm/settings.sh
. "$(dirname "$0")/settings.sh"

[[ ${1:-} =~ ^[0-9_+]+$ ]] || { echo "usage: ${0##*/} JOBID" >&2; exit 2; }
flags=(--silent --show-error --fail --max-time 20)
[[ -z $FAULTLINE_CA_FILE ]] || flags+=(--cacert "$FAULTLINE_CA_FILE")
# The token goes through stdin, not through the command line, which others can see.
header=
[[ -z $FAULTLINE_READ_TOKEN_FILE ]] || header="header = \"Authorization: Bearer $(cat "$FAULTLINE_READ_TOKEN_FILE")\""
diagnosis=$(curl "${flags[@]}" --config - "$FAULTLINE_URL/api/v1/jobs/slurm-$1/diagnosis?format=text" <<<"$header")
sed -n 's/^restart without: .*\(--exclude=[^ ]*\)$/\1/p' <<<"$diagnosis"
