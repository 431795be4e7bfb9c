#!/usr/bin/env bash
# build.sh <build folder> [--lintian]: makes the Debian packages from a build folder and tries them in a scratch root: it
# runs the command, compiles a program and a test with pkg-config, and follows the tutorial, which builds an operator with
# CMake.
set -euo pipefail
build=$(cd "$1" && pwd)
cd "$(dirname "${BASH_SOURCE[0]}")/../.."
say() { printf '==> %s\n' "$*"; }

say "making packages in $1/packages"
rm -rf "$build/packages"
(cd "$build" && umask 022 && cpack -G DEB >packages.log 2>&1) || { cat "$build/packages.log" >&2; exit 1; }
ls -sh1 "$build"/packages/*.deb

root=$build/packages/root
for deb in "$build"/packages/*.deb; do dpkg -x "$deb" "$root"; done

say "the command"
"$root/usr/bin/kubexx" --version

say "a program, by pkg-config"
PKG_CONFIG_PATH=$(dirname "$(find "$root" -name kubexx.pc)")
export PKG_CONFIG_PATH
# shellcheck disable=SC2046  # the flags are words
c++ -std=c++20 test/consumer/main.cc -o "$build/packages/consumer" \
  -I"$root/usr/include" -L"$(dirname "$PKG_CONFIG_PATH")" $(pkg-config --cflags --libs kubexx)
"$build/packages/consumer"

say "a test, by pkg-config"
# shellcheck disable=SC2046
c++ -std=c++20 test/consumer/served.cc -o "$build/packages/served" \
  -I"$root/usr/include" -L"$(dirname "$PKG_CONFIG_PATH")" $(pkg-config --cflags --libs kubexx-testing)
"$build/packages/served"

say "the tutorial"
PATH=$root/usr/bin:$PATH CMAKE_PREFIX_PATH=$root/usr bash test/consumer/tutorial.sh "$build/packages/tutorial"

if [ "${2:-}" = --lintian ]; then
  say "lintian"
  # A package outside of Debian has no bug that requests its packaging.
  lintian --allow-root --fail-on error --suppress-tags initial-upload-closes-no-bugs "$build"/packages/*.deb
fi
rm -rf "$root" "$build/packages/tutorial"
