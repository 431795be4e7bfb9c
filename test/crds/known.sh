#!/usr/bin/env bash
# Definitions of well-known projects: fetched, generated from, compiled and tried.
# known.sh CMAKE BUILD-FOLDER DEFINITIONS-FOLDER PROGRAM. Ends with 77 where they cannot be fetched.
#
# They come from packages of npm, and stay in KUBEXX_CRD_CACHE (or below the user's cache). A choice of
# them is enough for a minute; KUBEXX_ALL_CRDS=1 takes all. KUBEXX_CRDS, a folder of definitions in YAML or
# JSON, takes their place.
set -euo pipefail
cmake=$1 build=$2 folder=$3 program=$4
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)

files=${KUBEXX_CRDS:-}
if [ -z "$files" ]; then
  files=${KUBEXX_CRD_CACHE:-${XDG_CACHE_HOME:-$HOME/.cache}/kubexx-crds}
  if ! bash "$here/fetch.sh" "$files"; then
    echo "skipped: the definitions cannot be fetched (no network, npm or node)"
    exit 77
  fi
fi
rm -rf "$folder"
mkdir -p "$folder"
if [ -n "${KUBEXX_CRDS:-}" ] || [ -n "${KUBEXX_ALL_CRDS:-}" ]; then
  find "$files" -maxdepth 1 \( -name '*.json' -o -name '*.yaml' -o -name '*.yml' \) -exec cp {} "$folder" \;
else
  for choice in 'gateways.gateway.*' 'grpcroutes.*' 'certificate*.cert-manager.io' 'helmreleases.*' \
                'kustomizations.*' 'gitrepositories.*' 'servicemonitors.*' 'podmonitors.*' \
                'prometheusrules.*' 'appprojects.*' 'virtualservices.*' 'services.serving.*'; do
    find "$files" -maxdepth 1 -name "$choice.json" -exec cp {} "$folder" \;
  done
fi
echo "$(ls "$folder" | wc -l) files"
start=$SECONDS
"$cmake" --build "$build" --target known-crds
echo "generated and compiled in $((SECONDS - start)) s"
"$program" "$folder"
