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

step() { printf '\n\033[1m== %s (%ds)\033[0m\n' "$*" "$SECONDS"; }

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
