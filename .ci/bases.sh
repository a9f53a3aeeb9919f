# For .ci/image: roots that are as the bases that the Dockerfile asks for, without a registry of images. They are made from
# Debian's packages, and Node and npm of this checkout. They lie in $work.

own_node=$PWD/node_modules/node/bin/node
# Not that of security updates, which has no whole system.
mirror=$(apt-get indextargets --format '$(REPO_URI)' 'Created-By: Packages' 'Origin: Debian' 'Codename: bookworm' | sort -u | head -n 1)
mirror=${mirror:-http://deb.debian.org/debian}

put_node() {
  mkdir -p "$1/bin" "$1/lib/node_modules"
  cp --reflink=auto "$own_node" "$1/bin/node"
  cp -r "$(npm root --global 2>/dev/null)/npm" "$1/lib/node_modules/npm"
  ln -s ../lib/node_modules/npm/bin/npm-cli.js "$1/bin/npm"
  ln -s ../lib/node_modules/npm/bin/npx-cli.js "$1/bin/npx"
}

# As the official slim base: Debian's essential packages with apt, without documentation, and Node under /usr/local.
make_debian() {
  local root=$work/debian folder excluded=()
  for folder in man info locale; do excluded+=(--dpkgopt="path-exclude=/usr/share/$folder/*"); done
  mmdebstrap --variant=apt --include=libstdc++6,usr-is-merged --hook-dir=/usr/share/mmdebstrap/hooks/merged-usr \
    --dpkgopt='path-exclude=/usr/share/doc/*' --dpkgopt='path-include=/usr/share/doc/*/copyright' "${excluded[@]}" \
    bookworm "$root" "$mirror"
  rm -rf "$root"/dev/*
  put_node "$root/usr/local"
}

# As Red Hat's, in what concerns the Dockerfile: rpm in the place of dpkg, Node and npm as its packages under /usr, another
# user and another home.
make_ubi_like() {
  local root=$work/ubi packages=$work/packages library
  cp -a --reflink=auto "$work/debian" "$root"
  rm -rf "$root/var/lib/dpkg" "$root"/usr/bin/dpkg* "$root"/usr/bin/apt* "$root"/usr/local/bin/* "$root"/usr/local/lib/*
  printf 'NAME="made to look like Red Hat"\nID="rhel"\nVERSION_ID="9.7"\n' >"$root/usr/lib/os-release"
  mkdir -p "$root/opt/app-root/src"
  for library in $(ldd "$(command -v rpm)" | grep -o '/[^ ]*'); do
    [ -e "$root$library" ] || cp --dereference "$library" "$root$library"
  done
  cp "$(command -v rpm)" "$root/usr/bin/rpm"
  cp -r /usr/lib/rpm "$root/usr/lib/"
  sed -i 's|^%_dbpath.*|%_dbpath /var/lib/rpm|' "$root/usr/lib/rpm/macros"

  put_node "$packages/files/usr"
  cat >"$packages/nodejs.spec" <<END
Name: nodejs
Epoch: 1
Version: $("$own_node" -p process.versions.node)
Release: 1.el9
License: MIT
Summary: Node
%description
Node
%package -n npm
Summary: npm
%description -n npm
npm
%install
cp -a $packages/files/. %{buildroot}
%files
/usr/bin/node
%files -n npm
/usr/bin/np*
/usr/lib/node_modules
END
  rpmbuild -bb --nodeps --define "_topdir $packages" --define '_binary_payload w0.gzdio' \
    --define '__os_install_post %{nil}' --define 'debug_package %{nil}' --define '_build_id_links none' \
    --define '__requires_exclude .*' --define '__provides_exclude .*' "$packages/nodejs.spec"
  rpm --root "$root" --dbpath /var/lib/rpm --force-debian --install --nodeps "$packages"/RPMS/*/*.rpm
}

# Makes an image of a root; further arguments are its settings.
make_base() {
  local root=$1 name=$2 container
  shift 2
  container=$(buildah "${storage[@]}" from scratch)
  buildah "${storage[@]}" add --quiet "$container" "$root" /
  [ $# -eq 0 ] || buildah "${storage[@]}" config "$@" "$container"
  buildah "${storage[@]}" commit --quiet "$container" "$name"
  buildah "${storage[@]}" rm "$container"
}
