#!/usr/bin/env python3
"""What tools/bench-pages makes of records that are written down here."""
import csv
import json
import pathlib
import re
import subprocess
import sys
import tempfile
import unittest
import xml.etree.ElementTree

PROGRAM = pathlib.Path(__file__).resolve().parents[3] / "tools" / "bench-pages"
MACHINE = {"processor": "a fast one", "processors": 8, "threads": 4, "simd": "AVX9", "peer": "a peer 1.2 (fast)"}


def trial(problem, unknowns, whose, solver, setup, solve, residual, iterations, **further):
    """A case of robustness or scaling."""
    return {"problem": problem, "unknowns": unknowns, "nonzeros": 5 * unknowns, "singularity": "regular", "tolerance": 1e-10, "whose": whose,
            "solver": solver, "status": "converged", "claimed": True, "reached": residual is not None and residual <= 1e-10,
            "false_claim": residual is not None and residual > 1e-10, "iterations": iterations, "relative_residual": residual,
            "setup_seconds": setup, "solve_seconds": solve, "memory_bytes": 6.8e6, "remark": "", **further}


def record(benchmark, cases):
    return {"solver": "9.9", "benchmark": benchmark, "command": f"solver-bench {benchmark} <x>", "made": "today", "machine": MACHINE, "cases": cases}


def contest(benchmark, cases, **further):
    return {**record(benchmark, cases), "verified": True, "rate": {"title": "GB/s", "name": "gb"}, "error": {"title": "error (ulp)", "name": "ulp"}, **further}


def case(heading, competitor, ratio, **further):
    return {"heading": heading, "competitor": competitor, "threads": 2, "median_seconds": 1.5e-3, "gb": 12.5, "peer": "eigen", "ratio_to_peer": ratio,
            "baseline": "fast", "ratio_to_baseline": 0.75, "ulp": 0.5, "remark": "", **further}


def with_histogram(right, ratio, largest, competitor="fast"):
    return case(f"A{right}: 3 x 3", competitor, ratio, elements=4, largest_ulps=largest, histogram={"0": right, "2": 4 - right, "wrong_digits": 0, "non_finite": 0},
                worst={"row": 7, "length": 5, "computed": "1.5 (0x1p0)", "true": "-2.5 (0x2p0)"})


VERDICT = {"matrix": 'a<b>&"c', "x": "ones", "operation": "dense_product", "kernel": "general", "precision": "single", "accuracy": "fast", "judged": "solver",
           "device": "cpu", "elements": 3, "histogram": {"0": 1, "8": 1, "wrong_digits": 0, "non_finite": 1}, "largest_ulps": None,
           "worst": {"row": 2, "length": 2, "computed": "nan", "true": "-1.5"}, "cost": 2.0, "passed": False, "reason": "not <finite>"}


class BenchPages(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.addCleanup(self.folder.cleanup)

    def path(self, name):
        return pathlib.Path(self.folder.name) / name

    def write(self, name, content):
        self.path(name).write_text(content if isinstance(content, str) else json.dumps(content))

    def run_program(self, *words):
        return subprocess.run([sys.executable, PROGRAM, *words], cwd=self.folder.name, capture_output=True, text=True)

    def made(self, output, option, *records, status=0):
        names = [f"{i}.json" for i in range(len(records))]
        for name, content in zip(names, records):
            self.write(name, content)
        ended = self.run_program(*names, option, output)
        self.assertEqual(ended.returncode, status, ended.stderr)
        path = self.path(output)
        return path.read_text() if path.exists() else ""

    def stands_alone(self, page):
        """Well-formed, escaped, and fetches nothing."""
        xml.etree.ElementTree.fromstring(page.replace("<!DOCTYPE html>", ""))
        for fetching in ("src=", "href=", "url(", "@import"):
            self.assertNotIn(fetching, page)

    def row(self, page, name):
        """The cells of the first row that begins so."""
        line = next(line for line in page.split("<tr>") if line.startswith(f"<th>{name}</th><td>"))
        return [re.sub("<.*?>", "", cell) for cell in line.split("</th>")[1].split("</td>")[:-1]]

    def test_a_page_has_a_section_for_each_kind(self):
        solve = contest("solve", [case("p: 9 x 9", "exact", 2, residuals={"believed": [[0, 1], [3, 1e-10]], "true": [[3, 1e-3]]})])
        page = self.made("page.html", "--html", contest("spmv", [with_histogram(1, 0.5, 2)]), solve, contest("dot", [case("n = 3", "fast", None)]),
                         record("scaling", [trial("p_10", 100, "automatic", "auto", 1, 1, 1e-11, 7)]), {"program": "test-blas2", "verdicts": [VERDICT]}, status=2)
        self.stands_alone(page)
        for text in ("At a glance", "Sparse products", "Solves", "Dot products", "solver-bench scaling", "Verdicts of test-blas2", "0 promises kept, 1 broken.",
                     "not &lt;finite&gt;", "a&lt;b&gt;&amp;&quot;c", "dense product, single precision, cpu", "row 7: 1.5 for -2.5", "row 2: nan for -1.5", "AVX9",
                     "solver-bench spmv &lt;x&gt; today", "Accuracy and speed on a fast one", "1.5 ms"):
            self.assertIn(text, page)
        self.assertNotIn("Dense products", page)

    def test_a_summary_has_means_and_the_worst(self):
        page = self.made("page.html", "--html", contest("spmv", [with_histogram(1, 0.5, 2), with_histogram(3, 2, 1.5), with_histogram(4, 3, None, "exact")]))
        self.assertEqual(self.row(page, "fast"), ["2", "50.0 %", "25.0 %", "2", "1.00", "0.50"])
        self.assertEqual(self.row(page, "exact"), ["1", "all", "all", "∞", "3.00", "3.00"])

    def test_belief_and_truth_are_told_apart(self):
        of = lambda believed: contest("solve", [case("p", "fast", 2, residuals={"believed": [[0, 1], [3, believed]], "true": [[3, 1e-3]]})])
        self.assertIn("believes in 1.0e-10", self.made("a.html", "--html", of(1e-10)))
        self.assertNotIn("believes in 1", self.made("b.html", "--html", of(9e-4)))

    def test_wrong_results_are_red_and_have_a_status(self):
        self.write("wrong.json", contest("spmv", [with_histogram(1, 0.5, 2)], verified=False))
        self.assertEqual(self.run_program("wrong.json", "--html", "page.html").returncode, 2)
        self.assertIn("was not correctly rounded", self.path("page.html").read_text())

    def test_verdicts_are_added_up(self):
        passed = {**VERDICT, "passed": True, "histogram": {"0": 3, "wrong_digits": 0, "non_finite": 0}, "largest_ulps": 0, "cost": 0.5}
        page = self.made("page.html", "--html", {"verdicts": [VERDICT, passed]}, status=2)
        self.assertEqual(self.row(page, "fast")[:4], ["2", "1", "1.00", "66.7 %"])  # verdicts, kept, mean of 2 and 0.5, 4 of 6

    def test_times_have_their_uncertainty_and_threads(self):
        cases = [case("n = 3", "fast", 2, relative_uncertainty=0.0528), case("n = 3", "eigen", None, threads=1, relative_uncertainty=None)]
        text = self.made("t.md", "--markdown", contest("dot", cases))
        for line in ("|  | time | GB/s | × eigen | × fast | error (ulp) | threads |  |\n", "| fast | 1.5 ms ± 5.3 % | 12.5 | 2.00 | 0.75 | 0.5 | 2 |  |\n",
                     "| eigen | 1.5 ms | 12.5 |  | 0.75 | 0.5 | 1 |  |\n"):
            self.assertIn(line, text)

    def test_broken_promises_have_a_status(self):
        passed = {**VERDICT, "passed": True}
        self.made("a.html", "--html", {"verdicts": [passed]})
        self.made("b.html", "--html", {"verdicts": [passed, VERDICT]}, status=2)
        self.made("c.html", "--html", record("bits", [{"matrix": "a", "products": "="}]))
        self.made("d.html", "--html", record("bits", [{"matrix": "a", "products": "=", "none": "14 DIFFERS"}]), status=2)

    def test_others_promised_nothing(self):
        histogram = {"0": 3, "wrong_digits": 0, "non_finite": 0}
        ours = {**VERDICT, "passed": True, "histogram": histogram, "largest_ulps": 0}
        eigen = {**VERDICT, "accuracy": "", "judged": "eigen", "passed": True}
        overflowed = {**VERDICT, "accuracy": "compensated", "passed": True, "overflowed": 1}
        text = "1 promises kept, 0 broken, 1 without a promise for an intermediate sum that overflows, 1 on others who promised nothing."
        page = self.made("page.html", "--html", {"verdicts": [ours, eigen, overflowed]})
        self.assertIn(text, page)
        self.assertEqual([self.row(page, who)[1] for who in ("fast", "eigen", "compensated")], ["all", "-", "0"])
        self.assertIn(text, self.made("t.md", "--markdown", {"verdicts": [ours, eigen, overflowed]}))

    def test_verdicts_are_tabled_by_operation_and_by_matrix(self):
        of = lambda matrix, x, accuracy, right, ulps, **further: {
            **VERDICT, "matrix": matrix, "rows": 3, "nonzeros": 5, "x": x, "alpha": 1, "beta": 0, "operation": "spmv", "accuracy": accuracy, "elements": 100000,
            "histogram": {"0": right, "0.5": 100000 - right, "wrong_digits": 0, "non_finite": 0}, "largest_ulps": ulps, "passed": True, **further}
        text = self.made("t.md", "--markdown", {"verdicts": [
            of("a", "random:1", "fast", 99999, 0.5), of("a", "ones", "fast", 100000, 0), of("a", "ones", "exact", 100000, 0),
            of("b", "ones", "", 100000, 1e300, judged="eigen", histogram={"wrong_digits": 100000})]})
        for line in ("| operation | precision | mode | elements | correctly rounded | at most 1 ulp | largest error, ulp | no correct digit | promises broken |\n|---|---|---|---:|",
                     "| spmv | single | fast | 200000 | 99.99 % | 100 % | 0.5 | 0 | 0 |\n", "| spmv | single | exact | 100000 | 100 % | 100 % | 0 | 0 | 0 |\n",
                     "| spmv | single | eigen | 100000 | 0.00 % | 0.00 % | > 2^53 | 100000 | - |\n",
                     "| matrix; x = random:1 / ones | rows | entries | single: fast | single: exact | single: eigen |\n",
                     "| a | 3 | 5 | 0.5 / 0 | - / 0 | - / - |\n", "| b | 3 | 5 | - / - | - / - | - / **> 2^53** |\n"):
            self.assertIn(line, text)

    def test_worst_elements_have_their_names(self):
        named = {**VERDICT, "worst": {**VERDICT["worst"], "name": "(2, 13)"}}
        self.assertIn("(2, 13): nan for -1.5", self.made("a.html", "--html", {"verdicts": [named]}, status=2))

    def test_results_without_elements_are_drawn(self):
        empty = case("A: 0 x 0", "exact", 1, elements=0, largest_ulps=0, histogram={"0": 0, "wrong_digits": 0, "non_finite": 0}, worst=None)
        self.made("a.html", "--html", contest("spmv", [empty]))
        self.made("b.md", "--markdown", {"verdicts": [{**VERDICT, "passed": True, "elements": 0, "largest_ulps": 0, "histogram": {"0": 0}}]})

    def test_a_run_counts_once_and_unlike_runs_stand_apart(self):
        run = {**record("scaling", [trial("p_10", 100, "automatic", "auto", 1, 1, 1e-11, 7)]), "tolerance": 1e-10, "accuracy": "compensated"}
        later = {**run, "cases": [trial("p_10", 100, "automatic", "auto", 1, 2, 1e-11, 8)]}
        text = self.made("a.md", "--markdown", run, run, later)
        for line in ("Of 1 problems", "- 1 by auto", "| p_10 | 100 | 3 s, 8 |", "; tolerance 1e-10; accuracy compensated. b = A x*"):
            self.assertIn(line, text)
        for other in ({"accuracy": "exact"}, {"tolerance": 1e-2}, {"machine": {**MACHINE, "threads": 1}}):
            self.assertEqual(self.made("b.md", "--markdown", run, {**run, **other}).count("Of 1 problems"), 2, other)
            self.made("c.svg", "--plot", run, {**run, **other}, status=1)
        slower = {**contest("dot", [case("n = 3", "fast", 2)]), "machine": {**MACHINE, "processor": "a slow one"}}
        self.assertIn("`solver-bench dot`, a slow one, threads: 4", self.made("d.md", "--markdown", contest("dot", [case("n = 3", "fast", 2)]), slower))

    def test_solver_bench_is_handed_what_is_not_named(self):
        self.write("written.json", contest("dot", [case("n = 3", "fast", 2)]))
        self.write("bench", '#!/bin/sh\necho "$*" >> calls\nfor last; do :; done\ncp written.json "$last"\n')
        self.path("bench").chmod(0o755)
        ended = self.run_program("--measure", "./bench", "--html", "p.html", "--device", "cpu", "--time-limit=0.2", "--precision", "single", "--matrix", "a")
        self.assertEqual(ended.returncode, 0, ended.stderr)
        calls = [call.split(" --json ")[0] for call in self.path("calls").read_text().splitlines()]
        self.assertEqual(calls[0], "spmv --device cpu --time-limit=0.2 --precision single --matrix a")
        self.assertEqual(calls[3], "gemm --size 1024 --device cpu --time-limit=0.2 --precision single")
        self.assertEqual(len(calls), 4)

    def test_scaling_is_compared_with_the_best_by_hand(self):
        text = self.made("t.md", "--markdown", record("scaling", [
            trial("p_10", 100, "automatic", "auto", 1, 0.5, 1e-11, 7), trial("p_10", 100, "by hand", "jacobi", 0, 3, 1e-11, 40),
            trial("p_10", 100, "by hand", "ilu0", 1, 1, 1e-11, 10), trial("p_10", 100, "by hand", "klu", 0, 0.1, 1e-3, 1),
            trial("p_10", 100, "peer", "hypre pcg", 0.5, 0.5, 1e-11, 5), trial("p_10", 100, "peer", "eigen cg", 0, 9, None, 0, status="timed out")]))
        for line in ("| problem | unknowns | auto | best by hand | auto / best | hypre | eigen |\n|---|---:|---:|---:|---:|---:|---:|\n",
                     "| p_10 | 100 | 1.5 s, 7 | ilu0: 2 s, 10 | 0.75 | pcg: 1 s, 5 | - |\n", "- time of auto by that of the best by hand: median 0.75, worst 0.75 (p_10), 1 problem\n",
                     "- time of the best by hand by that of the fastest peer: median 2, worst 2 (p_10), 1 problem\n", "- 0 by klu, false claims: p_10\n",
                     "- 0 by eigen cg, 1 timed out\n", "a fast one, threads: 4, processors: 8; beside a peer 1.2"):
            self.assertIn(line, text)

    def test_growth_is_a_power_of_the_size_and_is_drawn(self):
        small = record("scaling", [trial("p_10", 100, "automatic", "auto", 0.5, 0.5, 1e-11, 7), trial("p_10", 100, "by hand", "jacobi", 0, 1, 1e-11, 10)])
        large = record("scaling", [trial("p_100", 10000, "automatic", "auto", 50, 50, 1e-11, 8), trial("p_100", 10000, "by hand", "jacobi", 0, 1000, 1e-11, 100)])
        text = self.made("t.md", "--markdown", large, small)
        for line in ("- p, auto: iterations 7 to 8, time like n^1.00 (100 to 10000 unknowns)", "- p, jacobi: iterations 10 to 100, time like n^1.50 (100 to 10000 unknowns)",
                     "median 0.55, worst 1 (p_10), 2 problems"):
            self.assertIn(line, text)
        self.made("f.svg", "--plot", large, small)
        for kind in ("time", "iterations", "memory"):
            drawing = self.path(f"f_{kind}.svg").read_text()
            self.stands_alone(drawing)
            self.assertEqual(drawing.count("<polyline"), 2)
            self.assertEqual(drawing.count("<circle"), 4)

    def test_older_records_of_scaling_are_read(self):
        old = {**trial("p_10", "100", "automatic", "auto", "1", "0.5", 1e-11, "7"), "reached": "yes", "tolerance": "1e-10", "memory_megabytes": "6.8"}
        lost = {**trial("p_10", "100", "peer", "eigen cg", "", "", None, ""), "reached": "no", "status": "converged, not reached", "relative_residual": ""}
        text = self.made("t.md", "--markdown", record("scaling", [old, lost]))
        self.assertIn("| p_10 | 100 | 1.5 s, 7 | - | - | - |", text)
        self.assertIn("- 0 by eigen cg, false claims: p_10", text)

    def test_robustness_shows_residuals_and_what_nobody_solved(self):
        text = self.made("t.md", "--markdown", record("robustness", [
            trial("one", 3, "peer", "eigen ilut", 0.25, 0.5, 9e-11, 8), trial("one", 3, "by hand", "ilu0", 0.25, 0.75, 2e-11, 7),
            trial("one", 3, "automatic", "auto", 0.5, 1, 1e-11, 9, remark="jacobi 4,\nilu0 | 5"),
            trial("two", 4, "peer", "eigen ilut", 1, 2, 2e-10, 8), trial("two", 4, "by hand", "ilu0", 0, 0, None, 0, status="timed out"),
            trial("two", 4, "automatic", "auto", 1, 2, 0.5, 3, singularity="singular", false_claim=False)]))
        for line in ("| matrix | n | nonzeros | eigen ilut | ours: tried | ours: auto | ours: best hand-picked | auto / best |\n",
                     "| one | 3 | 15 | **9.0e-11 / 8** | jacobi 4, ilu0 / 5 | **1.0e-11 / 9** | ilu0: **2.0e-11 / 7**, 1 s | 1.50 |\n",
                     "| two | 4 | 20 | 2.0e-10 / 8 (claimed) |  | 5.0e-01 / 3 | - | - |\n", "- 1 by the peers' best, 1 by our best hand-picked\n",
                     "- not reached by auto: two\n", "- reached by nobody: two"):
            self.assertIn(line, text)

    def test_papers_are_tabled_and_drawn(self):
        cases = [{"method": "kahan", "input": "uniform", "size": str(n), "tile": tile, "error_range_millionths": "-4..2", "average_relative_error_millionths": "0.5",
                  "gigaflops": "7"} for n in (64, 128) for tile in ("1", "16", "64")]
        self.made("f.svg", "--plot", record("gemm --paper badin2011", cases))
        drawing = self.path("f.svg").read_text()
        self.stands_alone(drawing)
        self.assertEqual(drawing.count("<polyline"), 4)  # tiles 1 and 64, two quantities
        self.assertIn("kahan, tile 64", drawing)
        self.assertNotIn("tile 16", drawing)
        self.assertIn("| kahan | uniform | 64 | 1 | -4..2 | 0.5 | 7 |", self.made("t.md", "--markdown", record("gemm --paper badin2011", cases)))

    def test_all_cases_are_written_for_programs(self):
        self.made("t.csv", "--csv", record("bits", [{"matrix": 'a,"b', "products": "="}, {"matrix": "c", "products": None}]))
        with open(self.path("t.csv"), newline="") as file:
            self.assertEqual(list(csv.reader(file)), [["matrix", "products"], ['a,"b', "="], ["c", ""]])
        again = json.loads(self.made("t.json", "--json", record("bits", [{"matrix": "a"}])))
        self.assertEqual(again["parts"][0]["benchmark"], "bits")

    def test_what_is_no_record_is_refused_by_name(self):
        for content, text in (("{", "is not JSON"), ("[1, 2]", "has no results"), ({"benchmark": "spmv"}, "has no results"), (contest("dot", []), "has no results"),
                              ({**contest("spmv", [{"heading": 7}])}, "cannot be drawn"), ({"verdicts": [{"matrix": "A"}]}, "cannot be drawn")):
            self.write("bad.json", content)
            ended = self.run_program("bad.json", "--html", "page.html")
            self.assertEqual(ended.returncode, 1)
            self.assertIn("bench-pages: bad.json: " + text, ended.stderr)
        self.write("good.json", contest("dot", [case("n = 3", "fast", 2)]))
        for words, text in ((["nowhere.json", "--html", "p.html"], "nowhere.json: cannot be opened"), (["good.json", "--html", "good.json"], "would replace"),
                            (["good.json", "--html", "p", "--csv", "p"], "another output"), (["good.json", "--plot", "p.pdf"], "ends in .svg"),
                            (["good.json", "--html", "no/p.html"], "no/p.html"),
                            (["good.json", "--html", "/dev/full"], "/dev/full: No space"), (["good.json", "--plot", "p.svg"], "there are none"),
                            ([], "name files"), (["good.json"], "something to write"), (["good.json", "--htm", "p"], "there is no option --htm"),
                            (["good.json", "--matrix", "a", "--html", "p"], "--matrix goes with --measure"),
                            (["--measure", "./nobody", "--html", "p"], "--measure ./nobody: No such file")):
            ended = self.run_program(*words)
            self.assertEqual(ended.returncode, 1, words)
            self.assertIn(text, ended.stderr)
            self.assertNotIn("Traceback", ended.stderr)


if __name__ == "__main__":
    unittest.main()
