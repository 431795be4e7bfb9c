#!/usr/bin/env bash
# Measures kubexx beside client-go on the same work in one run, alternating, and prints medians and
# ratios. Raw JSON lines go to build/bench/results.jsonl.
#
#   KUBEXX_BENCH_DATA   folder with pods-10k.json(.xz) and pods-10k.pb(.xz); ../shared/data
#   KUBEXX_PEER         the peer's program, or a script that builds it and prints its path;
#                       ../shared/peers/client-go/build
#   ROUNDS              processes of each (5); every process measures three times
set -euo pipefail
cd "$(dirname "$0")/.."
data=${KUBEXX_BENCH_DATA:-../shared/data}
peer=${KUBEXX_PEER:-../shared/peers/client-go/build}
rounds=${ROUNDS:-5}
work=build/bench
mkdir -p "$work"
results=$work/results.jsonl
: > "$results"

say() { printf '%s\n' "$*"; }

for file in pods-10k.json pods-10k.pb; do
  [ -s "$work/$file" ] && continue
  if [ -s "$data/$file" ]; then
    cp "$data/$file" "$work/$file"
  elif [ -s "$data/$file.xz" ]; then
    xz -dkc "$data/$file.xz" > "$work/$file"
  else
    say "skipped: no $file(.xz) in $data (set KUBEXX_BENCH_DATA)"
    exit 0
  fi
done

client_go=
if [ -x "$peer" ]; then
  case $peer in
    */build) client_go=$("$peer" 2>"$work/peer.log" | tail -n 1) || client_go= ;;
    *) client_go=$peer ;;
  esac
fi
[ -n "$client_go" ] || say "no peer: client-go's benchmark cannot be had here (set KUBEXX_PEER); measuring kubexx alone"

# The same pods in another order: what a server that does not sort gives.
[ -s "$work/pods-10k.pb.shuffled" ] || kubexx-bench decode "$work/pods-10k.pb" --shuffle >/dev/null

run() { "$@" >> "$results"; }
for ((i = 0; i < rounds; ++i)); do
  for file in pods-10k.json pods-10k.pb; do
    run kubexx-bench decode "$work/$file"
    [ -z "$client_go" ] || run "$client_go" decode "$work/$file"
  done
  run kubexx-bench decode "$work/pods-10k.pb.shuffled"
  run kubexx-bench decode "$work/pods-10k.json" --stream
  for type in application/json application/vnd.kubernetes.protobuf; do
    run kubexx-bench encode "$work/pods-10k.pb" "$type"
    [ -z "$client_go" ] || run "$client_go" encode "$work/pods-10k.pb" "$type"
  done
  run kubexx-bench queue
  [ -z "$client_go" ] || run "$client_go" queue
done
run kubexx-bench decode "$work/pods-10k.pb" --no-pool

# median <impl> <pattern> <key>
median() {
  grep "\"impl\":\"$1\"" "$results" | grep -E -- "$2" |
    sed -nE "s/.*\"$3\":(-?[0-9.]+).*/\1/p" | sort -n |
    awk '{v[NR] = $1} END {if (NR) print v[int((NR + 1) / 2)]; else print 0}'
}
# highest <pattern> <key>, of kubexx: for memory, where the first measurement of a process counts
highest() {
  grep '"impl":"kubexx"' "$results" | grep -E -- "$1" | sed -nE "s/.*\"$2\":(-?[0-9.]+).*/\1/p" |
    sort -n | tail -n 1
}
row() { # <label> <pattern>
  local ours theirs ratio=-
  ours=$(median kubexx "$2" mb_per_s)
  theirs=$(median client-go "$2" mb_per_s)
  [ "$theirs" = 0 ] || ratio=$(awk -v a="$ours" -v b="$theirs" 'BEGIN {printf "%.1f x", a / b}')
  printf '%-28s %8s MB/s %8s MB/s   %s\n' "$1" "$ours" "$theirs" "$ratio"
}
printf '\n%-28s %13s %13s   %s\n' 'medians' kubexx client-go ratio
row 'decode the list, JSON' '"bench":"decode".*pods-10k\.json"|pods-10k\.json".*"bench":"decode"' |
  sed 's/^/ /;s/^ //'
row 'decode the list, protobuf' '"file":"pods-10k\.pb"'
row 'encode the list, JSON' '"type":"application/json"'
row 'encode the list, protobuf' '"type":"application/vnd'
for workers in 1 4; do
  pattern="\"bench\":\"queue\".*\"workers\":$workers[,}]"
  ours=$(median kubexx "$pattern" adds_per_s)
  theirs=$(median client-go "$pattern" adds_per_s)
  ratio=-
  [ "$theirs" = 0 ] || ratio=$(awk -v a="$ours" -v b="$theirs" 'BEGIN {printf "%.1f x", a / b}')
  awk -v label="work queue, $workers workers" -v a="$ours" -v b="$theirs" -v ratio="$ratio" \
    'BEGIN {printf "%-28s %6.2f M adds/s %4.2f M adds/s   %s\n", label, a / 1e6, b / 1e6, ratio}'
done
printf '\n%-44s %s bytes\n' 'held per pod, pool included (protobuf)' \
  "$(highest '"file":"pods-10k\.pb","items".*"pool":true,"stream":false' bytes_per_item)"
printf '%-44s %s bytes\n' 'the same, pods in random order' \
  "$(highest '"file":"pods-10k\.pb\.shuffled"' bytes_per_item)"
printf '%-44s %s kB\n' 'peak growth, JSON streamed in 64 KB chunks' \
  "$(highest '"stream":true' peak_growth_kb)"
