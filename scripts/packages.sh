# shellcheck shell=bash
# Installs groups of packages.txt. Asks dpkg first, so that a second call takes no time and no network.

# need_packages [GROUP...]; no group named: all of them, but no npm where another's is installed, which
# Debian's would conflict with.
need_packages() {
  if (($# == 0)) && command -v npm >/dev/null; then
    local groups
    mapfile -t groups < <(groups_of_packages | grep -vxF node)
    set -- "${groups[@]}"
  fi
  command -v dpkg-query >/dev/null ||
    die "this is no Debian: install what packages.txt names in your system's way, then cmake --preset release"
  local wanted missing
  wanted=$(packages_of "$@")
  missing=$(missing_of "$wanted")
  if [[ -n $missing ]]; then
    say "installing ${missing//$'\n'/ }"
    install_packages "$missing"
  fi
}

# packages_of [GROUP...]: their packages, one a line.
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

# missing_of PACKAGES: those of them that are not installed. One a line, both.
missing_of() {
  local installed
  # shellcheck disable=SC2016  # dpkg-query's own ${}, not the shell's
  installed=$(xargs dpkg-query --show --showformat '${db:Status-Status} ${Package}\n' <<<"$1" 2>/dev/null |
    sed -n 's/^installed //p' | sort -u) || true
  comm -23 <(echo "$1") <(echo "$installed")
}

# install_packages PACKAGES: one a line. The system's package lists may be absent (a bare image) or
# older than the archive; they are fetched only then.
install_packages() {
  local packages
  mapfile -t packages <<<"$1"
  if ! apt_get install "${packages[@]}"; then
    say "once more, with fresh package lists"
    apt_get update
    apt_get install "${packages[@]}"
  fi
}

# Tests speak with the real Prometheus and Alertmanager. Debian's packages would start both as
# services; so only the programs are taken out of them, into build/tools.
need_monitoring() {
  local tools=$PWD/build/tools
  PATH=$tools/usr/bin:$PATH
  if ! command -v promtool >/dev/null || ! command -v prometheus >/dev/null; then
    take_programs prometheus "$tools"
  fi
  if ! command -v amtool >/dev/null || ! command -v prometheus-alertmanager >/dev/null; then
    take_programs prometheus-alertmanager "$tools"
  fi
  # Debian's Alertmanager does not start without its templates, and looks for them here alone.
  local templates=/usr/share/prometheus/alertmanager
  if [[ ! -e $templates && -e $tools$templates ]]; then
    as_root mkdir -p "${templates%/*}"
    as_root cp -r "$tools$templates" "$templates"
  fi
}

# take_programs PACKAGE FOLDER: with what they read.
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
    tar -x -C "$2" --wildcards './usr/bin/*' './usr/share/prometheus/*'
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
    command -v sudo >/dev/null || die "neither root nor sudo here. As root, run: $*"
    sudo "$@"
  fi
}
