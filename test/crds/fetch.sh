#!/usr/bin/env bash
# fetch.sh FOLDER: fetches definitions of well-known projects, from npm packages with their schemas, and writes each as
# a JSON file. Does nothing if the folder is complete.
set -euo pipefail
folder=$1
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
packages=(
  @kubernetes-models/argo-cd@2.0.2
  @kubernetes-models/cert-manager@4.3.1
  @kubernetes-models/flux-cd@2.1.0
  @kubernetes-models/gateway-api@0.5.1
  @kubernetes-models/istio@2.3.0
  @kubernetes-models/knative@2.1.0
  @kubernetes-models/prometheus-operator@1.6.3)

command -v npm >/dev/null && command -v node >/dev/null || exit 1
mkdir -p "$folder"
if [ ! -f "$folder/.complete" ] || [ "$here/extract.js" -nt "$folder/.complete" ] ||
   [ "$here/fetch.sh" -nt "$folder/.complete" ]; then
  scratch=$(mktemp -d)
  trap 'rm -rf "$scratch"' EXIT
  for package in "${packages[@]}"; do
    archive=$(cd "$scratch" && timeout 60 npm pack --silent --fetch-retries 0 "$package" 2>/dev/null | tail -1) || exit 1
    [ -f "$scratch/$archive" ] || exit 1
    mkdir -p "$scratch/${archive%.tgz}"
    tar -xzf "$scratch/$archive" -C "$scratch/${archive%.tgz}"
    rm "$scratch/$archive"
  done
  rm -f "$folder"/*.json
  node "$here/extract.js" "$scratch" "$folder"
  touch "$folder/.complete"
fi
