# For scripts that have set $root, the top of this checkout: `prepare EXTRAS` makes the environment $root/.venv with the
# project and these extras in it; $python is its Python. What is there and complete is used as it is, what a broken-off
# run left behind is made anew. PYTHON=/path/to/python3 chooses the interpreter.

venv=$root/.venv
python=$venv/bin/python

say() { printf '\n==> %s\n' "$*"; }
fail() { printf 'error: %s\n' "$*" >&2; exit 1; }

is_python() { command -v "$1" >/dev/null && "$1" -c "import sys; sys.exit(not $2)" 2>/dev/null; }

# pip can satisfy MXNet's own numpy<2 on Python 3.10 to 3.12, so one of these if there is one.
find_python() {
    for found in ${PYTHON:-python3 python3.12 python3.11 python3.10}; do
        is_python "$found" '(3, 10) <= sys.version_info < (3, 13)' && return
    done
    found=${PYTHON:-python3}
    is_python "$found" 'sys.version_info >= (3, 10)' || fail "no Python 3.10 or later here (looked for $found)." \
        "Install one, or name it: PYTHON=/path/to/python3 $0"
}

make_venv() {
    find_python
    say "Making $venv with $("$found" --version) ($found)"
    rm -rf "$venv"
    mkdir "$venv"
    touch "$venv/unfinished"
    # Debian keeps ensurepip in the package python3-venv: do without it where it is missing.
    if "$found" -m ensurepip --version >/dev/null 2>&1; then
        "$found" -m venv "$venv"
    else
        "$found" -m venv --without-pip "$venv"
        "$python" "$root/scripts/fetch_pip.py"
    fi
}

install() {
    if is_python "$python" 'sys.version_info < (3, 13)'; then
        "$python" -m pip install --quiet --disable-pip-version-check --editable "${root}[$1]"
        return
    fi
    # NumPy 2, against MXNet's metadata: everything but MXNet, and MXNet by itself.
    rest=$(echo "$1" | sed 's/cpu,*//')
    "$python" -m pip install --quiet --disable-pip-version-check --editable "$root${rest:+[$rest]}"
    "$python" -m pip install --quiet --disable-pip-version-check --no-deps mxnet==1.9.1
}

prepare() {
    wanted="$1 $(cat "$root/setup.py" "$root/pyproject.toml" | cksum) $root"
    if [ -e "$venv/unfinished" ] || ! "$python" -c '' 2>/dev/null; then
        make_venv
    elif ! "$python" -m pip --version >/dev/null 2>&1; then
        "$python" "$root/scripts/fetch_pip.py" # somebody's own environment, made without pip, as uv does
    fi
    if grep -qxF "$wanted" "$venv/installed" 2>/dev/null; then
        say "Using $venv"
        return
    fi
    say "Installing dmlplayground and what it needs into $venv (some 400 MB to fetch the first time)"
    touch "$venv/unfinished"
    install "$1"
    echo "$wanted" >>"$venv/installed"
    rm "$venv/unfinished"
}
