# shellcheck shell=bash
# Installs groups of packages.txt. Asks dpkg first, so that a second call takes no time and no network.

# need_packages [GROUP...]: without a GROUP all of them, except Debian's npm if another npm is installed, since
# they would conflict.
need_packages() {
  if (($# == 0)) && command -v npm >/dev/null; then
    local groups
    mapfile -t groups < <(groups_of_packages | grep -vxF node)
    set -- "${groups[@]}"
  fi
  command -v dpkg-query >/dev/null ||
    die "this is not Debian: install the packages of packages.txt with your package manager, then run cmake --preset release"
  local wanted missing
  wanted=$(packages_of "$@")
  missing=$(missing_of "$wanted")
  if [[ -n $missing ]]; then
    say "installing ${missing//$'\n'/ }"
    install_packages "$missing"
  fi
}

# packages_of [GROUP...]: prints their packages, one a line.
packages_of() {
  local known group
  known=$(groups_of_packages)
  for group in "$@"; do
    grep -qxF -e "$group" <<<"$known" ||
      die "packages.txt has no group '$group', only ${known//$'\n'/, }"
  done
  awk -v wanted=" $* " '
    { sub(/#.*/, "") }
    /^\[/ { group = substr($1, 2, length($1) - 2); next }
    NF && (wanted == "  " || index(wanted, " " group " ")) { print $1 }
  ' packages.txt | sort -u
}

groups_of_packages() {
  sed -n 's/^\[\([a-z-]*\)\].*/\1/p' packages.txt
}

# missing_of PACKAGES: prints those that are not installed. Input and output have one a line.
missing_of() {
  local installed
  # shellcheck disable=SC2016  # dpkg-query's own ${}, not the shell's
  installed=$(xargs dpkg-query --show --showformat '${db:Status-Status} ${Package}\n' <<<"$1" 2>/dev/null |
    sed -n 's/^installed //p' | sort -u) || true
  comm -23 <(echo "$1") <(echo "$installed")
}

# install_packages PACKAGES: PACKAGES has one a line. Fetches the system's package lists only if they are absent
# (as in a bare image) or older than the archive.
install_packages() {
  local packages
  mapfile -t packages <<<"$1"
  if ! apt_get install "${packages[@]}"; then
    say "trying again with fresh package lists"
    apt_get update
    apt_get install "${packages[@]}"
  fi
}

# Tests use the real Prometheus and Alertmanager. Debian's packages would start both as services, so only their
# programs are unpacked, into build/tools.
need_monitoring() {
  local tools=$PWD/build/tools
  PATH=$tools/usr/bin:$PATH
  if ! command -v promtool >/dev/null || ! command -v prometheus >/dev/null; then
    take_programs prometheus "$tools"
  fi
  if ! command -v amtool >/dev/null || ! command -v prometheus-alertmanager >/dev/null; then
    take_programs prometheus-alertmanager "$tools"
  fi
  # Debian's Alertmanager does not start without its templates, and looks for them only here.
  local templates=/usr/share/prometheus/alertmanager
  if [[ ! -e $templates && -e $tools$templates ]]; then
    as_root mkdir -p "${templates%/*}"
    as_root cp -r "$tools$templates" "$templates"
  fi
}

# Tests send with the real rsyslog, syslog-ng and systemd-journal-upload. They are unpacked likewise, with their
# libraries.
need_shippers() {
  local tools=$PWD/build/tools/shippers package
  local wanted="rsyslog rsyslog-elasticsearch libestr0 libfastjson4 liblognorm5
    syslog-ng-core syslog-ng-mod-http libivykis0 libnet1 libwrap0
    systemd-journal-remote libsystemd-shared libmicrohttpd12"
  [[ $(cat "$tools/complete" 2>/dev/null) != "$wanted" ]] || return 0
  for package in $wanted; do
    take_programs "$package" "$tools"
  done
  echo "$wanted" >"$tools/complete"
}

# take_programs PACKAGE FOLDER: unpacks its programs and the files that they read.
take_programs() {
  say "fetching the programs of $1"
  local download
  download=$(mktemp -d)
  (
    cd "$download" || exit
    apt-get -q download "$1" >&2 || { apt_get update && apt-get -q download "$1" >&2; }
  )
  mkdir -p "$2"
  dpkg-deb --fsys-tarfile "$download"/*.deb |
    tar -x -C "$2" --exclude './usr/share/doc' --exclude './usr/share/man' --exclude './etc' --exclude './var'
  rm -r "$download"
}

apt_get() {
  as_root env DEBIAN_FRONTEND=noninteractive \
    apt-get -qy --no-install-recommends -o DPkg::Lock::Timeout=120 "$@" </dev/null >&2
}

as_root() {
  if ((EUID == 0)); then
    "$@"
  else
    command -v sudo >/dev/null || die "not root, and no sudo here. As root, run: $*"
    sudo "$@"
  fi
}
