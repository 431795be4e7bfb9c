#!/usr/bin/env bash
# Runs clang-tidy, with the checks of .clang-tidy, on hand-written C++ files.
#
#   tools/tidy.sh [BASE]     files that differ from the commit BASE, committed or not. Default of BASE: the commit where the branch
#                            left main; on main itself, the previous commit
#   tools/tidy.sh --all      every file
#   tools/tidy.sh -- FILE... these files
#
# CLANG_TIDY names another program than clang-tidy, TIDY_FLAGS adds compiler flags, JOBS is the number of parallel runs.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

tidy=${CLANG_TIDY:-clang-tidy}
command -v "$tidy" >/dev/null || {
  echo "tidy: $tidy is not installed (Debian: clang-tidy)" >&2
  exit 2
}

default_base() {
  local main base
  for main in origin/main main; do
    base=$(git merge-base HEAD "$main" 2>/dev/null) || continue
    if [ "$base" != "$(git rev-parse HEAD)" ]; then
      echo "$base"
      return
    fi
  done
  git rev-parse --verify --quiet HEAD~1 || git rev-parse HEAD
}

changed() { # <base>
  git diff --name-only -z --diff-filter=d "$1" -- '*.h' '*.cc'
  git ls-files -z --others --exclude-standard -- '*.h' '*.cc'
}

# Drops files whose first line says that they are generated, and the intended mistakes in test/compile.
chosen() {
  local file line
  while IFS= read -r -d '' file; do
    [ -f "$file" ] || continue
    case $file in
      test/compile/*) continue ;;
      examples/libuv_loop.cc) echo '#include <uv.h>' | c++ -E -x c++ - >/dev/null 2>&1 || continue ;;
    esac
    IFS= read -r line <"$file" || true
    [[ ${line,,} == *generated* ]] || printf '%s\0' "$file"
  done
}

case ${1:-} in
  --all) list() { git ls-files -z -- '*.cc'; } ;;
  --)
    shift
    named=("$@")
    list() { [ ${#named[@]} = 0 ] || printf '%s\0' "${named[@]}"; }
    ;;
  -*)
    sed -n '2,9p' "${BASH_SOURCE[0]}" >&2
    exit 2
    ;;
  *)
    base=${1:-$(default_base)}
    git rev-parse --verify --quiet "$base^{commit}" >/dev/null || {
      echo "tidy: there is no commit $base" >&2
      exit 2
    }
    list() { changed "$base"; }
    ;;
esac

# CMake writes this header for kube/base/version.cc.
mkdir -p build/tidy
printf '#define KUBEXX_GIT_COMMIT ""\n' >build/tidy/kubexx_git_commit.h

# -w turns off the compiler's warnings, which the build reports with its own flags. -x c++ is for headers, which clang-tidy would
# take for C.
read -r -a flags <<<"${TIDY_FLAGS:-}"
mapfile -d '' -t files < <(list | chosen | sort -zu)
[ ${#files[@]} -gt 0 ] || exit 0
printf '%s\0' "${files[@]}" |
  # shellcheck disable=SC2016  # expanded by the bash that is started
  xargs -0 -n 1 -P "${JOBS:-$(nproc)}" bash -c '
    tidy=$1 file=${*: -1}
    shift
    "$tidy" --quiet "$file" -- -x c++ -std=c++20 -I. -Ibuild/tidy -DKUBEXX_VERSION=\"0\" -w "${@:1:$#-1}" 2>/dev/null
  ' tidy "$tidy" "${flags[@]}" || {
  echo "tidy: see the warnings above; .clang-tidy has the checks" >&2
  exit 1
}
