#!/usr/bin/env bash
# Measures how long commands of kubexx and kubectl take from start to end, with an embedded server:
#
#   bench/cli_startup.sh [build/release/bin/kubexx] [RUNS]
#
# Prints the median of each in milliseconds. kubectl's discovery cache is filled before.
set -euo pipefail

kubexx=$(realpath "${1:-build/release/bin/kubexx}")
runs=${2:-51}
kubectl=${KUBECTL:-kubectl}
folder=$(mktemp -d)
trap 'kill "$server" 2>/dev/null || true; rm -rf "$folder"' EXIT
cd "$folder"
export HOME=$folder KUBECONFIG=$folder/config

"$kubexx" serve --kubeconfig "$folder/config" >"$folder/serve.log" &
server=$!
until [ -s "$folder/config" ]; do sleep 0.05; done
"$kubexx" apply -f - >/dev/null <<'YAML'
apiVersion: v1
kind: Pod
metadata: {name: web}
spec: {automountServiceAccountToken: false, containers: [{name: web, image: nginx}]}
YAML

median() {
  local begin end
  for ((i = 0; i < runs; i++)); do
    begin=${EPOCHREALTIME/./}
    "$@" >/dev/null 2>&1
    end=${EPOCHREALTIME/./}
    echo $((end - begin))
  done | sort -n | awk '{ all[NR] = $1 } END { printf "%.1f\n", all[int((NR + 1) / 2)] / 1000 }'
}

row() { printf '%-44s %8s ms\n' "$1" "$2"; }

row "kubexx --version" "$(median "$kubexx" --version)"
row "kubexx get pods" "$(median "$kubexx" get pods)"
row "kubexx get crd (with the discovery cache)" "$(median "$kubexx" get customresourcedefinitions.v1.apiextensions.k8s.io)"
if ! command -v "$kubectl" >/dev/null; then
  echo "kubectl is not installed"
  exit 0
fi
"$kubectl" get pods >/dev/null
row "kubectl get pods" "$(median "$kubectl" get pods)"
