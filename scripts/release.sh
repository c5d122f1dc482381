#!/bin/sh
# Makes a release of what is committed: dates the CHANGELOG if that is still to be done, builds the documentation and the wheel,
# and tags the commit. Nothing is pushed. PYTHON=/path/to/python3 has the extra docs installed (default: that of .venv).
set -eu
cd "$(dirname -- "$0")/.."
fail() { printf 'error: %s\n' "$*" >&2; exit 1; }

version=$(sed -n 's/^__version__ = "\(.*\)"$/\1/p' dmlplayground/__init__.py)
tag=v$version
[ -z "$(git status --porcelain)" ] || fail "there are changes that are not committed."
! git rev-parse --quiet --verify "refs/tags/$tag" >/dev/null || fail "$tag exists already; raise __version__."
grep -q "^## $version" CHANGELOG.md || fail "CHANGELOG.md has no section for $version."
if grep -q "^## $version (not yet released)" CHANGELOG.md; then
    sed -i "s/^## $version (not yet released)/## $version ($(date -u +%Y-%m-%d))/" CHANGELOG.md
    git commit --quiet --message "release: date $version in the changelog" CHANGELOG.md
fi
sh scripts/wheel.sh
git tag --annotate "$tag" --message "dmlplayground $version"
echo "$tag is tagged; publish it with: git push origin HEAD $tag"
