#!/usr/bin/env bash
# Checks how ./dev installs packages, with an apt-get that installs nothing: when it asks, that it waits for the lock,
# and its error messages.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.."
stubs=$(mktemp -d)
trap 'rm -rf "$stubs"' EXIT
unset CI
command -v script >/dev/null || exit 77  # makes terminals

stub() { printf '#!/bin/sh\n%s\n' "$2" >"$stubs/$1" && chmod +x "$stubs/$1"; }
stub dpkg-query 'echo not-installed'
stub sleep 'exit 0'
stub sudo 'echo "sudo $*" >>"$STUBS/log"; exec "$@"'
# The first $HELD calls find the lock taken; the next ones succeed, unless $BROKEN is set.
stub apt-get 'echo "apt-get $*" >>"$STUBS/log"
if [ "$(grep -c ^apt-get "$STUBS/log")" -le "${HELD:-0}" ]; then
  echo "E: Could not get lock /var/lib/apt/lists/lock. It is held by process 1 (apt)" >&2
  exit 100
fi
if [ -n "${BROKEN:-}" ]; then echo "E: Unable to locate package" >&2; exit 100; fi'
export STUBS=$stubs

# Runs a command. Sets $said to its output, $done to the calls of apt-get, and $code to the exit code.
run() {
  : >"$stubs/log"
  code=0
  said=$(env PATH="$stubs:$PATH" "$@" 2>&1) || code=$?
  done=$(grep -v ^sudo "$stubs/log" || true)
}
# The same on a terminal, where a person types $typed.
at_terminal() {
  : >"$stubs/log"
  code=0
  said=$(printf '%s\n' "$typed" | env PATH="$stubs:$PATH" script -qec "$*" /dev/null) || code=$?
  done=$(grep -v ^sudo "$stubs/log" || true)
}
expect() { # <what> <pattern> <text>
  [[ $3 == $2 ]] || { printf 'FAILED: %s: expected %s in:\n%s\n' "$1" "$2" "$3"; exit 1; }
}
refuse() { [[ $3 != $2 ]] || { printf 'FAILED: %s: did not expect %s in:\n%s\n' "$1" "$2" "$3"; exit 1; }; }

run ./dev packages </dev/null
expect "without a terminal" '*installing: g++ cmake *' "$said"
refuse "without a terminal" '*[[]Y/n*' "$said"
expect "without a terminal" '*apt-get update*apt-get install -y*g++*' "$done"

typed=n at_terminal ./dev packages
expect "refused" '*packages are missing: g++ cmake *[[]Y/n*nothing was installed*apt-get install g++*' "$said"
expect "refused" '' "$done"
[ $code != 0 ] || { echo 'FAILED: refused, but the exit code is 0'; exit 1; }

for typed in '' y yes; do
  at_terminal ./dev packages
  expect "agreed to" '*[[]Y/n*installing: *' "$said"
  expect "agreed to" '*apt-get install*' "$done"
done

typed=n
for command in './dev -y packages' './dev --yes packages' './dev packages --yes' 'env CI=true ./dev packages'; do
  at_terminal $command
  refuse "$command" '*[[]Y/n*' "$said"
  expect "$command" '*apt-get install*' "$done"
done

HELD=3 run ./dev packages </dev/null
expect "a held lock" '*another program holds the lock of apt*' "$said"
refuse "a held lock" '*holds the lock*holds the lock*' "$said"
refuse "a held lock" '*E: *' "$said"
[ "$(grep -c update <<<"$done")" = 4 ] && [ $code = 0 ] || { echo "FAILED: a held lock: $done"; exit 1; }

BROKEN=1 run ./dev packages </dev/null
expect "a failure" '*E: Unable to locate package*' "$said"
[ $code != 0 ] && [ "$(wc -l <<<"$done")" = 1 ] || { echo "FAILED: a failure: $done"; exit 1; }

stub dpkg-query 'echo installed'
run ./dev packages </dev/null
expect "nothing is missing" '' "$done"
expect "nothing is missing" '' "$said"
echo "all checks passed"
