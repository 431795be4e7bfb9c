#!/usr/bin/env bash
# Builds kube-apiserver from Debian 12's source package `kubernetes` (1.20) with Debian 12's Go, and prints its path.
# Installs nothing: packages are unpacked in KUBEXX_PEERS (~/.cache/kubexx-peers), where the server stays for the next
# call.
#
#   KUBE_APISERVER=$(test/e2e/apiserver.sh)
#
# With KUBEXX_E2E_BUILD=no, it only looks for a server that was built before. A build takes about 10 minutes of CPU time
# (GO_JOBS processes, 2), 2 GB of disk and 2 GB of memory. Exits with 3 and the reason if it cannot build one.
set -euo pipefail
cache=${KUBEXX_PEERS:-$HOME/.cache/kubexx-peers}/kubernetes
suite=bookworm
keyring=/usr/share/keyrings/debian-archive-keyring.gpg

cannot() { echo "kube-apiserver cannot be built: $*" >&2; exit 3; }
say() { echo "$*" >&2; }

built() { ls "$cache"/kube-apiserver-* 2>/dev/null | grep -v '\.part$' | sort -V | tail -n 1; }
if [ -n "$(built)" ]; then
  built
  exit
fi
[ "${KUBEXX_E2E_BUILD:-yes}" != no ] || cannot "KUBEXX_E2E_BUILD is \"no\", and none was built before"

for tool in apt-get apt-cache dpkg dpkg-source; do
  command -v "$tool" >/dev/null || cannot "$tool is missing (Debian's packages apt, dpkg and dpkg-dev)"
done
[ -r $keyring ] || cannot "the keys of Debian's archive are missing (Debian's package debian-archive-keyring)"
[ "$(df --output=avail -k "$HOME" | tail -n 1)" -gt 3000000 ] || cannot "it needs 3 GB of disk in $HOME"

mkdir -p "$cache"/{lists/partial,archives/partial,debs,tree,source}
# Debian's archive, at the address that this machine is configured for.
mirror=$(apt-get indextargets --format '$(REPO_URI)' 'Created-By: Packages' 2>/dev/null |
  awk '/\/debian\/?$/ && !n++' || true)
[ -n "$mirror" ] || cannot "apt is not configured for Debian's archive"
printf '%s [signed-by=%s] %s %s main\n' deb $keyring "$mirror" $suite deb-src $keyring "$mirror" $suite \
  >"$cache/sources.list"
apt=(-qq -o Dir::Etc::sourcelist="$cache/sources.list" -o Dir::Etc::sourceparts=- -o Dir::Cache::pkgcache=
  -o Dir::Cache::srcpkgcache= -o Dir::State::lists="$cache/lists" -o Dir::Cache::archives="$cache/archives"
  -o APT::Sandbox::User=root)
say "fetching the sources of kube-apiserver and Go"
apt-get "${apt[@]}" update >&2 || cannot "Debian's archive cannot be reached"

go=$(apt-cache "${apt[@]}" depends golang-go | grep -oE 'golang-1\.[0-9]+-go' | head -n 1)
[ -n "$go" ] || cannot "Debian's archive has no Go"
rm -f "$cache"/debs/*.deb
reflect2=golang-github-modern-go-reflect2-dev
(cd "$cache/debs" && apt-get "${apt[@]}" download "$go" "${go%-go}-src" $reflect2) >&2 || cannot "Go cannot be fetched"
for deb in "$cache"/debs/*.deb; do dpkg -x "$deb" "$cache/tree"; done
goroot=$(ls -d "$cache"/tree/usr/lib/go-1.* | sort -V | tail -n 1)
share=$(ls -d "$cache"/tree/usr/share/go-1.* | sort -V | tail -n 1)
for part in src test misc api; do # replaces links to the place of an installation
  [ ! -e "$share/$part" ] || ln -sfn "$share/$part" "$goroot/$part"
done

rm -rf "$cache"/source
mkdir -p "$cache/source"
(cd "$cache/source" && apt-get "${apt[@]}" source kubernetes) >&2 || cannot "the source package cannot be fetched"
tree=$(ls -d "$cache"/source/kubernetes-*/ | head -n 1)
# 1.20.5+really1.20.2 is 1.20.2
version=$(basename "$tree")
version=${version#kubernetes-}
version=${version#*really}

say "building kube-apiserver $version, which takes some minutes"
# Builds without modules, like Debian: go.mod is older than this Go.
mkdir -p "$cache/gopath/src/k8s.io"
rm -rf "$cache/gopath/src/k8s.io/kubernetes"
mv "$tree" "$cache/gopath/src/k8s.io/kubernetes"
# Its own reflect2 does not support the maps of Go 1.18 and later: the server would crash when a custom resource is
# written. Debian has a newer one. The suffix of the server's version tells the tests.
rm -rf "$cache"/gopath/src/k8s.io/kubernetes/vendor/github.com/modern-go/reflect2
cp -r "$cache"/tree/usr/share/gocode/src/github.com/modern-go/reflect2 \
  "$cache"/gopath/src/k8s.io/kubernetes/vendor/github.com/modern-go/
flags=
for package in component-base/version client-go/pkg/version; do
  for setting in "gitVersion=v$version+reflect2" gitMajor=1 "gitMinor=$(cut -d. -f2 <<<"$version")" gitTreeState=clean \
    buildDate=1970-01-01T00:00:00Z; do
    flags+=" -X k8s.io/kubernetes/vendor/k8s.io/$package.$setting"
  done
done
server=$cache/kube-apiserver-$version
cd "$cache/gopath/src/k8s.io/kubernetes"
export GOROOT=$goroot GOPATH=$cache/gopath GOCACHE=$cache/gocache GO111MODULE=off GOFLAGS= GOTOOLCHAIN=local CGO_ENABLED=0
export PATH=$goroot/bin:$PATH
build() { nice go build -p "${GO_JOBS:-2}" "$@" >&2 || cannot "the compiler has failed"; }

# The OpenAPI description of the types is not in the source package: its makefiles generate it.
build -o "$cache/openapi-gen" ./vendor/k8s.io/kube-openapi/cmd/openapi-gen
described=$(grep -Rl --include='*.go' '^// *+k8s:openapi-gen=' pkg vendor/k8s.io | grep -vE '/(code-generator|sample-apiserver)/' |
  xargs -n 1 dirname | LC_ALL=C sort -u | sed 's,^,k8s.io/kubernetes/,')
nice "$cache/openapi-gen" --logtostderr -i "$(paste -sd, <<<"$described")" -p k8s.io/kubernetes/pkg/generated/openapi \
  -O zz_generated.openapi -h hack/boilerplate/boilerplate.generatego.txt -r "$cache/openapi.report" >&2 ||
  cannot "openapi-gen has failed"
build -ldflags "-s -w$flags" -o "$server.part" ./cmd/kube-apiserver
mv "$server.part" "$server"
cd "$cache"
rm -rf "$cache"/{source,gocache,gopath,debs,archives,openapi-gen,openapi.report} # a gigabyte
echo "$server"
