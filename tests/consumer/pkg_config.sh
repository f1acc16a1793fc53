# pkg_config.sh COMPILER PC_FOLDER SOURCE FOLDER COMMAND...: builds FOLDER/example with what pkg-config says, and runs COMMAND there.
set -eu
compiler=$1 PKG_CONFIG_PATH=$2 source=$3 folder=$4
shift 4
export PKG_CONFIG_PATH
mkdir -p "$folder"
cd "$folder"
flags=$(pkg-config --cflags --libs solver)
# shellcheck disable=SC2086 # the flags are words
"$compiler" -std=c++20 "$source" -o example $flags
exec "$@"
