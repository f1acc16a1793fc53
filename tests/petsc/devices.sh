#!/usr/bin/env bash
# devices.sh bits|time|multigrid: on a machine with two GPUs, for a PETSc with CUDA. MPIEXEC, PLUGIN, SAME_BITS, OPERATIONS and
# OVER_RANKS name what was built, LOGS a folder for what is said (default: here), MATRICES files in PETSc's format besides the
# generated ones. Goes on after a failure; the last line counts them.
set -uo pipefail
logs=${LOGS:-.}
export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1 OMPI_MCA_rmaps_base_oversubscribe=1
export OMP_NUM_THREADS=1 OPENBLAS_NUM_THREADS=1
some="-use_gpu_aware_mpi 0 -options_left no"  # what is left differs by the names of types
on_device="-mat_type aijsamebitscuda -vec_type samebitscuda -dll_prepend $PLUGIN"
on_processor="-mat_type aijsamebits -vec_type samebits -dll_prepend $PLUGIN"
plain="-mat_type aijcusparse -vec_type cuda"
failures=0

# try NAME SECONDS RANKS COMMAND...: what it prints goes to the log NAME, and to the screen if it is short.
try() {
    local name=$1 seconds=$2 ranks=$3 status start=$SECONDS
    shift 3
    timeout -k 5 "$seconds" "$MPIEXEC" -n "$ranks" "$@" >"$logs/$name" 2>"$logs/$name.errors"
    status=$?
    if ((status != 0)); then
        failures=$((failures + 1))
        echo "FAILED $name: status $status after $((SECONDS - start)) s"
        tail -n 5 "$logs/$name"
        head -n 15 "$logs/$name.errors"
    fi
    return $status
}

# ours NAME PROGRAM OPTION...: one output for 1 to 4 ranks on the processor and 1 and 2 with a GPU each.
ours() {
    local name=$1 n
    shift
    try "$name.processor.1" 60 1 "$1" $on_processor $some "${@:2}" || return
    for n in 2 3 4; do
        try "$name.processor.$n" 60 "$n" "$1" $on_processor $some "${@:2}" && compare "$name" "processor.$n"
    done
    for n in 1 2; do
        try "$name.device.$n" 60 "$n" "$1" $on_device $some "${@:2}" && compare "$name" "device.$n"
    done
    cat "$logs/$name.processor.1"
}

# same NAME OPTION...: the same of PETSc's preconditioners, with what PETSc alone gives beside it.
same() {
    local name=$1 n
    shift
    ours "$name" "$SAME_BITS" "$@"
    echo "PETSc alone, on 1 and 2 devices:"
    for n in 1 2; do
        try "$name.plain.$n" 60 "$n" "$SAME_BITS" $plain $some "$@" && cat "$logs/$name.plain.$n"
    done
}

compare() {
    if cmp -s "$logs/$1.processor.1" "$logs/$1.$2"; then
        echo "$1: $2 as on one processor"
    else
        failures=$((failures + 1))
        echo "FAILED $1: $2 has other bits"
        diff "$logs/$1.processor.1" "$logs/$1.$2" | head -n 20
    fi
}

bits() {
    local n file matrix methods="-methods bcgs,cg,gmres -preconditioners none,jacobi -ksp_rtol 1e-10"
    for n in 1 2 3; do
        try "operations.$n" 60 "$n" "$OPERATIONS" -on_device $some -dll_prepend "$PLUGIN" && cat "$logs/operations.$n"
    done
    try operations.everywhere.2 60 2 "$OPERATIONS" -on_device -solver_everywhere $some -dll_prepend "$PLUGIN" && cat "$logs/operations.everywhere.2"
    same advection -case advection -n 60 -ksp_max_it 100 $methods
    same cube27 -case cube27 -n 64 -ksp_max_it 60 $methods
    # The library's preconditioners; levels over ranks down to 400 rows, in single precision, in double and with nodes of two
    # displacements whose rows lie on one rank or on two.
    ours of_library "$SAME_BITS" -case cube27 -n 40 -ksp_max_it 60 -methods cg,gmres -preconditioners samebits_jacobi,samebits_amg
    ours blocks "$SAME_BITS" -case cube27 -n 20 -methods bcgs,gmres -preconditioners samebits_ilu0,samebits_klu -pc_samebits_block_size 500
    ours automatic "$SAME_BITS" -case cube27 -n 40 -methods preonly -preconditioners samebits_auto
    local levels="-pc_samebits_gathered_rows 0"
    ours multigrid "$SAME_BITS" -case cube -n 40 -ksp_max_it 60 -methods cg,bcgs -preconditioners samebits_amg $levels
    for matrix in "convection_diffusion_70 -ksp_type bcgs" "anisotropic_70 -ksp_type cg" "poisson3d_20 -ksp_type cg -scale 1e-300" \
        "elasticity2d_60 -ksp_type cg -cut_nodes" "elasticity2d_60 -ksp_type cg -mat_block_size 2" \
        "elasticity2d_70 -rigid_body_modes 70 -ksp_type cg -cut_nodes" "poisson2d_40 -ksp_type cg -empty_ranks" \
        "poisson2d_40 -scale_both_sides -ksp_type cg"; do
        ours "multigrid.$matrix" "$OVER_RANKS" $levels -matrix $matrix
    done
    for file in ${MATRICES:-}; do
        same "$(basename "$file" .petsc)" -case file -f "$file" -ksp_max_it 700 $methods
    done
}

# time_case NAME PRECONDITIONER OPTION...: PETSc and the plugin, one and two devices, in turn, each by its own preconditioner:
# PETSC'S,OURS.
time_case() {
    local name=$1 of_petsc=${2%,*} of_ours=${2#*,} n
    shift 2
    for n in 1 2; do
        try "$name.plain.$n" 200 "$n" "$SAME_BITS" $plain $some -pc_type "$of_petsc" "$@" &&
            sed "s/^/$name, PETSc, $n: /" "$logs/$name.plain.$n"
        try "$name.exact.$n" 200 "$n" "$SAME_BITS" $on_device $some -pc_type "$of_ours" "$@" &&
            sed "s/^/$name, exact, $n: /" "$logs/$name.exact.$n"
    done
}

timing() {
    local bicgstab="-ksp_type bcgs -ksp_rtol 1e-50 -ksp_atol 1e-300 -ksp_max_it 50 -seconds 3"
    time_case time27 jacobi,jacobi -case cube27 -n "${SIDE27:-200}" $bicgstab
    time_case time7 jacobi,jacobi -case cube -n "${SIDE7:-300}" $bicgstab
    try log.exact.2 100 2 "$SAME_BITS" $on_device $some -case cube27 -n "${SIDE27:-200}" -pc_type jacobi $bicgstab -log_view
}

timing_of_multigrid() {
    local cg="-ksp_type cg -ksp_rtol 1e-8 -ksp_max_it 200 -seconds 3" rows
    for rows in ${GATHERED_ROWS:-10000}; do
        time_case "multigrid7.$rows" gamg,samebits_amg -case cube -n "${SIDE7:-300}" $cg -pc_samebits_gathered_rows "$rows"
    done
}

case $1 in
bits) bits ;;
time) timing ;;
multigrid) timing_of_multigrid ;;
esac
echo "$failures failures, $SECONDS s"
exit $((failures > 0))
