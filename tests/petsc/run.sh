#!/usr/bin/env bash
# run.sh operations|methods|preconditioners|blocks|multigrid|automatic|options|tutorials|example|python|complex: what tests/petsc/CMakeLists.txt runs.
# PLUGIN, MPIEXEC, OPERATIONS, SAME_BITS, OVER_RANKS, EXAMPLE and TUTORIALS name what was built.
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
ranks="1 2 3 4 7"

# More ranks than processors, and as root, as in a container.
export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1 OMPI_MCA_rmaps_base_oversubscribe=1
# Beside other tests a rank that waits is not to keep a processor; and the search for networks takes longer than most solves here.
export OMPI_MCA_mpi_yield_when_idle=1 OMPI_MCA_pml=ob1
# Open MPI's files: in the folder that runs share, one that ends removes what another is about to use.
export TMPDIR=$folder
export OMP_NUM_THREADS=1 OPENBLAS_NUM_THREADS=1

with_plugin() {
    local n=$1
    shift
    "$MPIEXEC" -n "$n" "$@" -dll_prepend "$PLUGIN"
}

# same_on_all_ranks NAME COMMAND...: the same output on every number of ranks, which is shown for the first. RANKS stands for it.
same_on_all_ranks() {
    local name=$1 n
    shift
    for n in $ranks; do
        with_plugin "$n" "${@/#RANKS/$n}" >"$folder/$name.$n"
        if ! cmp -s "$folder/$name.1" "$folder/$name.$n"; then
            echo "$name: other bits on $n ranks than on 1:"
            diff "$folder/$name.1" "$folder/$name.$n" || true
            exit 1
        fi
    done
    echo "$name: the same on $ranks ranks"
    cat "$folder/$name.1"
}

# require_cases FILE OUTPUT: every case of the file was run.
require_cases() {
    if [[ $(grep -c "^case " "$2") != $(wc -l <"$1") ]]; then
        echo "of $(wc -l <"$1") cases these were run:"
        grep "^case " "$2" || true
        exit 1
    fi
}

# on_all_ranks FILE [FACTORS]: what OVER_RANKS prints of the cases of a file is the same on every number of ranks, and each
# case names the same FACTORS twice, those of the library and those of the plugin.
on_all_ranks() {
    local n
    for n in $ranks; do
        with_plugin "$n" "$OVER_RANKS" -cases "$1" -solver_everywhere >"$folder/all.$n"
        grep "^case\|^iterations\|^attempts\|petscsolver: .* in the factors\|petscsolver: level\|^Linear solve\|^x has" \
            "$folder/all.$n" >"$folder/bits.$n" || true
        if ! cmp -s "$folder/bits.1" "$folder/bits.$n"; then
            echo "other bits on $n ranks than on 1:"
            diff "$folder/bits.1" "$folder/bits.$n" || true
            exit 1
        fi
        require_cases "$1" "$folder/bits.$n"
        [[ -n ${2:-} ]] || continue
        if ! grep -o "^case\|$2" "$folder/all.$n" | uniq -c |
            awk '(NR % 2 ? $1 != 1 || $2 != "case" : $1 != 2) { bad = 1; exit } END { exit bad || NR % 2 }'; then
            echo "on $n ranks other factors than the library's:"
            grep -o "^case.*\|$2" "$folder/all.$n"
            exit 1
        fi
    done
    echo "the same on $ranks ranks:"
    cat "$folder/bits.1"
}

# What iterates by Vec operations alone. ibcgs, fbcgsr and pipecg2 call MPI themselves.
for_any=richardson,gmres,fgmres,lgmres,dgmres,pgmres,pipefgmres,gcr,pipegcr,bcgs,bcgsl,fbcgs,pipebcgs,qmrcgs,cgs,tfqmr,tcqmr,bicg,cgne,lsqr
for_symmetric=cg,groppcg,pipecg,pipecgrr,pipelcg,pipeprcg,fcg,pipefcg,cr,pipecr,minres,symmlq,chebyshev,nash,stcg,gltr,cgls

case $1 in
operations)
    for n in $ranks; do
        with_plugin "$n" "$OPERATIONS"
        with_plugin "$n" "$OPERATIONS" -solver_everywhere
    done
    with_plugin 3 "$OPERATIONS" -solver_storage packed
    ;;
methods)
    some="-ksp_max_it 40 -ksp_rtol 1e-10 -solver_everywhere"
    # shellcheck disable=SC2086 # the options are words
    same_on_all_ranks unsymmetric "$SAME_BITS" -case advection -methods $for_any -preconditioners none,jacobi,pbjacobi $some
    # shellcheck disable=SC2086
    same_on_all_ranks symmetric "$SAME_BITS" -case grid -methods $for_symmetric -preconditioners none,jacobi,pbjacobi $some
    # shellcheck disable=SC2086
    same_on_all_ranks types "$SAME_BITS" -case advection -mat_type aijsamebits -ksp_type bcgs -pc_type jacobi ${some% *}
    # Packed on one rank from the 100th product on, on several not.
    # shellcheck disable=SC2086
    same_on_all_ranks packed "$SAME_BITS" -case cube -n 16 -ksp_type cg -pc_type jacobi $some -ksp_rtol 1e-50 -ksp_max_it 150
    # shellcheck disable=SC2086
    same_on_all_ranks redundant "$SAME_BITS" -case advection -ksp_type gmres -pc_type redundant $some
    # shellcheck disable=SC2086
    same_on_all_ranks telescope "$SAME_BITS" -case advection -ksp_type gmres -pc_type telescope -pc_telescope_reduction_factor RANKS \
        $some
    ;;
preconditioners)
    for kind in ilu0 ilut klu amg auto; do
        same_on_all_ranks $kind "$SAME_BITS" -case advection -ksp_type gmres -pc_type redundant -redundant_pc_type samebits_$kind \
            -ksp_rtol 1e-10 -solver_everywhere
    done
    with_plugin 1 "$SAME_BITS" -pc_type samebits_klu -ksp_view | grep "entries in the factors"
    with_plugin 1 "$SAME_BITS" -case cube -n 16 -ksp_type cg -pc_type samebits_amg -ksp_view | grep "level of 4096 rows, 27136 nonzeros, 1 unknowns a node"
    # Solves within one application; where it cannot, PETSc's method says that its preconditioner failed.
    alone="-case advection -ksp_type preonly -pc_type samebits_auto"
    # shellcheck disable=SC2086
    with_plugin 1 "$SAME_BITS" $alone -pc_samebits_tolerance 1e-6 -ksp_view | grep "solves to 1e-06 ||r||"
    # shellcheck disable=SC2086
    with_plugin 1 "$SAME_BITS" $alone -pc_samebits_tolerance 1e-300 -ksp_converged_reason | grep "PC_FAILED"
    # It says why: to who looks, and in the error that a program asks for.
    for n in 1 2; do
        # shellcheck disable=SC2086
        with_plugin $n "$SAME_BITS" $alone -pc_samebits_tolerance 1e-300 -ksp_view -info :pc >"$folder/told"
        grep "the last application: stagnated, .* with klu; to round x to double precision" "$folder/told"
        grep -m 1 "^\[0\].*samebits_auto: stagnated, .* to round x" "$folder/told"
        # shellcheck disable=SC2086
        if with_plugin $n "$SAME_BITS" $alone -pc_samebits_tolerance 1e-300 -ksp_error_if_not_converged >"$folder/refused" 2>&1; then
            echo "a tolerance of 1e-300 was met"
            exit 1
        fi
        grep -m 1 "PETSC ERROR: samebits_auto: stagnated, .* to round x" "$folder/refused"
        with_plugin $n "$SAME_BITS" -case cube -n 12 -ksp_type preonly -pc_type samebits_auto -ksp_view |
            grep "the last application: converged, .* with jacobi"
        with_plugin $n "$SAME_BITS" -null_space -ksp_type cg -pc_type samebits_auto -ksp_view |
            grep "without .* in the null space, which A cannot reach"
    done
    # A proven bound of what has not converged is no solution.
    # shellcheck disable=SC2086
    with_plugin 2 "$SAME_BITS" $alone -pc_samebits_tolerance 1e-300 -pc_samebits_guarantee bound -ksp_converged_reason |
        grep "PC_FAILED"
    # shellcheck disable=SC2086
    if with_plugin 1 "$SAME_BITS" $alone -pc_samebits_tolerance 1 >"$folder/refused" 2>&1; then
        echo "a tolerance of 1 was taken"
        exit 1
    fi
    grep -m 1 "a number above 0 and below 1" "$folder/refused"
    if with_plugin 2 "$SAME_BITS" -pc_type samebits_klu >"$folder/refused" 2>&1; then
        echo "a matrix of two ranks was factored"
        exit 1
    fi
    grep -m 1 "use -pc_type redundant -redundant_pc_type samebits_klu" "$folder/refused"
    ;;
blocks)
    # Blocks that lie on one rank, on two or on all, wherever their rows stand: applied as the library applies them.
    for blocks in "ilu0 -pc_samebits_block_size 1000" "ilu0 -pc_samebits_block_size 37" \
        "ilu0 -pc_samebits_block_size 1000000" "ilu0 -scattered_blocks 11" "ilu0 -scattered_blocks 11 -empty_ranks" \
        "ilut -pc_samebits_block_size 700" "klu -pc_samebits_block_size 700" "klu -scattered_blocks 11 -empty_ranks"; do
        echo "-matrix convection_diffusion_70 -ksp_type bcgs -ksp_view -pc_type samebits_$blocks"
    done >"$folder/cases"
    on_all_ranks "$folder/cases" "[0-9]* entries in the factors"
    # Blocks of one row are Jacobi's quotients.
    for pc in "samebits_jacobi" "samebits_ilu0 -pc_samebits_block_size 1"; do
        # shellcheck disable=SC2086
        with_plugin 3 "$SAME_BITS" -case advection -ksp_type bcgs -ksp_rtol 1e-10 -solver_everywhere -pc_type $pc >"$folder/${pc%% *}"
    done
    cmp "$folder/samebits_jacobi" "$folder/samebits_ilu0"
    # refused WORDS RANKS OPTION...: with these words, by all ranks.
    refused() {
        local words=$1 n=$2
        shift 2
        if with_plugin "$n" "$OVER_RANKS" -pc_type samebits_ilu0 "$@" >"$folder/refused" 2>&1; then
            echo "not refused: $*"
            exit 1
        fi
        grep -m 1 "$words" "$folder/refused"
    }
    # Velocities, then pressures, whose diagonal is missing: the row of the whole matrix, whichever rank has it.
    for n in 1 3; do
        refused "preconditioner ilu0: row 3121 (counted from 1) has no diagonal entry" $n -matrix stokes2d_40 -pc_samebits_block_size 100
    done
    # By the number of the block, which is one of the problem.
    for n in 1 3; do
        refused "block 31, whose rows count from 1 here: preconditioner klu: A is structurally singular" $n -matrix stokes2d_40 \
            -pc_type samebits_klu -pc_samebits_block_size 100
    done
    refused "it takes a number of rows, 1 or more" 2 -pc_samebits_block_size 0
    refused "the number of a block for each of the rank's rows" 3 -scattered_blocks 5 -blocks_without_last_row
    refused "or name blocks of rows to be factored alone: -pc_samebits_block_size" 2
    ;;
multigrid)
    # Levels with the hash of the library's own. No level is so small that every rank has it as a whole but those of 400 rows.
    # Nodes of two displacements, found or told, have their rows on one rank or on two, with and without rigid-body modes.
    for matrix in "poisson3d_20 -ksp_type cg" "convection_diffusion_70 -ksp_type bcgs" "anisotropic_70 -ksp_type cg" \
        "jumping_random_18 -ksp_type cg" "stencil27_random_14 -ksp_type gmres" "graph_laplacian_6000 -ksp_type cg" \
        "elasticity2d_60 -ksp_type cg -cut_nodes" "elasticity2d_60 -ksp_type cg -mat_block_size 2" \
        "elasticity2d_70 -rigid_body_modes 70 -ksp_type cg -cut_nodes" "poisson2d_21 -ksp_type cg" \
        "poisson2d_40 -scale_both_sides -ksp_type cg" \
        "poisson2d_40 -ksp_type cg -empty_ranks"; do
        echo "-pc_samebits_gathered_rows 0 -ksp_view -matrix $matrix"
    done >"$folder/cases"
    on_all_ranks "$folder/cases" "[0-9]* entries in the factors, hash .*"
    # Small levels on every rank; all of them, which is the default for so few rows, in single precision and where that has not
    # got the range.
    for options in "-pc_samebits_gathered_rows 1000" "-scale 1 -empty_ranks" "-scale 1e-300 -empty_ranks"; do
        echo "-matrix poisson3d_20 -ksp_type cg $options"
    done >"$folder/cases"
    on_all_ranks "$folder/cases"
    if with_plugin 3 "$OVER_RANKS" -matrix stokes2d_40 >"$folder/refused" 2>&1; then
        echo "multigrid was made of a matrix with zeros on its diagonal"
        exit 1
    fi
    grep -m 1 "PETSC ERROR: preconditioner amg: .*has a diagonal entry that is missing, zero" "$folder/refused"
    if with_plugin 2 "$OVER_RANKS" -pc_samebits_gathered_rows -1 >"$folder/refused" 2>&1; then
        echo "levels of -1 rows were taken"
        exit 1
    fi
    grep -m 1 "it takes a number of rows, 0 or more" "$folder/refused"
    ;;
automatic)
    # By Jacobi's preconditioner, by multigrid after it, and by klu, for which every rank takes the whole matrix.
    for matrix in poisson3d_20 convection_diffusion_120 jumping_random_18 anisotropic_50 elasticity2d_24 \
        convection_strong_16 graph_laplacian_3000 poisson2d_9 stokes2d_12; do
        echo "-pc_samebits_gathered_rows 0 -matrix $matrix"
    done >"$folder/matrices"
    # Levels that every rank has as a whole, by default.
    echo "-matrix anisotropic_50" >>"$folder/matrices"
    echo "-pc_samebits_gathered_rows 0 -matrix anisotropic_50 -scale_both_sides" >>"$folder/matrices"
    # The second look at small rows is at the whole matrix.
    echo "-matrix poisson3d_20 -held_rows 400" >>"$folder/matrices"
    # Every component rounded once, or the method is told that there is no proof.
    echo "-matrix convection_diffusion_40 -pc_samebits_guarantee rounded -ksp_converged_reason" >>"$folder/matrices"
    sed "s/^/-ksp_type preonly -pc_type samebits_auto /" "$folder/matrices" >"$folder/cases"
    on_all_ranks "$folder/cases"
    # What is left of a singular system that is all but solved has a part that nothing solves: it is left out of the next
    # application. Of an unsymmetric matrix constants may be the null space, and no vector that its transpose turns into zero.
    for case in grid cube; do
        same_on_all_ranks "null space of a $case" "$SAME_BITS" -case $case -n 18 -null_space -methods cg,fcg,gmres,preonly \
            -preconditioners samebits_auto -solver_everywhere
        [[ $(grep -c "iterations 1 CONVERGED" "$folder/null space of a $case.1") == 4 ]]
    done
    same_on_all_ranks "null space of rows alone" "$SAME_BITS" -case advection -null_space -methods fgmres \
        -preconditioners samebits_auto -solver_everywhere
    grep -q "iterations 1 CONVERGED_RTOL" "$folder/null space of rows alone.1"
    with_plugin 2 "$SAME_BITS" -case cube -n 6 -ksp_type preonly -pc_type samebits_auto -pc_samebits_guarantee rounded -ksp_view |
        grep "guarantee rounded"
    if with_plugin 2 "$SAME_BITS" -pc_type samebits_auto -pc_samebits_guarantee sound >"$folder/refused" 2>&1; then
        echo "the guarantee sound was taken"
        exit 1
    fi
    grep -m 1 "choose none, bound or rounded" "$folder/refused"
    ;;
options)
    with_plugin 2 "$SAME_BITS" -solver_everywhere -ksp_view | grep "petscsolver: exact, every product"
    with_plugin 1 "$SAME_BITS" -help >"$folder/help"
    grep -A 3 "^petscsolver:" "$folder/help"
    for accuracy in fast compensated; do
        with_plugin 2 "$SAME_BITS" -solver_everywhere -solver_accuracy $accuracy -ksp_view | grep "petscsolver: $accuracy,"
    done
    for mistake in "-solver_accuracy quick" "-solver_storage small"; do
        # shellcheck disable=SC2086
        if with_plugin 1 "$SAME_BITS" $mistake >"$folder/refused" 2>&1; then
            echo "$mistake was accepted"
            exit 1
        fi
        grep "fast, compensated\|auto, csr" "$folder/refused"
    done
    # Dots that cancel to zero are among these.
    with_plugin 3 "$OPERATIONS" -log_view | grep "^VecSumDigits"
    ;;
tutorials)
    if [[ -z ${TUTORIALS:-} ]]; then
        echo "skipped: PETSc's tutorials are not installed"
        exit 0
    fi
    # same_solution NAME EXAMPLE OPTION...: the same x on every number of ranks, in the order of the grid.
    same_solution() {
        local name=$1 example=$2 n
        shift 2
        for n in $ranks; do
            with_plugin "$n" "$TUTORIALS$example" "$@" -solver_everywhere -ksp_view_solution "binary:$folder/$name.$n" >/dev/null
            cmp "$folder/$name.1" "$folder/$name.$n"
        done
        echo "$name: the same x on $ranks ranks"
    }
    with_plugin 1 "${TUTORIALS}ex2" -m 30 -n 31 -ksp_view_mat "binary:$folder/matrix" >/dev/null
    same_solution ex2 ex2 -m 30 -n 31 -ksp_type cg -pc_type jacobi
    same_solution ex10 ex10 -f "$folder/matrix" -rhs one -ksp_type bcgs -pc_type jacobi
    # diag(2^-600, 3) x = (1, 1), rounded: the rule of zeros drops what the tolerance needs, so that x is no solution.
    printf '%b' '\0\x12\x7b\x50\0\0\0\2\0\0\0\2\0\0\0\2\0\0\0\1\0\0\0\1\0\0\0\0\0\0\0\1' \
        '\x1a\x70\0\0\0\0\0\0\x40\x08\0\0\0\0\0\0' '\0\x12\x7b\x4e\0\0\0\2' \
        '\x3f\xf0\0\0\0\0\0\0\x3f\xf0\0\0\0\0\0\0' >"$folder/graded"
    with_plugin 1 "${TUTORIALS}ex10" -f "$folder/graded" -ksp_type preonly -pc_type samebits_auto -pc_samebits_guarantee rounded \
        -ksp_converged_reason | grep "PC_FAILED"
    # Multigrid of the library, whose levels depend on how unknowns are numbered: slices keep the numbers of one rank.
    same_solution ex45_amg ex45 -da_refine 2 -pc_type samebits_amg -ksp_type cg -da_processors_x 1 -da_processors_y 1 \
        -pc_samebits_gathered_rows 0
    # Geometric multigrid on a grid that is cut into boxes: of parts that do not depend on how unknowns are numbered.
    same_solution ex45 ex45 -da_refine 2 -pc_type mg -ksp_type fgmres -mg_levels_ksp_type richardson \
        -mg_levels_ksp_richardson_scale 0.6 -mg_levels_ksp_max_it 2 -mg_levels_pc_type jacobi -mg_coarse_ksp_type cg \
        -mg_coarse_ksp_rtol 1e-3 -mg_coarse_pc_type jacobi
    ;;
example)
    for n in $ranks; do
        "$MPIEXEC" -n "$n" "$EXAMPLE" >"$folder/$n"
        cmp "$folder/1" "$folder/$n"
    done
    cat "$folder/1"
    ;;
python)
    # Debian's petsc4py belongs to Debian's Python.
    python=/usr/bin/python3
    if ! $python -c "import petsc4py" 2>/dev/null; then
        echo "skipped: there is no petsc4py"
        exit 0
    fi
    same_on_all_ranks python $python "$here/poisson.py" -solver_everywhere
    ;;
complex)
    if [[ -z ${COMPLEX_PLUGIN:-} ]]; then
        echo "skipped: there is no PETSc with complex numbers"
        exit 0
    fi
    # refused WORDS COMMAND...: fails, and says so.
    refused() {
        local words=$1
        shift
        if "$@" >"$folder/refused" 2>&1; then
            echo "not refused: $*"
            exit 1
        fi
        grep -m 1 "$words" "$folder/refused"
    }
    if [[ -n ${PLUGIN:-} ]]; then
        refused "this plugin is for real numbers" with_plugin 1 "$COMPLEX_SOLVE"
        PLUGIN=$COMPLEX_PLUGIN refused "this plugin is for complex numbers" with_plugin 1 "$SAME_BITS"
    fi
    PLUGIN=$COMPLEX_PLUGIN
    for n in $ranks; do
        with_plugin "$n" "$COMPLEX_OPERATIONS"
        with_plugin "$n" "$COMPLEX_OPERATIONS" -solver_everywhere
    done
    with_plugin 3 "$COMPLEX_OPERATIONS" -solver_storage packed
    some="-matrix power_network_300 -ksp_max_it 30 -ksp_rtol 1e-10"
    # dgmres, pipegcr and pipefgmres are for real numbers.
    for pc in jacobi samebits_jacobi; do
        echo "-pc_type $pc $some -methods richardson,gmres,fgmres,lgmres,pgmres,gcr,bcgs,bcgsl,fbcgs,pipebcgs,qmrcgs,cgs,tfqmr,tcqmr,bicg,cgne,lsqr,cg,cr,minres"
    done >"$folder/cases"
    echo "-matrix wilson_4_4 -ksp_type bcgs -pc_type samebits_jacobi -ksp_rtol 1e-10" >>"$folder/cases"
    for kind in ilu0 ilut klu; do
        echo "-ksp_type gmres -pc_type redundant -redundant_pc_type samebits_$kind $some"
    done >>"$folder/cases"
    echo "-ksp_type gmres -pc_type samebits_ilu0 -pc_samebits_block_size 37 $some" >>"$folder/cases"
    for guarantee in none rounded; do
        echo "-matrix power_network_1000 -ksp_type preonly -pc_type redundant -redundant_pc_type samebits_auto" \
            "-redundant_pc_samebits_guarantee $guarantee -compare $guarantee"
    done >>"$folder/cases"
    same_on_all_ranks complex "$COMPLEX_SOLVE" -cases "$folder/cases" -solver_everywhere
    require_cases "$folder/cases" "$folder/complex.1"
    # Multigrid and whole solves over ranks: on one rank they are the library's own.
    for matrix in "poisson3d_14 -phases -ksp_type cg" "poisson2d_40 -phases -ksp_type cg -near_null_space 1" \
        "elasticity2d_30 -phases -ksp_type gmres -mat_block_size 2" "poisson2d_30 -phases -ksp_type cg -near_null_space 2" \
        "power_network_1000 -ksp_type gmres -ksp_max_it 20" "anisotropic_40 -phases -ksp_type cg -pc_samebits_gathered_rows 1000"; do
        echo "-pc_samebits_gathered_rows 0 -pc_type samebits_amg -ksp_rtol 1e-10 -ksp_max_it 100 -ksp_view -matrix $matrix"
    done >"$folder/cases"
    # By Jacobi's complex quotients, by a symmetric method (cocg), by multigrid, by klu of the whole matrix, and proven.
    for matrix in wilson_4_4 power_network_300 helmholtz_20 "poisson3d_14 -phases" "anisotropic_50 -phases" \
        "anisotropic_50 -phases -pc_samebits_gathered_rows 0" "helmholtz_20 -pc_samebits_guarantee rounded -compare rounded"; do
        echo "-ksp_type preonly -pc_type samebits_auto -compare none -matrix $matrix"
    done >>"$folder/cases"
    echo "-ksp_type cg -pc_type samebits_auto -matrix poisson2d_20 -null_space" >>"$folder/cases"
    for pc in "samebits_auto -compare none" "redundant -redundant_pc_type samebits_klu"; do
        echo "-ksp_type preonly -matrix helmholtz_20 -mat_type mpiaij -pc_type $pc" >>"$folder/cases"
    done
    OVER_RANKS=$COMPLEX_SOLVE on_all_ranks "$folder/cases"
    grep -A 1 -e "-null_space" "$folder/bits.1" | grep -q "iterations 1 CONVERGED_RTOL"
    refused "are not shared out among the ranks as the matrix's rows" with_plugin 3 "$COMPLEX_SOLVE" -pc_type samebits_amg \
        -near_null_space 2 -misplaced
    for n in 1 3; do
        # PETSc ends so for want of a way to mark a dense matrix as failed, which is what it is told of the first column.
        refused "No method setinf" with_plugin $n "$COMPLEX_SOLVE" -ksp_type preonly -pc_type samebits_auto -columns
        refused "samebits_auto needs an assembled matrix" with_plugin $n "$COMPLEX_SOLVE" -pc_type samebits_auto -unassembled
    done
    refused "use -pc_type redundant -redundant_pc_type samebits_klu" with_plugin 2 "$COMPLEX_SOLVE" -pc_type samebits_klu
    ;;
esac
