# shellcheck shell=bash
# Tests the packages as users install them: in a bare Debian made by debootstrap, which has no library but glibc,
# and the image by itself. Needs root, for chroot.

# shellcheck disable=SC2154  # packages is of package.sh
bare=$packages/bare
fault=tests/scenarios/gpu_off_bus/logs/gpu-node-3/dmesg.txt
scratch=
server=
user=61184:61184  # the first of those that systemd lends to services
told=()  # what the last lines say
# A server must be the shell's own child; as_root would be between them.
sudo=()
((EUID == 0)) || sudo=(sudo)

# test_packages [--image-by-chroot]: with the flag, an image that podman cannot run here is tried without it.
test_packages() {
  local image_by_chroot=
  case ${1:-} in
    '') ;;
    --image-by-chroot) image_by_chroot=1 ;;
    *) die "package test: there is no flag '$1', only --image-by-chroot" ;;
  esac
  scratch=$(mktemp -d)
  trap 'stop_server; as_root rm -rf "$scratch"' EXIT
  try test_manual
  try test_shells
  try test_tar
  try test_units
  try test_deb
  try test_https
  try test_rpm
  try test_older_glibc
  try test_image
  printf '%s\n' "${told[@]}"
}

# try FUNCTION: its first failure ends everything.
try() {
  say "$1"
  "$1"
}

# expect TEXT COMMAND...: the command must succeed and print TEXT.
expect() {
  local text=$1 out
  out=$("${@:2}" 2>&1) || die "failed: ${*:2}: $out"
  [[ $out == *"$text"* ]] || die "no '$text' in the output of ${*:2}: $out"
}

test_manual() {
  local page
  for page in "$packages"/root/usr/share/man/man1/*.gz; do
    zcat "$page" >"$scratch/page.1"
    expect '' mandoc -T lint "$scratch/page.1"
    [[ -z $(mandoc -T lint "$scratch/page.1" 2>&1) ]] || die "mandoc: $(mandoc -T lint "$scratch/page.1" 2>&1)"
  done
}

test_shells() {
  local share=$PWD/$packages/root/usr/share
  # shellcheck disable=SC2016  # for bash
  expect 'list show check' bash -c '. "$1"; COMP_WORDS=(faultline rules ""); COMP_CWORD=2; _faultline; echo "${COMPREPLY[*]}"' \
    bash "$share/bash-completion/completions/faultline"
  expect 'serve' fish --no-config -c "source $share/fish/vendor_completions.d/faultline.fish; complete -C 'faultline ser'"
  expect 'operate' fish --no-config -c "source $share/fish/vendor_completions.d/faultline.fish; complete -C 'faultline token x --scope '"
  expect 'markdown' fish --no-config -c "source $share/fish/vendor_completions.d/faultline.fish; complete -C 'faultline diagnose --format '"
  expect 'faultline rules list' zsh_completes "$share/zsh/vendor-completions" 'faultline rules li'
  expect '--tls-client-ca' zsh_completes "$share/zsh/vendor-completions" 'faultline serve --tls-cl'
  expect 'markdown' zsh_completes "$share/zsh/vendor-completions" 'faultline diagnose --format m'
}

# zsh_completes FOLDER LINE: prints the line after the Tab key. zsh completes only in a terminal.
zsh_completes() {
  # shellcheck disable=SC2016  # for zsh
  zsh -f -c '
    zmodload zsh/zpty
    zpty shell zsh -f -i
    zpty -w shell "unsetopt beep; fpath=($1 \$fpath); autoload -Uz compinit; compinit -u -D; echo ready"
    zpty -r -m shell line "*ready*ready*"
    zpty -w -n shell "$2$(print "\t")"
    sleep 1
    while zpty -r -t shell line; do print -r -- "$line"; done
    zpty -d shell' zsh "$1" "$2"
}

test_tar() {
  tar --extract --gzip --file "$packages"/faultline-*.tar.gz --directory "$scratch" --strip-components 1
  [[ $("$scratch/bin/faultline" diagnose "$fault" || echo "status $?") == *'fell off the bus'*'status 1' ]] ||
    die "the binary of the .tar.gz finds no fault in $fault"
}

# Tests the systemd units with the binary of the .tar.gz in place of an installed one, and without its manual.
test_units() {
  local unit copy complaints
  for unit in "$packages"/root/usr/lib/systemd/system/*.service; do
    copy=$scratch/${unit##*/}
    sed -e "s#/usr/bin/faultline#$scratch/bin/faultline#" -e /^Documentation=/d "$unit" >"$copy"
    complaints=$(systemd-analyze verify "$copy" 2>&1) || die "systemd-analyze: $complaints"
    [[ -z $complaints ]] || die "systemd-analyze: $complaints"
  done
}

# bare_root NAME: copies a bare Debian into the scratch folder; prints its path.
bare_root() {
  if [[ ! -e $bare/etc/debian_version ]]; then
    as_root rm -rf "$bare"
    as_root debootstrap --variant=minbase bookworm "$bare" "$(mirror_of libfmt-dev)" >&2
  fi
  as_root cp -a "$bare" "$scratch/$1"
  echo "$scratch/$1"
}

# start_service ROOT [FLAG...]: starts the server as its unit says, with chroot in place of systemd: with the unit's
# command line, as a user of its own (DynamicUser), in the folder that this user gets (StateDirectory). Sets url.
start_service() {
  local root=$1 command
  command=$(sed -n 's/^ExecStart=//p' "$root/usr/lib/systemd/system/faultline.service")
  provide_state "$root"
  rm -f "$scratch/log"
  "${sudo[@]}" chroot --userspec "$user" "$root" /usr/bin/env STATE_DIRECTORY=/var/lib/faultline \
    FAULTLINE_OPTIONS="--listen 127.0.0.1:0 ${*:2}" sh -c "exec $command" >"$scratch/out" 2>"$scratch/log" &
  server=$!
  wait_for_server
}

# provide_state ROOT: as systemd does it for DynamicUser and StateDirectory, except that anybody may pass through
# private/: systemd mounts the folder for the service.
provide_state() {
  as_root install -d -m 0711 "$1/var/lib/private"
  as_root install -d -m 0750 -o "${user%:*}" -g "${user#*:}" "$1/var/lib/private/faultline"
  as_root ln -sfn private/faultline "$1/var/lib/faultline"
}

wait_for_server() {
  local tries
  url=
  for ((tries = 0; tries < 100; tries++)); do
    url=$(sed -n 's/.*msg="listening on \([^"]*\)".*/\1/p' "$scratch/log" 2>/dev/null || true)
    [[ -z $url ]] || return 0
    kill -0 "$server" || break
    sleep 0.1
  done
  die "the server does not start: $(cat "$scratch/log")"
}

stop_server() {
  [[ -n $server ]] || return 0
  as_root kill "$server" 2>/dev/null || true
  wait "$server" || die "the server ended with status $?: $(cat "$scratch/log")"
  server=
}

ask() { curl -sS --fail-with-body --max-time 20 "$@"; }

# files ROOT: lists the files there, without those of dpkg and rpm themselves.
files() { as_root find "$1" -xdev -printf '/%P\n' | grep -Ev '^/var/(lib/(dpkg|rpm)|log|cache)(/|$)' | sort; }

test_deb() {
  local root package next
  root=$(bare_root deb)
  package=$(ls "$packages"/faultline_*.deb)
  as_root install -d -m 0711 "$root/var/lib/private"  # systemd's own, and stays
  files "$root" >"$scratch/before"

  as_root dpkg --root="$root" --install "$package" >&2
  expect 'the settings are good' as_root chroot "$root" faultline serve --config /etc/faultline/faultline.toml --check-config
  start_service "$root"
  take_fault
  stop_server
  make_older "$root"

  say "the next version: data and settings stay"
  echo 'job = "mine"' | as_root tee -a "$root/etc/faultline/faultline.toml" >/dev/null
  dpkg-deb --raw-extract "$package" "$scratch/next"
  sed -i 's/^Version: .*/&+next/' "$scratch/next/DEBIAN/control"
  next=$scratch/next.deb
  dpkg-deb --root-owner-group --build "$scratch/next" "$next" >&2
  as_root dpkg --root="$root" --install "$next" >&2
  expect 'job = "mine"' as_root cat "$root/etc/faultline/faultline.toml"
  start_service "$root"
  expect_same_answer "$root"
  stop_server

  say "removed: data and settings stay; purged: nothing does"
  as_root dpkg --root="$root" --remove faultline >&2
  as_root test -L "$root/var/lib/faultline" || die "removing the package took the link to the data away"
  as_root test -e "$root/var/lib/private/faultline/faultline.db" || die "removing the package took the data away"
  as_root test -e "$root/etc/faultline/faultline.toml" || die "removing the package took its settings away"
  as_root install -d "$root/var/lib/faultline-ship" "$root/var/lib/faultline-guard"
  as_root dpkg --root="$root" --purge faultline >&2
  files "$root" | diff "$scratch/before" - >&2 || die "purging the package does not leave the system as it was"
}

# take_fault: sends a log of a fault; keeps the answer.
take_fault() {
  expect '"recognized":7' ask -T "$fault" "$url/api/v1/ingest?job=llama&host=gpu-node-3&final=true"
  answer >"$scratch/answer"
  grep -q 'fell off the bus' "$scratch/answer" || die "the fault is not found: $(cat "$scratch/answer")"
}

# The address of the server is in it, and changes with each start.
answer() { ask "$url/api/v1/jobs/llama/diagnosis?format=text" | sed "s#$url#URL#"; }

# make_older ROOT: puts the data of a server that is stopped into the first schema that was released, so that the next
# start goes through every later step.
make_older() {
  local folder=$1/var/lib/private/faultline table columns
  {
    cat store/schema/0001_initial.sql
    echo "PRAGMA user_version = 1; PRAGMA journal_mode = WAL; ATTACH '$folder/faultline.db' AS newer;"
    for table in sources batches events findings; do
      columns=$(sqlite3 ':memory:' '.read store/schema/0001_initial.sql' \
        "SELECT group_concat(name) FROM pragma_table_info('$table')")
      echo "INSERT INTO main.$table ($columns) SELECT $columns FROM newer.$table;"
    done
  } >"$scratch/older.sql"
  rm -f "$scratch"/older.db*
  as_root sqlite3 -bail "$scratch/older.db" ".read $scratch/older.sql" >/dev/null
  as_root rm -f "$folder"/faultline.db "$folder"/faultline.db-wal "$folder"/faultline.db-shm
  as_root install -m 0600 -o "${user%:*}" -g "${user#*:}" "$scratch/older.db" "$folder/faultline.db"
}

# expect_same_answer ROOT: as before make_older, from a database of the newest schema.
expect_same_answer() {
  local schemas=(store/schema/*.sql)
  answer | diff "$scratch/answer" - >&2 || die "the answer changed"
  expect "${#schemas[@]}" as_root sqlite3 "$1/var/lib/private/faultline/faultline.db" 'PRAGMA user_version'
}

# The server speaks TLS. As a client it verifies a receiver with the CA certificates of the system, which it finds
# where distributions keep them, even if no OpenSSL is installed.
test_https() {
  local root url_of_tls
  root=$(bare_root https)
  as_root dpkg --root="$root" --install "$packages"/faultline_*.deb >&2
  openssl req -x509 -newkey rsa:2048 -nodes -days 2 -subj /CN=localhost -addext subjectAltName=IP:127.0.0.1 \
    -keyout "$scratch/key.pem" -out "$scratch/cert.pem" 2>/dev/null
  as_root cp "$scratch/key.pem" "$scratch/cert.pem" "$root/etc/faultline/"
  as_root chown "$user" "$root/etc/faultline/key.pem"
  start_service "$root" --tls-cert /etc/faultline/cert.pem --tls-key /etc/faultline/key.pem
  url_of_tls=$url
  [[ $url_of_tls == https://* ]] || die "the server does not speak TLS: $url_of_tls"
  expect 'ready' ask --cacert "$scratch/cert.pem" "$url_of_tls/readyz"
  local receiver="$url_of_tls/api/v1/ingest?job=alerts" bundle
  local send=(as_root env -u SSL_CERT_FILE -u SSL_CERT_DIR chroot "$root" faultline alerts test "$receiver" --webhook "$receiver")
  ! "${send[@]}" 2>"$scratch/refused" || die "a receiver with an untrusted certificate was accepted"
  grep -q 'certificate verify failed' "$scratch/refused" || die "$(cat "$scratch/refused")"
  for bundle in etc/pki/tls/certs/ca-bundle.crt etc/ssl/certs/ca-certificates.crt; do
    as_root install -D "$scratch/cert.pem" "$root/$bundle"
    expect 'accepted' "${send[@]}"
    as_root rm "$root/$bundle"
  done
  stop_server
}

# Installs into the bare Debian, since there is no Red Hat here; only rpm matters.
test_rpm() {
  local root rpm
  root=$(bare_root rpm)
  rpm=(as_root rpm --root "$root" --nodeps)
  "${rpm[@]}" --install "$packages"/faultline-*.rpm >&2
  start_service "$root"
  take_fault
  stop_server
  make_older "$root"
  echo 'job = "mine"' | as_root tee -a "$root/etc/faultline/faultline.toml" >/dev/null
  rpmbuild -bb --quiet --define "_topdir $scratch/rpmbuild" --define "_rpmdir $scratch" \
    --define '_rpmfilename next.rpm' --define "stage $PWD/$packages/root" --define 'package_version 999' \
    packaging/rpm/faultline.spec >&2
  "${rpm[@]}" --upgrade "$scratch/next.rpm" >&2
  expect 'job = "mine"' as_root cat "$root/etc/faultline/faultline.toml"
  start_service "$root"
  expect_same_answer "$root"
  stop_server
  "${rpm[@]}" --erase faultline >&2
  [[ ! -e $root/usr/bin/faultline ]] || die "erasing the package leaves its binary"
  as_root test -e "$root/var/lib/private/faultline/faultline.db" || die "erasing the package took the data away"
}

# Ubuntu 22.04 has an older glibc than Debian 12, and debootstrap can install it. Its mirror and its keyring need not be
# at hand everywhere.
test_older_glibc() {
  if [[ -z ${FAULTLINE_UBUNTU:-} ]]; then
    told+=("older glibc: only the symbols were checked; FAULTLINE_UBUNTU=URL of a mirror of Ubuntu runs the package there")
    return
  fi
  local root=$scratch/ubuntu
  as_root debootstrap --variant=minbase --keyring=/usr/share/keyrings/ubuntu-archive-keyring.gpg jammy "$root" \
    "$FAULTLINE_UBUNTU" >&2
  as_root dpkg --root="$root" --install "$packages"/faultline_*.deb >&2
  start_service "$root"
  take_fault
  stop_server
  told+=("older glibc: the package ran in Ubuntu 22.04")
}

# Runs the image with podman; if podman cannot run, and this is allowed, in a chroot as the image's user.
test_image() {
  local archive podman
  archive=$(ls "$packages"/faultline-*.oci.tar)
  podman=("${sudo[@]}" podman --storage-driver vfs --root "$scratch/podman" --runroot "$scratch/podman/run")
  local image
  rm -f "$scratch/log"
  image=$("${podman[@]}" load --quiet --input "$archive" | sed 's/^Loaded image: *//')
  expect '65532' "${podman[@]}" image inspect --format '{{.Config.User}}' "$image"
  if "${podman[@]}" run --rm --network host --cgroups disabled --ulimit host "$image" version >"$scratch/version" 2>&1; then
    "${podman[@]}" run --rm --network host --cgroups disabled --ulimit host --volume faultline-test:/data "$image" \
      serve --data /data --listen 127.0.0.1:0 >"$scratch/out" 2>"$scratch/log" &
    told+=("image: podman ran it")
  else
    [[ -n $image_by_chroot ]] ||
      die "podman cannot run a container here ($(tail -1 "$scratch/version")); --image-by-chroot runs the image in a chroot"
    told+=("image: it ran in a chroot, because podman cannot run a container here")
    local mounted
    mounted=$("${podman[@]}" image mount "$image")
    as_root cp -a "$mounted" "$scratch/image"
    "${sudo[@]}" chroot --userspec 65532:65532 "$scratch/image" /usr/bin/faultline serve --data /data \
      --listen 127.0.0.1:0 >"$scratch/out" 2>"$scratch/log" &
  fi
  server=$!
  wait_for_server
  expect '"recognized":7' ask -T "$fault" "$url/api/v1/ingest?job=llama&host=gpu-node-3&final=true"
  expect 'fell off the bus' ask "$url/api/v1/jobs/llama/diagnosis?format=text"
  stop_server
}
