#include "option_table.hpp"

#include <boost/program_options/value_semantic.hpp>
#include <span>
#include <sstream>
#include <string_view>

namespace solver::command {
namespace {

namespace po = boost::program_options;

struct Option {
    const char* name;
    const char* value;  ///< what stands for its value in the help; null for a switch
    const char* help;
};

struct Group {
    const char* title;
    std::span<const Option> options;
};

const Option the_system[] = {
    {"matrix", "FILE",
     "A, a Matrix Market file (.mtx, .mtx.gz), or the name of one in $SOLVER_MATRIX_PATH, of a generator, or of the "
     "SuiteSparse collection (fetched on first use; SOLVER_OFFLINE=1 forbids it)"},
    {"rhs", "WHAT",
     "b: a file, ones, A*ones (default; the solution is then known) or random[:SEED]; the columns of a file with "
     "several are solved together"},
    {"initial", "FILE", "the initial guess (default: zero)"},
};

const Option the_method[] = {
    {"accuracy", "MODE", "of every sum: exact (default: rounded once), compensated (as if in twice the precision) or fast"},
    {"fast", nullptr, "short for --accuracy fast"},
    {"compensated", nullptr, "short for --accuracy compensated"},
    {"exact", nullptr, "short for --accuracy exact"},
    {"precision", "TYPE", "of the numbers: double (default), single, or mixed (iterates in single, x as good as double)"},
    {"preconditioner", "KIND", "auto (default: the cheapest that will do), none, jacobi, ilu0, isai, ilut, klu, amg or schur"},
    {"method", "METHOD",
     "auto (default: where A and the preconditioner are symmetric cg, or minres if A turns out indefinite, cocg where they "
     "are complex and their own transposes, else bicgstab), bicgstab, cg, gmres, minres (symmetric A, definite or not), idr, "
     "bicgstab2 or cocg"},
    {"restart", "M", "of gmres: a cycle has M steps (default 30)"},
    {"profile", "NAME",
     "what the choice takes operations to cost: auto (default: in exact processor, so that x has the same bits on every "
     "device, else as the device is), processor, or gpu, for which iterations are cheap and the host's work dear, with other "
     "bits"},
    {"drop-tolerance", "T", "of ilut: entries below T times the mean of their row are dropped"},
    {"fill-factor", "F", "of ilut: keeps F times the mean row of A in each row of L and U"},
    {"block-size", "N",
     "of ilu0, isai, ilut and klu: N successive rows are a block, factored as if it stood alone (default: all rows)"},
    {"unknowns-per-node", "N",
     "of amg: N successive rows belong together, as displacements do (default: found in the pattern)"},
    {"near-null", "FILE",
     "of amg: vectors that A maps to nearly nothing, one a column, as the rigid-body modes of elasticity (default: "
     "constants)"},
    {"memory-limit", "GB",
     "that factors may take (default: half of what this process may use, control groups and ulimit counted)"},
    {"verify", nullptr, "prove how far x can be off, component by component; exit status 3 where that cannot be proven"},
    {"rounded", nullptr,
     "round every component of the solution once, proven: bits that depend on A and b alone, whatever computes them"},
    {"least-squares", nullptr,
     "the x for which ||b - A x|| is least, by LSMR, as of every A that is not square; --preconditioner none: without factors; "
     "the tolerance is of the cosine of r and each column, too"},
    {"tolerance", "T", "stop at ||b - A x|| <= T ||b||, the true residual (default 1e-10)"},
    {"absolute-tolerance", "T", "or at ||b - A x|| <= T, whichever is met first (default 0)"},
    {"max-iterations", "N", "give up after N iterations (default 10000)"},
};

const Option the_machine[] = {
    {"device", "WHERE", "auto (default: a CUDA device where there is one), cpu, cuda or cuda:N"},
    {"threads", "N", "threads to use on the processor (default: all)"},
    {"spmv", "KERNEL", "how rows are shared out: auto (default), general or adaptive"},
    {"storage", "WHAT", "what products read: auto (default: packed where that pays), csr or packed"},
};

const Option side_by_side[] = {
    {"compare", nullptr, "solve in all three accuracies and show them in one table"},
    {"reference", nullptr, "beside ours: Eigen's BiCGSTAB with the same preconditioner, and a direct solution refined exactly"},
    {"plot", "FILE",
     "draw the residuals over the iterations, as .svg or .png (these need gnuplot); as .html: a page with everything "
     "that was found, and the errors of one product in ulp"},
};

const Option output[] = {
    {"solution", "FILE", "write x as a Matrix Market file (.gz compresses)"},
    {"report", "FILE", "write what was done and found, as JSON"},
    {"history", "FILE", "write the residual of every iteration, as CSV"},
    {"quiet", nullptr, "print nothing but errors"},
    {"version", nullptr, "print the version and what it was built with"},
    {"help,h", nullptr, "print this text"},
};

const Group groups[] = {
    {"The system", the_system},
    {"The method", the_method},
    {"The machine", the_machine},
    {"Side by side", side_by_side},
    {"Output (an existing file is replaced, whole, after the solve)", output},
};

constexpr const char* head = R"(solver - solves A x = b iteratively, with the accuracy you ask for

Usage: solver --matrix FILE [options]

)";

constexpr const char* tail = R"(
Examples:
  solver --matrix memplus.mtx
      b = A * ones, so the error of the computed solution is shown as well
  solver --matrix dc2.mtx --preconditioner ilu0 --report run.json
      a circuit of the SuiteSparse collection, fetched into the cache if it is not there
  solver --matrix A.mtx --rhs b.mtx --solution x.mtx --tolerance 1e-12
      the same bits of x with any number of threads, on a CUDA device too, wherever SuiteSparse is the same
  solver --matrix A.mtx --rounded
      x = A^-1 b itself, every component rounded once: one fingerprint for every method, device and version
  solver --matrix dc2_like.mtx --fast
      sums as others make them: quicker, with other bits from machine to machine

Exit status: 0 converged (and proven, where --verify or --rounded asks), 2 not converged, 3 converged but not proven, 1 bad
usage or input.
)";

}  // namespace

po::options_description option_table() {
    constexpr unsigned line_length = 100;
    po::options_description all(line_length);
    for (const Group& group : groups) {
        po::options_description described(group.title, line_length);
        for (const auto& [name, value, help] : group.options) {
            if (value)
                described.add_options()(name, po::value<std::string>()->value_name(value), help);
            else
                described.add_options()(name, help);
        }
        all.add(described);
    }
    return all;
}

std::string help_text() {
    std::ostringstream text;
    text << head << option_table() << tail;
    return text.str();
}

}  // namespace solver::command
