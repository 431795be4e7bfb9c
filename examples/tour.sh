#!/usr/bin/env bash
# A tour of one minute: converts a manifest to protobuf and back, then starts a cluster in a process
# and runs sample programs on it.
set -euo pipefail
cd "$(dirname "$0")"
scratch=$(mktemp -d)
server=
trap '[ -z "$server" ] || { kill "$server"; wait "$server" || true; }; rm -rf "$scratch"' EXIT

step() { printf '\n\033[1m%s\033[0m\n' "$*"; }

step 'A Deployment manifest (examples/deployment.yaml):'
cat deployment.yaml

step 'Decoded into kube::appsv1::Deployment and encoded as Kubernetes protobuf:'
kubexx convert -f deployment.yaml -o protobuf > "$scratch/deployment.pb"
printf '%s bytes of YAML became %s bytes of protobuf\n' \
  "$(wc -c < deployment.yaml)" "$(wc -c < "$scratch/deployment.pb")"
od -A d -t x1z "$scratch/deployment.pb" | head -n 6

step 'Converted back, to JSON (with the API server'"'"'s field order and quantities):'
kubexx convert -f "$scratch/deployment.pb" -o json

step 'A typo is reported with its position, before any server sees it:'
sed 's/replicas: 3/replicas: three/' deployment.yaml > "$scratch/typo.yaml"
kubexx convert -f "$scratch/typo.yaml" -o json || true
sed 's/replicas:/replica:/' deployment.yaml > "$scratch/unknown.yaml"
kubexx convert --strict -f "$scratch/unknown.yaml" -o json || true

step 'The same from C++ (examples/decode.cc):'
decode deployment.yaml

step 'A cluster in a process of its own (kubexx serve):'
kubexx serve --kubeconfig "$scratch/kubeconfig" >"$scratch/serve.log" &
server=$!
until grep -q kubectl "$scratch/serve.log"; do kill -0 "$server"; read -rt 0.05 <> <(:) || true; done
cat "$scratch/serve.log"
export KUBECONFIG=$scratch/kubeconfig

step 'The manifest applied by C++ (examples/apply_yaml.cc), twice:'
{ printf 'apiVersion: v1\nkind: Namespace\nmetadata: {name: book}\n---\n'; cat deployment.yaml; } >"$scratch/all.yaml"
apply_yaml "$scratch/all.yaml"
apply_yaml "$scratch/all.yaml"

step 'Listed (examples/list_deployments.cc):'
list_deployments

step 'Created, updated and deleted by a typed client (examples/deployment.cc):'
deployment

if command -v kubectl >/dev/null; then
  step 'The same, by kubectl:'
  kubectl get deployments -A -o wide
fi
