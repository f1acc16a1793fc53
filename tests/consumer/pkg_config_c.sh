# pkg_config_c.sh COMPILER PC_FOLDER SOURCE PROGRAM: builds the program with what pkg-config says of solver_c, and runs it.
set -eu
compiler=$1 PKG_CONFIG_PATH=$2 source=$3 program=$4
export PKG_CONFIG_PATH
flags=$(pkg-config --cflags --libs solver_c)
# shellcheck disable=SC2086 # the compiler and the flags are words
$compiler "$source" -o "$program" $flags
exec "$program"
