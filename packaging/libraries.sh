#!/usr/bin/env bash
# Makes what Node and the driver need beside glibc: `packaging/libraries.sh FOLDER` fills FOLDER with libstdc++.so.6 and
# libgcc_s.so.1 of GCC 11, that of RHEL 9, and with the launcher, what each is made of, and their licence. Debian's own
# libraries of today ask for glibc 2.36; these ask for 2.34.
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
mkdir -p "$1"
out=$(cd "$1" && pwd)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
for program in apt-get dpkg-deb gcc objcopy nm strip; do
  command -v "$program" >/dev/null || { echo "packaging: $program is missing: apt-get install apt dpkg gcc binutils" >&2; exit 1; }
done
apt-get -qq -o APT::Sandbox::User=root download libstdc++6-11-dbg libgcc-11-dev gcc-11-base ||
  { echo "packaging: Debian 12's packages of GCC 11 cannot be had: apt-get update" >&2; exit 1; }
for archive in *.deb; do dpkg-deb -x "$archive" .; done
version=$(dpkg-deb -f libgcc-11-dev_*.deb Version)

# Debian's shared library, without what is for a debugger.
strip -s -o "$out/libstdc++.so.6" usr/lib/x86_64-linux-gnu/debug/libstdc++.so.6.0.29

# GCC 11's shared libgcc is in no package of Debian 12, its parts are: each function that this machine's libgcc_s exports
# and that they hold is renamed, and exported again under its name and version by a jump.
parts=usr/lib/gcc/x86_64-linux-gnu/11
flags=(-Wl,--build-id=none,-z,relro,-z,now,-z,defs -s)
nm -D --defined-only --with-symbol-versions "$(gcc -print-file-name=libgcc_s.so.1)" |
  awk '$2 == "T" && /@@/ { sub("@@", " ", $3); print $3 }' | sort >exported
nm --defined-only $parts/libgcc.a $parts/libgcc_eh.a 2>/dev/null | awk '$2 ~ /[TWR]/ { print $3 }' | sort -u >held
join exported held >names
awk '{ print $1, "of_gcc_" $1 }' names >renamed
for name in libgcc libgcc_eh; do objcopy --redefine-syms=renamed "$parts/$name.a" "$name.a"; done
awk '{ print ".globl " $1 "\n.type " $1 ",@function\n" $1 ": jmp of_gcc_" $1 }
  END { print ".section .note.GNU-stack,\"\",@progbits" }' names >jumps.s
awk '{ of[$2] = of[$2] " " $1 ";" } END { for (each in of) print each " {" of[each] " }" }' names |
  sort -V | awk '{ print $0 before ";"; before = " " $1 }' >versions
gcc -shared -nodefaultlibs -o "$out/libgcc_s.so.1" jumps.s libgcc_eh.a libgcc.a libgcc_eh.a -lc \
  "${flags[@]}" -Wl,-soname,libgcc_s.so.1,--version-script=versions

gcc -O1 -Wall -Wextra -Werror -nostartfiles -o "$out/gapstone" "$here/launcher.c" "${flags[@]}"

{
  echo "libstdc++.so.6 and libgcc_s.so.1 ($version): GPL-3.0 with the GCC Runtime Library Exception. Their source is that of"
  echo "Debian's package gcc-11 $version, to be had at snapshot.debian.org."
  echo
  cat usr/share/doc/gcc-11-base/copyright
  echo
  cat /usr/share/common-licenses/GPL-3
} >"$out/LICENSE"
echo "$version" >"$out/VERSION"
