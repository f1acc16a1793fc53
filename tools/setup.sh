# What tools/run, tools/test and .ci/run share: the packages, the build. To be sourced by bash.

root=$(cd "$(dirname "$(readlink -f "${BASH_SOURCE[0]}")")/.." && pwd)

# Debian 12's names; what is needed to build everything and to run the tests.
packages=(
    g++ cmake ninja-build pkg-config curl
    libboost-dev libboost-program-options-dev libfmt-dev libhwy-dev nettle-dev nlohmann-json3-dev zlib1g-dev
    gnuplot-nox libbenchmark-dev libeigen3-dev libgmock-dev libgtest-dev libmpfr-dev libsuitesparse-dev
)

# What the plugin for PETSc and its tests need besides.
petsc_packages=(
    libpetsc-real3.18-dev libpetsc-complex3.18-dev libpetsc3.18-dev-examples openmpi-bin python3-petsc4py python3-petsc4py-real3.18
)

say() { printf '%s\n' "$*" >&2; }

is_installed() { [[ $(dpkg-query -W -f '${db:Status-Status}' "$1" 2>/dev/null) == installed ]]; }

has_apt() { command -v dpkg-query >/dev/null && command -v apt-get >/dev/null; }

install_missing_packages() {
    if has_apt; then
        install_missing "${packages[@]}"
    elif ! compgen -G "$root/build*/build.ninja" >/dev/null; then
        say "Not a Debian system: make sure that what these packages of Debian 12 hold is there: ${packages[*]}"
    fi
}

# Goes on without them where they are not to be had.
install_missing_petsc_packages() {
    (has_apt && install_missing "${petsc_packages[@]}") ||
        say "The PETSc tests are skipped, unless there is a PETSc of another origin: not installed were ${petsc_packages[*]}."
}

# install_missing PACKAGE...: installs those that are missing, or says what to do and gives up.
install_missing() {
    local missing=() package as_root=()
    for package in "$@"; do is_installed "$package" || missing+=("$package"); done
    ((${#missing[@]} > 0)) || return 0
    if ((EUID != 0)); then
        if ! sudo -n true 2>/dev/null; then
            say "Some packages are missing. Please run this line, then try again:"
            say "  sudo apt-get install ${missing[*]}"
            exit 1
        fi
        as_root=(sudo)
    fi
    say "Installing by apt-get: ${missing[*]}"
    apt_quietly update
    apt_quietly install -y --no-install-recommends "${missing[@]}"
}

apt_quietly() { run_quietly "apt-get $1" "${as_root[@]}" env DEBIAN_FRONTEND=noninteractive apt-get -qq "$@"; }

# run_quietly WHAT COMMAND...: shows the end of its output only where it fails, and gives up then.
run_quietly() {
    local what=$1 log
    shift
    log=$(mktemp)
    if ! "$@" >"$log" 2>&1 </dev/null; then
        tail -n 40 "$log" >&2
        rm -f "$log"
        say "$what failed; the end of its output is above."
        exit 1
    fi
    rm -f "$log"
}

# build PRESET [TARGET...]: configures once and builds, in silence where all is up to date. Sets build_folder.
build() {
    local preset=$1
    shift
    build_folder=$root/build-$preset
    [[ $preset != release ]] || build_folder=$root/build
    mkdir -p "$build_folder"
    # One at a time, however many are started.
    exec {lock}>"$build_folder/.lock"
    flock "$lock"
    if [[ $preset == run && -e $build_folder/build.ninja && $(cat "$build_folder/machine" 2>/dev/null) != "$(this_machine)" ]]; then
        say "What was built here is for another machine; building anew."
        rm -rf "${build_folder:?}"/*
    fi
    if [[ ! -e $build_folder/build.ninja ]]; then
        cd_root run_quietly "Configuring" cmake --preset "$preset" $(cuda_options)
        say "$(cuda_in_one_line)"
        if [[ $preset == run ]]; then
            this_machine >"$build_folder/machine"
            say "Compiling for the vector instructions of this machine; cmake --preset release is for every machine."
        fi
    fi
    if ! ninja -C "$build_folder" -n "$@" 2>/dev/null | grep -q 'no work to do'; then
        say "Building in $build_folder; the first time this takes a few minutes."
        run_quietly "Building" ninja -C "$build_folder" -j "$(nproc)" "$@"
    fi
    exec {lock}>&-
}

# What its processor can do.
this_machine() { grep -m 1 -E '^(flags|Features)' /proc/cpuinfo || uname -m; }

has_cuda_device() { [[ -e /dev/nvidiactl || -e /dev/dxg ]]; }

# For the CUDA devices of this machine, unless CUDAARCHS (what CMake reads) or SOLVER_CUDA say otherwise.
cuda_options() { echo "-DSOLVER_CUDA_HERE=ON ${SOLVER_CUDA:+-DSOLVER_CUDA=$SOLVER_CUDA}"; }

# What was decided.
cuda_in_one_line() {
    if grep -q '^SOLVER_CUDA:BOOL=ON' "$build_folder/CMakeCache.txt"; then
        echo "Building for the processor and for CUDA devices."
    elif has_cuda_device; then
        echo "Building for the processor alone: there is a CUDA device, but no CUDA compiler that will do (CMake's output says more)."
    else
        echo "Building for the processor alone: there is no CUDA device here (SOLVER_CUDA=ON builds for one all the same)."
    fi
}

# Presets are found from the folder that holds them.
cd_root() {
    local here=$PWD
    cd "$root"
    "$@"
    cd "$here"
}
