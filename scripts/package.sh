# shellcheck shell=bash
# Makes packages of the portable binary in build/packages. The files that they install are laid out once, in
# build/packages/root, and packed in four ways.

packages=build/packages

# package [deb|rpm|tar|image]...: all by default; prints the files.
package() {
  local kinds=("$@") kind
  ((${#kinds[@]} > 0)) || kinds=(deb rpm tar image)
  for kind in "${kinds[@]}"; do
    declare -F "package_$kind" >/dev/null || die "there is no package '$kind', only deb, rpm, tar and image"
  done
  need_library_sources
  build portable faultline manual
  packaging/portable/check.sh build/portable/faultline
  lay_out "$packages/root"
  # Packages of earlier versions would match the patterns of package_test.sh too.
  find "$packages" -maxdepth 1 -type f -name 'faultline[_-]*' ! -name "*[_-]$(version)[_-]*" -delete
  for kind in "${kinds[@]}"; do
    "package_$kind" "$packages/root" "$(version)"
  done
}

version() { build/portable/faultline version | cut -d ' ' -f 2; }

# Debian has no static form of these two libraries. They are built from Debian's sources, in the version whose
# headers are installed.
need_library_sources() {
  fetch_source libfmt-dev fmtlib
  fetch_source libsimdjson-dev simdjson
}

# fetch_source PACKAGE SOURCE: puts the source of an installed package into build/tools/src/SOURCE. apt checks
# its signature. The system's own package lists need not include sources.
fetch_source() {
  local version folder=$PWD/build/tools/src
  # shellcheck disable=SC2016  # dpkg-query's own ${}, not the shell's
  version=$(dpkg-query --show --showformat '${source:Version}' "$1")
  [[ $(cat "$folder/$2.version" 2>/dev/null) != "$version" ]] || return 0
  say "fetching the source of $2"
  local mirror lists=$folder/lists
  mirror=$(mirror_of "$1")
  mkdir -p "$lists/partial"
  echo "deb-src [signed-by=/usr/share/keyrings/debian-archive-keyring.gpg] $mirror bookworm main" >"$folder/sources.list"
  local apt=(apt-get -q -o Dir::Etc::SourceList="$folder/sources.list" -o Dir::Etc::SourceParts=/dev/null
    -o Dir::State::Lists="$lists" -o APT::Sandbox::User=root)
  "${apt[@]}" update >&2
  (
    cd "$folder" || exit
    rm -rf "$2"
    "${apt[@]}" --download-only source "$2=$version" >&2
    dpkg-source --extract "$2_${version#*:}.dsc" "$2" >&2
  )
  echo "$version" >"$folder/$2.version"
}

# mirror_of PACKAGE: the URL of the archive from which apt takes the package.
mirror_of() {
  local url
  url=$(apt-get --print-uris download "$1" 2>/dev/null || { apt_get update && apt-get --print-uris download "$1"; })
  url=${url#\'}
  echo "${url%%/pool/*}"
}

# lay_out FOLDER: puts the files of a package there, as they will be on a machine.
lay_out() {
  rm -rf "$1"
  mkdir -p "$1"
  cmake --install build/portable --strip --prefix "$PWD/$1/usr" >&2
  mv "$1/usr/etc" "$1/etc"
  gzip -9n "$1"/usr/share/man/man1/*.1
  gather_licences "$1/usr/share/doc/faultline/licences"
  chmod -R u=rwX,go=rX "$1"
}

# gather_licences FOLDER: collects Debian's copyright files of everything that is linked into the binary.
gather_licences() {
  local package
  mkdir "$1"
  for package in $(packages_of build | grep '^lib.*-dev$\|^zlib') libstdc++-12-dev; do
    gzip -9n <"/usr/share/doc/$package/copyright" >"$1/$package.gz"
  done
}

# package_deb ROOT VERSION
package_deb() {
  local folder=$packages/deb architecture
  architecture=$(dpkg --print-architecture)
  rm -rf "$folder"
  cp -a "$1" "$folder"
  mv "$folder/usr/share/doc/faultline/LICENSE" "$folder/usr/share/doc/faultline/copyright"
  ln -s copyright "$folder/usr/share/doc/faultline/LICENSE"
  mkdir "$folder/DEBIAN"
  cp packaging/deb/{postinst,prerm,postrm} "$folder/DEBIAN"
  sed -e "s/@VERSION@/$2/; s/@ARCHITECTURE@/$architecture/; s/@KILOBYTES@/$(du -sk "$1" | cut -f 1)/" \
    packaging/deb/control >"$folder/DEBIAN/control"
  (cd "$folder" && find etc -type f -printf '/%p\n' >DEBIAN/conffiles)
  dpkg-deb --root-owner-group --build "$folder" "$packages/faultline_$2_$architecture.deb" >&2
  realpath "$packages/faultline_$2_$architecture.deb"
}

# package_rpm ROOT VERSION
package_rpm() {
  rpmbuild -bb --quiet --define "_topdir $PWD/$packages/rpm" --define "_rpmdir $PWD/$packages" \
    --define "_rpmfilename faultline-%%{VERSION}-%%{RELEASE}.%%{ARCH}.rpm" \
    --define "stage $PWD/$1" --define "package_version $2" packaging/rpm/faultline.spec >&2
  realpath "$packages/faultline-$2-1.$(uname -m).rpm"
}

# package_tar ROOT VERSION: bin, etc, lib and share in a folder whose name has the version.
package_tar() {
  local name
  name=faultline-$2-linux-$(uname -m)
  tar --create --gzip --file "$packages/$name.tar.gz" --owner root:0 --group root:0 --sort name \
    --transform "s,^\(usr/\|\),$name/," --directory "$1" \
    etc usr/bin usr/lib usr/share
  realpath "$packages/$name.tar.gz"
}

# package_image ROOT VERSION: an OCI archive with the binary, glibc, which is all that it needs, and the CA
# certificates with which it verifies receivers of alerts.
package_image() {
  local folder=$packages/image archive library
  archive=$packages/faultline-$2-$(uname -m).oci.tar
  rm -rf "$folder" "$archive"
  mkdir -p "$folder"/{data,etc/ssl/certs,tmp,usr/bin,usr/lib,usr/share/doc/faultline}
  ln -s usr/lib "$folder/lib"
  ln -s usr/lib "$folder/lib64"
  cp "$1/usr/bin/faultline" "$folder/usr/bin"
  while read -r library; do
    cp --dereference "$library" "$folder/usr/lib/"
  done < <(ldd build/portable/faultline | grep -o '/[^ ]*')
  cp -a "$1"/usr/share/doc/faultline/{LICENSE,licences} "$folder/usr/share/doc/faultline/"
  cp /usr/share/doc/libc6/copyright "$folder/usr/share/doc/faultline/licences/libc6"
  cp /etc/ssl/certs/ca-certificates.crt "$folder/etc/ssl/certs/"
  echo 'nonroot:x:65532:65532:nonroot:/data:/' >"$folder/etc/passwd"
  echo 'nonroot:x:65532:' >"$folder/etc/group"
  echo 'hosts: files dns' >"$folder/etc/nsswitch.conf"
  chmod -R u=rwX,go=rX "$folder"
  chmod 1777 "$folder/tmp"
  # vfs needs neither an overlay file system nor a user namespace.
  local buildah=(as_root buildah --storage-driver vfs --root "$PWD/$packages/storage" --runroot "$PWD/$packages/storage/run")
  local container
  container=$("${buildah[@]}" from scratch)
  # Archives keep owners; copies do not.
  tar --create --file "$folder.tar" --directory "$folder" --owner root:0 --group root:0 --exclude ./data .
  tar --append --file "$folder.tar" --directory "$folder" --owner nonroot:65532 --group nonroot:65532 ./data
  "${buildah[@]}" add --quiet "$container" "$folder.tar" / >&2
  "${buildah[@]}" config --user 65532:65532 --workingdir /data --volume /data --port 8686 --stop-signal SIGTERM \
    --entrypoint '["/usr/bin/faultline"]' --cmd 'serve --data /data' \
    --label org.opencontainers.image.title=faultline --label "org.opencontainers.image.version=$2" \
    --label org.opencontainers.image.licenses=Apache-2.0 "$container"
  "${buildah[@]}" commit --quiet --format oci "$container" "oci-archive:$archive:faultline:$2" >&2
  "${buildah[@]}" rm "$container" >/dev/null
  realpath "$archive"
}
