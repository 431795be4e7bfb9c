#!/usr/bin/env bash
# The checks of `./dev lint`: format, layers, sizes of folders, internal and installed headers, slow includes, coroutines,
# comments, machine paths, code, error texts, names and links in documents, the version, the files of GitHub, generated
# files, and clang-tidy. Runs all of them, and fails if any has found something.
set -uo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.." || exit

failed=0
fail() {
  echo "lint: $1" >&2
  failed=1
}

# Lists tracked and new files, without ignored and deleted ones.
files() {
  git ls-files -z --cached --others --exclude-standard --deduplicate -- "$@" |
    while IFS= read -r -d '' file; do [ ! -f "$file" ] || printf '%s\0' "$file"; done
}

# Drops the files whose first line says that they are generated.
handwritten() {
  local file line
  while IFS= read -r -d '' file; do
    IFS= read -r line <"$file" || true
    [[ ${line,,} == *generated* ]] || printf '%s\0' "$file"
  done
}

check_format() {
  files '*.h' '*.cc' | handwritten |
    xargs -0 -r -n 16 -P "$(nproc)" clang-format --dry-run -Werror ||
    fail "format: run  clang-format -i  on the files above"
}

# A folder includes only from itself and from the folders before it. Tests may also include kube/testing and the fixtures
# of kube/apiserver. A new folder needs a place in this list.
layers=(
  kube/base kube/http kube/meta kube/codec kube/api kube/rest kube/client kube/cache kube/workqueue
  kube/controller kube/asio.h kube/kube.h kube/testing kube/apiserver codegen cmd examples bench fuzz test)

# Headers of kube/apiserver, and headers in a folder called internal, are only for their layer and for the friends in this
# list. The whole project is a friend of kube/base, and tests are friends of fixtures (*_testing.h).
# shellcheck disable=SC2054  # the commas are awk's
friends=(
  kube/http/internal/descriptor.h:kube/rest,kube/client,kube/controller,cmd
  kube/http/internal/event_loop.h:kube/client
  kube/http/internal/files.h:kube/rest,kube/client
  kube/http/internal/key_pair.h:kube/rest,kube/testing
  kube/rest/internal/query.h:kube/client
  kube/http/internal/server/http_session.h:kube/apiserver
  kube/http/internal/streams/server_websocket.h:kube/client,kube/apiserver
  kube/http/internal/streams/spdy.h:kube/client,kube/apiserver
  kube/http/internal/streams/websocket_frames.h:kube/client
  kube/http/internal/header_text.h:kube/rest
  kube/meta/internal/container_builder.h:kube/codec
  kube/meta/internal/elements.h:kube/codec
  kube/meta/internal/human_duration.h:kube/apiserver,cmd
  kube/meta/internal/object_access.h:kube/client,kube/cache,kube/controller
  kube/meta/internal/optional_field.h:kube/codec,kube/rest
  kube/meta/internal/path.h:kube/codec
  kube/meta/internal/presence.h:kube/codec
  kube/codec/internal/float_text.h:kube/apiserver
  kube/codec/internal/json_document.h:kube/apiserver
  kube/codec/internal/list_decode.h:kube/rest
  kube/codec/internal/protobuf_encode.h:kube/apiserver
  kube/codec/internal/wire_reader.h:kube/apiserver
  kube/client/pods/internal/tar.h:cmd
  kube/cache/internal/informer_core.h:kube/controller
  kube/cache/internal/object_access.h:kube/controller
  kube/cache/internal/object_type.h:kube/controller
  kube/workqueue/internal/item_hash.h:kube/controller
  kube/workqueue/internal/queue_metrics.h:kube/controller
  kube/apiserver/custom/custom_resources.h:cmd
)

check_layers() {
  files '*.h' '*.cc' |
    xargs -0 -r grep -HnE '^[[:space:]]*#[[:space:]]*include[[:space:]]*["<](kube|codegen|cmd|examples|bench|fuzz|test)/' |
    awk -v layers="${layers[*]}" -v friends="${friends[*]}" '
      BEGIN {
        n = split(layers, name, " ")
        for (i = 1; i <= n; i++) rank[name[i]] = i
        n = split(friends, row, " ")
        for (i = 1; i <= n; i++) {
          split(row[i], half, ":")
          m = split(half[2], who, ",")
          for (j = 1; j <= m; j++) friend[half[1], who[j]] = 1
        }
      }
      function layer(path,    part) {
        split(path, part, "/")
        return part[1] == "kube" ? part[1] "/" part[2] : part[1]
      }
      {
        match($0, /:[0-9]+:/)
        file = substr($0, 1, RSTART - 1)
        line = substr($0, RSTART + 1, RLENGTH - 2)
        included = substr($0, RSTART + RLENGTH)
        sub(/^[^"<]*["<]/, "", included)
        sub(/[">].*$/, "", included)
        from = layer(file)
        to = layer(included)
        test = file ~ /_test\.cc$|_testing\.h$/
        fixture = included ~ /_testing\.h$/
        if (!(from in rank)) problem = "the folder " from " has no place in the table of layers"
        else if (!(to in rank)) problem = "includes " included ", which belongs to no layer"
        else if (rank[to] > rank[from] && !(test && (to == "kube/testing" || fixture)))
          problem = "includes " included ": " to " comes after " from
        else if ((included ~ /\/internal\// || to == "kube/apiserver") && from != to && to != "kube/base" && !((included, from) in friend) &&
                 !(fixture && (test || from == "test")))
          problem = "includes " included ", which is internal to " to " (friends are listed in tools/lint.sh)"
        else next
        print file ":" line ": " problem
        bad = 1
      }
      END { exit bad }' >&2 ||
    fail "layers: see CONTRIBUTING.md"
}

# A folder with many files holds several rooms, and no reader sees which.
check_folders() {
  local found
  found=$(files kube | handwritten | xargs -0 -r dirname | sort | uniq -c | awk '$1 > 65 { print $2 ": " $1 " files" }')
  [ -z "$found" ] && return
  echo "$found" >&2
  fail "folders: make rooms (subfolders) in the folders above"
}

# fmt/format.h takes the compiler up to ten seconds, because a call of format_to instantiates much of it.
check_includes() {
  local found
  found=$(files '*.h' '*.cc' | xargs -0 -r grep -lF '#include <fmt/format.h>' |
    xargs -r grep -LE 'fmt::(join|formatter)|TextFormatter::')
  [ -z "$found" ] && return
  echo "$found" >&2
  fail "includes: fmt/core.h is enough for the files above"
}

# Coroutines that g++ 12 compiles wrongly.
check_coroutines() {
  files '*.h' '*.cc' | xargs -0 -r python3 tools/coroutines.py >&2 || fail "coroutines: see tools/coroutines.py"
}

# Every installed header compiles by itself, and includes no headers of other libraries.
check_headers() {
  bash tools/headers.sh || fail "headers: see CONTRIBUTING.md"
}

# A comment starts with a noun or a verb. A sentence that starts with one of these words describes a thing instead of
# naming it.
check_comments() {
  local found words='(-+ )?(What|Whatever|Who|Whom|Whoever|Whose|Of)[[:space:]]'
  found=$(
    files '*.h' '*.cc' | handwritten | xargs -0 -r grep -HnE "^[[:space:]]*///?[[:space:]]+$words"
    files '*.cmake' '*CMakeLists.txt' '*.py' '*.sh' '*.yml' '*.yaml' dev .ci/run docs/Doxyfile |
      xargs -0 -r grep -HnE "^[[:space:]]*#[[:space:]]+$words"
  )
  found=$(cut -c 1-160 <<<"$found")
  [ -z "$found" ] && return
  echo "$found" >&2
  fail "comments: start the sentences above with a noun or a verb (CONTRIBUTING.md)"
}

# Workflows, issue forms and the like, which only GitHub reads.
check_github() {
  python3 tools/github_files.py >&2 || fail "github: see tools/github_files.py"
  ! command -v actionlint >/dev/null || actionlint >&2 || fail "github: see above"
}

# Runs clang-tidy on changed files.
check_tidy() {
  if ! command -v clang-tidy >/dev/null; then
    echo "lint: clang-tidy is not installed, its checks are skipped"
    return
  fi
  bash tools/tidy.sh || fail "clang-tidy: see above"
}

# No file of the project names folders that exist on a single machine.
check_paths() {
  local found
  found=$(files | xargs -0 -r grep -InE \
    '(^|[^[:alnum:]_.~/-])/(work|root|Users|home/[[:alnum:]_]+)/[[:alnum:]_.]' |
    cut -c 1-200)
  [ -z "$found" ] && return
  echo "$found" >&2
  fail "paths: these exist on one machine only"
}

# The code in documents is compiled.
check_documents() {
  bash tools/doc_blocks.sh >build/documents.log && return
  cat build/documents.log >&2
  fail "documents: no example has the code above; add it to one (tools/doc_blocks.sh describes the comparison)"
}

check_error_texts() {
  python3 tools/error_texts.py >build/error-texts.log && return
  cat build/error-texts.log >&2
  fail "documents: no source throws the errors above any more; update docs/troubleshooting.md"
}

check_names() {
  python3 tools/client_go_names.py >&2 || fail "documents: docs/client-go.md has the names above"
}

check_links() {
  python3 tools/doc_links.py >&2 || fail "links: the links above lead nowhere"
}

# vcpkg needs a copy of the version.
check_version() {
  local version
  version=$(sed -nE 's/^project\(kubexx VERSION ([0-9.]+).*/\1/p' CMakeLists.txt)
  grep -qF "\"version-semver\": \"$version\"" packaging/vcpkg/kubexx/vcpkg.json ||
    fail "version: packaging/vcpkg/kubexx/vcpkg.json does not have version $version"
}

# Generating again must change nothing. Files that did change are current now and stay changed.
check_generated() {
  [ -f codegen/main.cc ] || return
  local before after
  hashes() { files kube/api kube/meta kube/client kube/cache codegen | xargs -0 -r sha256sum; }
  before=$(hashes)
  ./dev generate >build/generate.log 2>&1 || {
    cat build/generate.log >&2
    fail "generated files: ./dev generate fails"
    return
  }
  after=$(hashes)
  [ "$before" = "$after" ] && return
  diff <(echo "$before") <(echo "$after") | awk '/^[<>]/ { print $3 }' | sort -u >&2
  fail "generated files: the files above were out of date, and have been generated again"
}

mkdir -p build
check_format
check_layers
check_folders
check_includes
check_coroutines
check_headers
check_comments
check_paths
check_documents
check_error_texts
check_names
check_links
check_version
check_github
check_generated
check_tidy
[ "$failed" = 0 ] && echo "lint: no problems found"
exit "$failed"
