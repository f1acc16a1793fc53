// What the bench's command line means: defaults, limits, and what goes with what.

#include "options.hpp"
#include "solver/error.hpp"

#include <gmock/gmock.h>

#include <cstdint>
#include <sstream>
#include <string>
#include <variant>
#include <vector>

namespace {

using namespace solver::bench;
using solver::PreconditionerKind;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

std::variant<Options, std::string> parsed(const std::string& line) {
    std::istringstream in("solver-bench " + line);
    std::vector<std::string> words;
    for (std::string word; in >> word;) words.push_back(word);
    std::vector<const char*> arguments;
    for (const std::string& word : words) arguments.push_back(word.c_str());
    return parse_options(static_cast<int>(arguments.size()), arguments.data());
}

Options options_of(const std::string& line) { return std::get<Options>(parsed(line)); }

/// What is said where a command line is refused; empty where it is not.
std::string refusal(const std::string& line) {
    try {
        parsed(line);
        return "";
    } catch (const solver::InvalidArgument& error) {
        return error.what();
    }
}

const std::string on_cpu = " --device cpu";

TEST(BenchOptions, OfProductsByDefault) {
    const Options options = options_of("spmv --device cpu --threads 3");
    EXPECT_EQ(options.subject, Subject::spmv);
    EXPECT_EQ(options.command, "solver-bench spmv --device cpu --threads 3");
    EXPECT_FALSE(options.cuda_device);
    EXPECT_EQ(options.threads, 3);
    EXPECT_EQ(options.effort.repetitions, 0);
    EXPECT_EQ(options.effort.time_limit, 5);
    EXPECT_TRUE(options.in_double);
    EXPECT_FALSE(options.in_single);
    EXPECT_THAT(options.vectors, ElementsAre(Vector::random, Vector::ones));
    EXPECT_EQ(options.kernel, solver::SpmvKernel::automatic);
    EXPECT_EQ(options.storage, solver::SpmvStorage::csr);
    EXPECT_EQ(options.tolerance, 1e-10);
    EXPECT_FALSE(options.keep_residuals);
    EXPECT_TRUE(options_of("solve --json r.json" + on_cpu).keep_residuals);
    EXPECT_EQ(options_of("spmv" + on_cpu).threads, solver::Device::cpu().threads());
}

TEST(BenchOptions, OfProductsAsAskedFor) {
    const Options options = options_of(
        "spmv --matrix A --matrix B --x ones --kernel general --storage packed --precision single --repetitions 7 "
        "--time-limit 2.5 --json a.json" +
        on_cpu);
    EXPECT_THAT(options.matrices, ElementsAre("A", "B"));
    EXPECT_THAT(options.vectors, ElementsAre(Vector::ones));
    EXPECT_THAT(options_of("spmv --x random" + on_cpu).vectors, ElementsAre(Vector::random));
    EXPECT_EQ(options.kernel, solver::SpmvKernel::general);
    EXPECT_EQ(options.storage, solver::SpmvStorage::packed);
    EXPECT_FALSE(options.in_double);
    EXPECT_TRUE(options.in_single);
    EXPECT_EQ(options.effort.repetitions, 7);
    EXPECT_EQ(options.effort.time_limit, 2.5);
    EXPECT_THAT(outputs(options), ElementsAre("a.json"));
    const Options both = options_of("spmv --precision both" + on_cpu);
    EXPECT_TRUE(both.in_double && both.in_single);
}

TEST(BenchOptions, HaveDefaultsThatGoWithTheSubject) {
    const std::int64_t mebi = 1 << 20, kibi = 1 << 10;
    for (const std::string subject : {"dot", "sum", "norm2"}) {
        EXPECT_THAT(options_of(subject + on_cpu).sizes, ElementsAre(32 * mebi, 32 * kibi)) << subject;
        EXPECT_THAT(options_of(subject + on_cpu).inputs, ElementsAre(Input::random, Input::worst)) << subject;
        EXPECT_EQ(options_of(subject + on_cpu).effort.time_limit, 5);
    }
    EXPECT_THAT(options_of("sum --input scattered --size 5 --size 6" + on_cpu).inputs, ElementsAre(Input::scattered));
    EXPECT_THAT(options_of("sum --input scattered --size 5 --size 6" + on_cpu).sizes, ElementsAre(5, 6));
    EXPECT_EQ(options_of("solve" + on_cpu).max_iterations, 200);
    EXPECT_EQ(options_of("solve" + on_cpu).tolerance, 1e-10);
    EXPECT_EQ(options_of("solve --max-iterations 3 --tolerance 1e-4" + on_cpu).max_iterations, 3);
    EXPECT_EQ(options_of("solve --max-iterations 3 --tolerance 1e-4" + on_cpu).tolerance, 1e-4);
    EXPECT_THAT(options_of("triangular --preconditioner ilut --preconditioner klu" + on_cpu).preconditioners,
                ElementsAre(PreconditionerKind::ilut, PreconditionerKind::klu));
    const Options bits = options_of("bits A --record r.txt" + on_cpu);
    EXPECT_EQ(bits.max_iterations, 100);
    EXPECT_TRUE(bits.in_double && bits.in_single);
    EXPECT_THAT(bits.matrices, ElementsAre("A"));
    EXPECT_THAT(outputs(bits), ElementsAre("r.txt"));
    EXPECT_FALSE(options_of("triangular" + on_cpu).in_single);
}

TEST(BenchOptions, OfDenseProducts) {
    const Options usual = options_of("gemm" + on_cpu);
    EXPECT_THAT(usual.sizes, ElementsAre(2048));
    EXPECT_THAT(usual.elements, ElementsAre(Elements::uniform, Elements::both_signs));
    EXPECT_EQ(usual.phi, 0.5);
    EXPECT_EQ(usual.block, 64);
    EXPECT_FALSE(usual.in_single);
    EXPECT_FALSE(usual.grade);
    EXPECT_FALSE(usual.paper);
    const Options graded = options_of("gemm --grade" + on_cpu);
    EXPECT_TRUE(graded.grade);
    EXPECT_THAT(graded.sizes, ElementsAre(64, 128, 256, 512, 1024));
    EXPECT_TRUE(graded.in_double && graded.in_single);
    EXPECT_FALSE(options_of("gemm --grade --precision double" + on_cpu).in_single);
    EXPECT_THAT(options_of("gemm --grade --size 8 --size 9 --block 16" + on_cpu).sizes, ElementsAre(8, 9));
    const Options first = options_of("gemm --paper badin2011" + on_cpu);
    EXPECT_EQ(first.paper, Paper::badin2011);
    EXPECT_THAT(first.sizes, ElementsAre(1024, 2048, 3072, 4096, 5120, 8192));
    EXPECT_FALSE(first.in_single);
    const Options second = options_of("gemm --paper badin2013" + on_cpu);
    EXPECT_EQ(second.paper, Paper::badin2013);
    EXPECT_THAT(second.sizes, ElementsAre(1024, 2048, 4096, 8192, 16384));
    EXPECT_TRUE(second.in_double && second.in_single);
    const Options wished = options_of("gemm --input lognormal --phi 2 --block 16" + on_cpu);
    EXPECT_THAT(wished.elements, ElementsAre(Elements::lognormal));
    EXPECT_EQ(wished.phi, 2);
    EXPECT_EQ(wished.block, 16);
}

TEST(BenchOptions, AreRefusedWhereTheyWouldNotBeLookedAt) {
    for (const std::string option : {"input uniform", "phi 2", "repetitions 3", "time-limit 1"})
        EXPECT_THAT(refusal("gemm --grade --" + option + on_cpu), HasSubstr("--grade does not look at --")) << option;
    for (const std::string option : {"input uniform", "phi 2", "block 16", "time-limit 1"})
        EXPECT_THAT(refusal("gemm --paper badin2011 --" + option + on_cpu), HasSubstr("--paper does not look at --")) << option;
    EXPECT_EQ(refusal("gemm --paper badin2011 --repetitions 3" + on_cpu), "");
    EXPECT_THAT(refusal("bits A --record r.txt --json r.json" + on_cpu), HasSubstr("--record or --json"));
    EXPECT_THAT(refusal("bits A --threads 1" + on_cpu), HasSubstr("compared with itself"));
    EXPECT_EQ(refusal("bits A --threads 1 --record r.txt" + on_cpu), "");
    for (const std::string sizes : {"--size 64", "--size 64 --size 64"})
        EXPECT_THAT(refusal("gemm --grade " + sizes + on_cpu), HasSubstr("two sizes or more")) << sizes;
}

TEST(BenchOptions, OfManySolves) {
    const Options robust = options_of("robustness A B --solver jacobi");
    EXPECT_THAT(robust.matrices, ElementsAre("A", "B"));
    EXPECT_THAT(robust.solvers, ElementsAre("jacobi"));
    EXPECT_EQ(robust.max_iterations, 3000);
    EXPECT_EQ(robust.effort.time_limit, 120);
    EXPECT_EQ(robust.accuracy, solver::Accuracy::compensated);
    EXPECT_EQ(robust.tolerance, 1e-10);
    const Options scaling = options_of("scaling A --json m.json --accuracy exact");
    EXPECT_EQ(scaling.max_iterations, 10'000);
    EXPECT_EQ(scaling.effort.time_limit, 600);
    EXPECT_EQ(scaling.accuracy, solver::Accuracy::exact);
    EXPECT_FALSE(scaling.cuda_device);
    EXPECT_THAT(outputs(scaling), ElementsAre("m.json"));
    EXPECT_EQ(options_of("scaling A --device cuda").cuda_device, 0);
    EXPECT_EQ(options_of("scaling A --device cuda:3").cuda_device, 3);
    for (const std::string subject : {"scaling", "robustness"}) {
        const Options wished = options_of(subject + " A --max-iterations 5 --time-limit 7");
        EXPECT_EQ(wished.max_iterations, 5) << subject;
        EXPECT_EQ(wished.effort.time_limit, 7) << subject;
    }
}

TEST(BenchOptions, GivenTwiceCountOnce) {
    EXPECT_THAT(options_of("sum --size 5 --size 6 --size 05 --input worst --input worst" + on_cpu).sizes, ElementsAre(5, 6));
    EXPECT_THAT(options_of("sum --input worst --input random --input worst" + on_cpu).inputs,
                ElementsAre(Input::worst, Input::random));
    EXPECT_THAT(options_of("gemm --input uniform --input uniform" + on_cpu).elements, ElementsAre(Elements::uniform));
    EXPECT_THAT(options_of("scaling A --solver auto --solver jacobi --solver auto").solvers, ElementsAre("auto", "jacobi"));
    EXPECT_THAT(options_of("triangular --preconditioner ilut --preconditioner ilut" + on_cpu).preconditioners,
                ElementsAre(PreconditionerKind::ilut));
}

TEST(BenchOptions, EndWhereTheirRangesEnd) {
    EXPECT_EQ(options_of("sum --size 1" + on_cpu).sizes.at(0), 1);
    EXPECT_EQ(options_of("sum --size 17179869184" + on_cpu).sizes.at(0), std::int64_t{1} << 34);
    EXPECT_THAT(refusal("sum --size 17179869185" + on_cpu), HasSubstr("from 1 to 17179869184"));
    EXPECT_EQ(options_of("gemm --size 131072" + on_cpu).sizes.at(0), 131072);
    EXPECT_THAT(refusal("gemm --size 131073" + on_cpu), HasSubstr("from 1 to 131072"));
    EXPECT_EQ(options_of("gemm --phi 0" + on_cpu).phi, 0);
    EXPECT_EQ(options_of("gemm --phi 100" + on_cpu).phi, 100);
    EXPECT_THAT(refusal("gemm --phi 100.1" + on_cpu), HasSubstr("from 0 to 100"));
    EXPECT_EQ(options_of("gemm --block 1" + on_cpu).block, 1);
    EXPECT_EQ(options_of("gemm --block 1000000000" + on_cpu).block, 1'000'000'000);
    EXPECT_NE(refusal("gemm --block 1000000001" + on_cpu), "");
    EXPECT_EQ(options_of("sum --repetitions 1" + on_cpu).effort.repetitions, 1);
    EXPECT_EQ(options_of("sum --repetitions 1000000" + on_cpu).effort.repetitions, 1'000'000);
    EXPECT_NE(refusal("sum --repetitions 1000001" + on_cpu), "");
    EXPECT_NE(refusal("sum --repetitions 0" + on_cpu), "");
    EXPECT_EQ(options_of("sum --time-limit 0" + on_cpu).effort.time_limit, 0);
    EXPECT_EQ(options_of("sum --time-limit 1e6" + on_cpu).effort.time_limit, 1e6);
    EXPECT_NE(refusal("sum --time-limit 1000001" + on_cpu), "");
    EXPECT_EQ(options_of("solve --tolerance 1" + on_cpu).tolerance, 1);
    EXPECT_EQ(options_of("solve --tolerance 1e-300" + on_cpu).tolerance, 1e-300);
    EXPECT_NE(refusal("solve --tolerance 1.01" + on_cpu), "");
    EXPECT_NE(refusal("solve --tolerance 1e-301" + on_cpu), "");
    EXPECT_EQ(options_of("solve --max-iterations 1" + on_cpu).max_iterations, 1);
    EXPECT_EQ(options_of("solve --max-iterations 1000000000" + on_cpu).max_iterations, 1'000'000'000);
    EXPECT_NE(refusal("solve --max-iterations 1000000001" + on_cpu), "");
    EXPECT_NE(refusal("solve --max-iterations 0" + on_cpu), "");
    EXPECT_EQ(options_of("sum --threads 4096" + on_cpu).threads, 4096);
    EXPECT_NE(refusal("sum --threads 4097" + on_cpu), "");
}

TEST(BenchOptions, AreOfNoUseWithoutABenchmark) {
    EXPECT_THAT(refusal(""), HasSubstr("which benchmark?"));
    for (const char* help : {"--help", "-h", "help"})
        EXPECT_THAT(std::get<std::string>(parsed(help)), HasSubstr("\n  robustness who solves what")) << help;
    EXPECT_THAT(std::get<std::string>(parsed("--version")), ::testing::StartsWith("solver-bench "));
    EXPECT_THAT(std::get<std::string>(parsed("sum --help")), HasSubstr("Compulsory traffic: x: n s bytes"));
    EXPECT_THAT(std::get<std::string>(parsed("read --help")), HasSubstr("a coordinate file, or a name"));
    for (const char* folders : {"robustness", "scaling", "bits"})
        EXPECT_THAT(std::get<std::string>(parsed(folders + std::string(" --help"))),
                    ::testing::AllOf(::testing::Not(HasSubstr("Compulsory")), HasSubstr("\nExit status: 0; 1 ")))
            << folders;
    for (const auto& [subject, usual] :
         {std::pair("spmv", "G3_circuit if it is found, stencil27_128, power_law_2000000, dc2_like"),
          std::pair("triangular", "poisson3d_64, dc2_like"), std::pair("solve", "stencil27_64, dc2_like")}) {
        std::string help = std::get<std::string>(parsed(subject + std::string(" --help")));
        std::istringstream words(help);
        help.clear();
        for (std::string word; words >> word;) help += word + ' ';
        EXPECT_THAT(help, HasSubstr(usual)) << subject;
    }
}

}  // namespace
