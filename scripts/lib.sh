# Shared by the bash scripts of this folder, which source it first:
#
#     . "$(dirname "${BASH_SOURCE[0]}")/lib.sh"
#
# It sets `repo`, the repository, and `target`, the folder of builds. With -h or --help as the first
# argument it prints the comment at the top of the script and exits.

repo=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd -P)
target=${CARGO_TARGET_DIR:-$repo/target}
# Taken now, because scripts change their folder.
self=$(realpath "$0")

describe() { awk 'NR > 1 { if (!/^#/) exit; sub(/^# ?/, ""); print }' "$self"; }

# Rejects unknown arguments.
usage() {
    describe >&2
    exit 2
}

fail() {
    echo "${self##*/}: $*" >&2
    exit 1
}

steps=() starts=()
step() {
    steps+=("$*") starts+=("$SECONDS")
    printf '\n\033[1m== %s (%ds)\033[0m\n' "$*" "$SECONDS"
}

# The last step, which prints the time of each.
all_passed() {
    step "all passed"
    for ((i = 0; i + 1 < ${#steps[@]}; i++)); do
        printf '%5d s  %s\n' $((starts[i + 1] - starts[i])) "${steps[i]}"
    done
}

# Sets `packages`, arguments for cargo: the crates that users get, which are the workspace's default
# members, with all features. TAGMAC_EVIDENCE=1 adds those that test, measure and compare them, and
# installs the libraries that peers/ links. Object stores are left to `scripts/test-objects`: their
# dependencies take as long to build as everything else.
choose_packages() {
    if [ "${TAGMAC_EVIDENCE-}" = 1 ]; then
        local peers=(nettle-dev libssl-dev libsodium-dev libtomcrypt-dev pkgconf)
        [ "$(uname -m)" != x86_64 ] || peers+=(libipsec-mb-dev)
        "$repo/scripts/need" "${peers[@]}"
        export TAGMAC_ALL_PEERS=1
    fi
    local chosen
    chosen=$(cargo metadata --no-deps --format-version 1 | python3 -c '
import json, os, sys
metadata = json.load(sys.stdin)
for package in metadata["packages"]:
    wanted = package["id"] in metadata["workspace_default_members"] or os.environ.get("TAGMAC_EVIDENCE") == "1"
    if wanted and package["name"] != "tagmac-objects":
        print("--package=" + package["name"])
        for feature in package["features"]:
            if feature != "objects":
                print("--features=" + package["name"] + "/" + feature)')
    # shellcheck disable=SC2034
    mapfile -t packages <<<"$chosen"
}

# Sets the environment of a build for the target $1. If Rust has no standard library for it, Debian's
# rustc-web builds that from rust-web-src, in another folder: two compilers would rebuild each
# other's files.
use_target() {
    export CARGO_TARGET_DIR=$target
    local libdir
    libdir=$(rustc --print target-libdir --target "$1")
    if ! compgen -G "$libdir/libstd-*.rlib" >/dev/null; then
        "$repo/scripts/need" rustc-web rust-web-src
        # Stable compilers have unstable options only if this variable is set.
        export RUSTC=/usr/bin/rustc RUSTC_BOOTSTRAP=1 CARGO_TARGET_DIR=$target/targets
        export CARGO_UNSTABLE_BUILD_STD=std,panic_unwind
    fi
}

# Puts zig, a linker for other systems, and the named packages of PyPI in PATH. `zig` is their folder.
use_zig() {
    local python=${PYTHON:-python3}
    zig=$target/zig
    "$python" -c 'import ensurepip' 2>/dev/null || "$repo/scripts/need" python3-venv
    [ -x "$zig/bin/python" ] || "$python" -m venv "$zig"
    PIP_DISABLE_PIP_VERSION_CHECK=1 "$zig/bin/pip" install --quiet 'ziglang>=0.13' "$@"
    PATH=$zig/bin:$PATH
}

# Sets `work`, a new folder that is removed when the script ends; the arguments are those of mktemp.
make_work() {
    work=$(mktemp -d "$@")
    trap 'rm -rf "$work"' EXIT
}

case ${1-} in -h | --help)
    describe
    exit
    ;;
esac
