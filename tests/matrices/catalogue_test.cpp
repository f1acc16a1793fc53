#include "matrices/catalogue.hpp"

#include "solver/error.hpp"
#include "support/environment.hpp"
#include "support/temporary_folder.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <fstream>
#include <regex>
#include <set>

namespace solver::matrices {
namespace {

using ::testing::HasSubstr;

const std::filesystem::path of_the_project = std::filesystem::path(SOLVER_SOURCE_FOLDER) / "matrices" / "catalogue.tsv";

std::string error_of(const std::string& text) {
    const solver::testing::TemporaryFolder folder;
    const auto path = folder.path() / "catalogue.tsv";
    std::ofstream(path) << text;
    try {
        read_catalogue(path);
    } catch (const FileError& error) {
        return error.what();
    }
    return "";
}

TEST(Catalogue, BeginsWithDc2) {
    const CatalogueEntry dc2 = read_catalogue(of_the_project).at(0);
    EXPECT_EQ(dc2.name, "dc2");
    EXPECT_EQ(dc2.group, "IBM_EDA");
    EXPECT_EQ(dc2.rows, 116835);
    EXPECT_EQ(dc2.columns, 116835);
    EXPECT_EQ(dc2.nonzeros, 766396);
    EXPECT_EQ(dc2.stored_zeros, 0);
    EXPECT_EQ(dc2.field, "real");
    EXPECT_EQ(dc2.sha256, "");
}

TEST(Catalogue, HasPlausibleEntriesOnly) {
    std::set<std::string> names;
    for (const CatalogueEntry& entry : read_catalogue(of_the_project)) {
        SCOPED_TRACE(entry.name);
        EXPECT_TRUE(names.insert(entry.name).second) << "twice";
        EXPECT_TRUE(std::regex_match(entry.group + '/' + entry.name, std::regex("[A-Za-z0-9_-]+/[A-Za-z0-9_-]+")));
        EXPECT_GT(entry.rows, 0);
        EXPECT_GT(entry.columns, 0);
        EXPECT_GT(entry.nonzeros, 0);
        EXPECT_LE(entry.nonzeros + entry.stored_zeros, entry.rows * entry.columns);
        EXPECT_THAT(entry.field, ::testing::AnyOf("real", "complex", "integer", "pattern"));
        EXPECT_NE(entry.kind, "");
        EXPECT_NE(entry.good_for, "");
        EXPECT_TRUE(entry.sha256.empty() || std::regex_match(entry.sha256, std::regex("[0-9a-f]{64}")));
    }
    EXPECT_GE(names.size(), 40u);
}

TEST(Catalogue, FindsNamesWithAndWithoutGroupAndSuffix) {
    const auto catalogue = read_catalogue(of_the_project);
    for (const char* name : {"memplus", "memplus.mtx", "Hamm/memplus", "Hamm/memplus.mtx"})
        EXPECT_EQ(find_in_catalogue(name, catalogue).value().name, "memplus") << name;
    for (const char* name : {"", "mem", "Memplus", "IBM_EDA/memplus", "memplus.mtx.gz", "./memplus", "dc2_like"})
        EXPECT_FALSE(find_in_catalogue(name, catalogue)) << name;
}

TEST(Catalogue, BrokenLinesAreNamed) {
    EXPECT_EQ(error_of("# a remark\n\nname\tgroup\trows\tcolumns\tnonzeros\tstored_zeros\tfield\tkind\tgood_for\tsha256\n"),
              "");
    EXPECT_THAT(error_of("#\na\tG\t3\n"), ::testing::AllOf(HasSubstr("catalogue.tsv:2:"), HasSubstr("3 fields, expected 10")));
    EXPECT_THAT(error_of("a\tG\t3x\t3\t4\t0\treal\tk\tg\t-\n"), ::testing::AllOf(HasSubstr(":1:"), HasSubstr("'3x'")));
    EXPECT_THAT(error_of("a\tG\t3\t-3\t4\t0\treal\tk\tg\t-\n"), HasSubstr("'-3'"));
}

TEST(Catalogue, ComesFromTheEnvironmentOrTheSources) {
    {
        const solver::testing::EnvironmentVariable chosen("SOLVER_CATALOGUE", "/nowhere/catalogue.tsv");
        EXPECT_EQ(catalogue_file(), "/nowhere/catalogue.tsv");
        EXPECT_THROW(usual_catalogue(), FileError);
    }
    const solver::testing::EnvironmentVariable chosen("SOLVER_CATALOGUE", "");
    EXPECT_EQ(catalogue_file(), of_the_project);
}

}  // namespace
}  // namespace solver::matrices
