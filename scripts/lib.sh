# Shared by the bash scripts of this folder, which source it first:
#
#     . "$(dirname "${BASH_SOURCE[0]}")/lib.sh"
#
# It sets `repo`, the repository, and `target`, the folder of builds. With -h or --help as the first argument it prints
# the comment at the top of the script and exits.

repo=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd -P)
target=${CARGO_TARGET_DIR:-$repo/target}
# Taken now: scripts change their folder.
self=$(realpath "$0")

describe() { awk 'NR > 1 { if (!/^#/) exit; sub(/^# ?/, ""); print }' "$self"; }

# Arguments that the script does not know.
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

# The last step, which says how long each took.
all_passed() {
    step "all passed"
    for ((i = 0; i + 1 < ${#steps[@]}; i++)); do
        printf '%5d s  %s\n' $((starts[i + 1] - starts[i])) "${steps[i]}"
    done
}

# A component of the toolchain that a minimal installation may lack.
with() {
    local component=$1
    shift
    if "cargo" "$component" --version >/dev/null 2>&1; then
        "$@"
    else
        echo "no cargo $component here: left out"
    fi
}

# Sets `product` and `evidence`, arguments for cargo: the crates that users get, which are the workspace's default
# members, and those that test, measure or compare them; each with all features. Object stores are in neither:
# `scripts/test-objects` has them, as what they are built on takes as long to build as all else.
choose_packages() {
    eval "$(cargo metadata --no-deps --format-version 1 | python3 -c '
import json, sys
metadata = json.load(sys.stdin)
product, evidence = [], []
for package in metadata["packages"]:
    of = product if package["id"] in metadata["workspace_default_members"] else evidence
    if package["name"] != "tagmac-objects":
        features = [feature for feature in package["features"] if feature != "objects"]
        of += ["-p", package["name"], *("--features=" + package["name"] + "/" + feature for feature in features)]
print("product=(", *product, ")")
print("evidence=(", *evidence, ")")')"
}

# Installs the libraries that peers/ links; none may be missing where it is tested.
need_peers() {
    "$repo/scripts/need" nettle-dev libssl-dev libsodium-dev libtomcrypt-dev pkgconf
    export TAGMAC_ALL_PEERS=1
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
