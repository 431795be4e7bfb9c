#!/usr/bin/env bash
# A control plane for the end-to-end tests: etcd and kube-apiserver on loopback, with TLS and RBAC.
#
#   cluster.sh up DIR      starts it; writes DIR/admin.kubeconfig, token.kubeconfig and nobody.kubeconfig
#   cluster.sh down DIR    stops it and removes DIR
#   cluster.sh kill DIR    kills the API server with SIGKILL
#   cluster.sh start DIR   starts the API server again, if it does not run
#   cluster.sh compact DIR compacts etcd's history up to now
#
# The server is the first of these: $KUBE_APISERVER; a server that apiserver.sh has built before; the packed one in
# KUBEXX_SHARED (../shared); a server that apiserver.sh builds from Debian's sources, unless KUBEXX_E2E_BUILD is "no".
# The API has the port PORT (26443); etcd has the next two. Exits with 3 and the reason if there is no server.
set -euo pipefail
dir=${2:?"a folder"}
[[ $dir == /* ]] || dir=$PWD/$dir
port=${PORT:-$(cat "$dir/port" 2>/dev/null || echo 26443)}
client=http://127.0.0.1:$((port + 1))
peer=http://127.0.0.1:$((port + 2))
top=$(cd "$(dirname "$0")/../.." && pwd)
shared=${KUBEXX_SHARED:-$top/../shared}

# end <name>: ends a process and waits for it. After 10 s it is killed.
end() {
  local pid _
  pid=$(cat "$dir/$1.pid" 2>/dev/null) || return 0
  kill "$pid" 2>/dev/null || return 0
  for _ in $(seq 100); do
    kill -0 "$pid" 2>/dev/null || return 0
    sleep 0.1
  done
  kill -9 "$pid" 2>/dev/null || true
}

# The API server ends before etcd: some releases do not end without etcd.
down() {
  end apiserver
  end etcd
  rm -rf "$dir"
}

certificate() { # <name> <subject> [extension]
  openssl req -newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes -keyout "$1.key" -out "$1.csr" \
    -subj "$2" 2>/dev/null
  openssl x509 -req -in "$1.csr" -CA ca.crt -CAkey ca.key -CAcreateserial -out "$1.crt" -days 2 \
    -extfile <(printf '%s\n' "${3:-}") 2>/dev/null
}

kubeconfig() { # <name> <user, as YAML>
  cat >"$1.kubeconfig" <<YAML
apiVersion: v1
kind: Config
current-context: e2e
clusters: [{name: e2e, cluster: {server: "https://127.0.0.1:$port", certificate-authority: ca.crt}}]
users: [{name: user, user: {$2}}]
contexts: [{name: e2e, context: {cluster: e2e, user: user, namespace: default}}]
YAML
}

up() {
  command -v etcd >/dev/null || { echo "etcd is missing (Debian's package etcd-server)" >&2; exit 3; }
  local server=${KUBE_APISERVER:-} packed
  [ -n "$server" ] || server=$(KUBEXX_E2E_BUILD=no "$top/test/e2e/apiserver.sh" 2>/dev/null) || true
  if [ -z "$server" ]; then
    packed=$(ls "$shared"/bin/kube-apiserver-*.xz 2>/dev/null | sort -V | tail -n 1 || true)
    if [ -z "$packed" ]; then
      server=$("$top/test/e2e/apiserver.sh") || exit 3
    else
      server=$top/build/e2e/$(basename "$packed" .xz)
      if [ ! -x "$server" ]; then
        mkdir -p "$top/build/e2e"
        xz -dc "$packed" >"$server.part" && chmod +x "$server.part" && mv "$server.part" "$server"
      fi
    fi
  fi
  down
  mkdir -p "$dir"
  cd "$dir"
  openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes -keyout ca.key -out ca.crt \
    -subj /CN=e2e-ca -days 2 2>/dev/null
  openssl genrsa -out sa.key 2048 2>/dev/null
  openssl rsa -in sa.key -pubout -out sa.pub 2>/dev/null
  certificate server /CN=kube-apiserver "subjectAltName=IP:127.0.0.1,DNS:localhost"
  certificate admin /O=system:masters/CN=admin
  printf 'admin-token,admin2,1,system:masters\nnobody-token,nobody,2,\n' >tokens.csv
  kubeconfig admin "client-certificate: admin.crt, client-key: admin.key"
  kubeconfig token "token: admin-token"
  kubeconfig nobody "token: nobody-token"

  etcd --data-dir data --unsafe-no-fsync --listen-client-urls "$client" \
    --advertise-client-urls "$client" --listen-peer-urls "$peer" --initial-advertise-peer-urls "$peer" \
    --initial-cluster "default=$peer" >etcd.log 2>&1 &
  echo $! >etcd.pid
  printf '%s\n' "$server" >apiserver.path
  printf '%s\n' "$port" >port
  start
}

# Starts the server if it does not run, also after a crash.
start() {
  cd "$dir"
  [ -s apiserver.pid ] && kill -0 "$(cat apiserver.pid)" 2>/dev/null && return
  "$(cat apiserver.path)" --etcd-servers="$client" --bind-address=127.0.0.1 --secure-port="$port" \
    --tls-cert-file=server.crt --tls-private-key-file=server.key --client-ca-file=ca.crt \
    --token-auth-file=tokens.csv --service-account-issuer=https://kubernetes.default.svc \
    --service-account-key-file=sa.pub --service-account-signing-key-file=sa.key \
    --authorization-mode=RBAC --service-cluster-ip-range=10.0.0.0/24 >apiserver.log 2>&1 </dev/null &
  echo $! >apiserver.pid
  local _
  for _ in $(seq 240); do
    curl -sf --cacert ca.crt --cert admin.crt --key admin.key "https://127.0.0.1:$port/readyz" \
      >/dev/null && return
    kill -0 "$(cat apiserver.pid)" 2>/dev/null || break
    sleep 0.5
  done
  echo "the API server did not start; the end of its log:" >&2
  tail -n 5 apiserver.log >&2
  exit 1
}

# Waits until the process is gone and its port is free.
kill_server() {
  local pid
  pid=$(cat "$dir/apiserver.pid")
  kill -9 "$pid" 2>/dev/null || true
  while kill -0 "$pid" 2>/dev/null; do sleep 0.05; done
}

compact() {
  local revision
  revision=$(curl -sf "$client/v3/kv/range" -d '{"key":"AA=="}' |
    sed -nE 's/.*"revision":"([0-9]+)".*/\1/p')
  [ -n "$revision" ] || { echo "etcd did not answer with its revision" >&2; exit 1; }
  curl -sf "$client/v3/kv/compaction" -d "{\"revision\":\"$revision\",\"physical\":true}" >/dev/null
}

case ${1:-} in
  up) up ;;
  down) down ;;
  kill) kill_server ;;
  start) start ;;
  compact) compact ;;
  *) sed -n '2,12p' "$0"; exit 2 ;;
esac
