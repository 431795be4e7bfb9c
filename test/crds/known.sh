#!/usr/bin/env bash
# Fetches definitions of well-known projects, generates code from them, compiles and tries it.
# known.sh CMAKE BUILD-FOLDER DEFINITIONS-FOLDER PROGRAM. Exits with 77 if they cannot be fetched.
#
# The definitions come from npm packages and are kept in KUBEXX_CRD_CACHE (default: a folder in the user's cache). A
# selection of them takes a minute; KUBEXX_ALL_CRDS=1 takes all. If KUBEXX_CRDS names a folder of definitions in YAML or
# JSON, these are used instead.
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
