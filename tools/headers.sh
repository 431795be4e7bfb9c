#!/usr/bin/env bash
# headers.sh: compiles every installed header by itself, and reports those that include headers of other libraries.
#
# A header that includes too little compiles only after another header. ccache makes the next run fast.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

# Exceptions: these headers may include fmt's declarations, for log lines and for printing; kube/asio.h is for programs
# with Boost.Asio.
allowed='^kube/(base/log|base/internal/text_formatter|codec/print|controller/event_recorder)\.h:#include <fmt/core\.h>$|^kube/asio\.h:#include <boost/'

mapfile -t headers < <(cmake -P tools/public_headers.cmake)
scratch=build/headers
mkdir -p "$scratch"
compiler=(c++)
if command -v ccache >/dev/null; then compiler=(ccache c++); fi

failed=0
others=$(grep -HE '^#include <(boost|fmt|nghttp2|openssl|re2|simdjson|xxhash|yaml-cpp|zlib)[/.]' "${headers[@]}" |
  grep -vE "$allowed" || true)
if [ -n "$others" ]; then
  echo "$others" >&2
  echo "headers: the installed headers above include those of other libraries" >&2
  failed=1
fi

compile() { # <header>
  local name=${1//\//_}
  printf '#include "%s"\n' "$1" >"$scratch/$name.cc.new"
  cmp -s "$scratch/$name.cc.new" "$scratch/$name.cc" || mv "$scratch/$name.cc.new" "$scratch/$name.cc"
  rm -f "$scratch/$name.cc.new"
  "${compiler[@]}" -std=c++20 -O0 -I. -c "$scratch/$name.cc" -o "$scratch/$name.o" 2>"$scratch/$name.log" && return
  echo "headers: $1 does not compile by itself:" >&2
  grep -m3 'error' "$scratch/$name.log" >&2
  return 1
}
export -f compile
export scratch
# shellcheck disable=SC2016  # $1 is the inner shell's
printf '%s\n' "${headers[@]}" |
  compiler="${compiler[*]}" xargs -P "$(nproc)" -n 1 bash -c 'read -ra compiler <<<"$compiler"; compile "$1"' _ || failed=1
exit "$failed"
