# shellcheck shell=bash disable=SC2154
# Sourced by scripts that start a server more than once. They set `build`, `work` and `server`, which is empty while no
# server runs.

seconds_since() { awk -v from="$1" -v to="$EPOCHREALTIME" 'BEGIN { printf "%.2f", to - from }'; }

expect_server() {
  kill -0 "$server" 2>/dev/null && return
  cat "$work/messages" >&2
  exit 1
}

# start_server DATA [FLAG...]: sets server (its pid), url and ready (the seconds until it was).
start_server() {
  local begin=$EPOCHREALTIME
  : >"$work/messages"   # where another server may have said where it listens
  "$build/faultline" serve --listen 127.0.0.1:0 --data "$@" 2>"$work/messages" &
  server=$!
  until url=$(sed -n 's/.*msg="listening on \([^"]*\)".*/\1/p' "$work/messages") && [[ -n $url ]]; do
    expect_server
    sleep 0.02
  done
  until curl -sf -o /dev/null "$url/readyz"; do
    expect_server
    sleep 0.02
  done
  # shellcheck disable=SC2034  # the scripts use it
  ready=$(seconds_since "$begin")
}

stop_server() {
  if kill "$server"; then wait "$server" || true; fi
  server=
}
