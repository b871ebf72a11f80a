#!/usr/bin/env bash
# package.sh PROGRAM: makes the Debian package of PROGRAM's build and installs it on a minimal Debian 12
# (debootstrap), from this host's mirror; builds a SystemC platform there against its library. Needs root, debootstrap, dpkg-dev; otherwise skipped (77).
# TESSERA_DEBIAN: a folder that keeps the minimal system between runs.
set -euo pipefail
build=$(dirname "$(realpath "$1")")
for tool in debootstrap dpkg-shlibdeps cpack chroot; do
  command -v $tool > /dev/null || { echo "skipped: $tool is not installed"; exit 77; }
done
[ "$(id -u)" -eq 0 ] || { echo "skipped: only root may install a system"; exit 77; }

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
bare=${TESSERA_DEBIAN:-$work/bare}
mirror=$(apt-get indextargets --format '$(SITE)' 'Created-By: Packages' | grep -m 1 debian)
if [ ! -e "$bare/etc/debian_version" ]; then
  mkdir -p "$bare"
  debootstrap --variant=minbase bookworm "$bare" "$mirror" > "$work/log" 2>&1 ||
    { tail -3 "$work/log"; echo "skipped: no Debian could be fetched"; exit 77; }
fi
system=$work/system
cp -a "$bare" "$system"

(cd "$work" && cpack --config "$build/CPackConfig.cmake" -B "$work" > "$work/log" 2>&1) ||
  { cat "$work/log"; exit 1; }
package=$(echo "$work"/tessera_*.deb)
dpkg-deb --info "$package"
for needed in libsystemc libfmt9 libmimalloc2.0 libsz2 zlib1g libstdc++6; do
  dpkg-deb --field "$package" Depends | grep -q "$needed" || { echo "it does not depend on $needed"; exit 1; }
done

# Installs as a user would: manual pages and bash completion must be there, too.
rm -f "$system/etc/dpkg/dpkg.cfg.d/docker"
cp "$package" "$system/tmp/tessera.deb"
cp -r "$(dirname "$(realpath "$0")")/../platform" "$system/tmp/platform"
chroot "$system" bash -euo pipefail -c '
  export DEBIAN_FRONTEND=noninteractive
  apt-get update -qq
  apt-get install -y -qq --no-install-recommends /tmp/tessera.deb man-db > /dev/null
  cd /srv
  tessera --version
  tessera run /usr/share/tessera/configs/runs/quickstart.json --out out
  [ -s out/report.json ]
  man tessera | col -b > manual 2> /dev/null || man tessera > manual
  grep -q "tessera sweep" manual
  source /usr/share/bash-completion/completions/tessera
  COMP_WORDS=(tessera swe) COMP_CWORD=1
  _tessera
  [ "${COMPREPLY[*]}" = sweep ]
  tessera report out
  ! tessera plot out 2> said
  grep "gnuplot is not installed here" said
  apt-get install -y -qq --no-install-recommends g++ make cmake pkg-config libsystemc-dev libfmt-dev \
    zlib1g-dev > /dev/null
  /tmp/platform/test.sh /usr
  apt-get remove -y -qq tessera > /dev/null
  [ ! -e /usr/bin/tessera ] && [ ! -e /usr/share/tessera ]
'
echo "passed: $(basename "$package")"
