"""tools/count_tests.py reads what each kind of test program prints, and never takes a crash for a pass."""

import importlib.util
import unittest
from pathlib import Path

PATH = Path(__file__).resolve().parents[2] / "tools" / "count_tests.py"
SPEC = importlib.util.spec_from_file_location("count_tests", PATH)
count_tests = importlib.util.module_from_spec(SPEC)
SPEC.loader.exec_module(count_tests)
count = count_tests.count

CTEST = """
 5/5 Test #5: grid.Ray.Hits ......   Passed    0.01 sec

60% tests passed, 1 tests failed out of 5

Total Test time (real) =   0.05 sec

The following tests did not run:
\t  3 - io.Files.Real (Skipped)

The following tests FAILED:
\t  4 - mass.Box.Inertia (Failed)
"""
TAP = "1..4\n# tests 4\n# pass 2\n# fail 1\n# cancelled 0\n# skipped 1\n# todo 0\n"
VITEST = " Test Files  1 failed | 1 passed (2)\n      Tests  \x1b[31m1 failed\x1b[39m | 7 passed | 2 skipped (10)\n"
UNITTEST = "...\nRan 9 tests in 0.1s\n\nFAILED (failures=1, errors=2, skipped=1)\n"


class CountTests(unittest.TestCase):
    def test_reads_each_kind(self):
        self.assertEqual(count("ctest", 8, CTEST), (3, 1, 1))
        self.assertEqual(count("tap", 1, TAP), (2, 1, 1))
        self.assertEqual(count("vitest", 1, VITEST), (7, 1, 2))
        self.assertEqual(count("unittest", 1, UNITTEST), (5, 3, 1))
        self.assertEqual(count("check", 0, ""), (1, 0, 0))
        self.assertEqual(count("check", 3, ""), (0, 1, 0))

    def test_all_passed(self):
        self.assertEqual(count("ctest", 0, "100% tests passed, 0 tests failed out of 12\n"), (12, 0, 0))
        self.assertEqual(count("vitest", 0, "      Tests  3 passed (3)\n"), (3, 0, 0))
        self.assertEqual(count("unittest", 0, "Ran 1 test in 0.0s\n\nOK\n"), (1, 0, 0))

    def test_a_crash_or_an_empty_run_is_a_failure(self):
        for kind in ("ctest", "tap", "vitest", "unittest"):
            self.assertEqual(count(kind, 139, ""), (0, 1, 0))
            self.assertEqual(count(kind, 0, ""), (0, 1, 0))
        self.assertEqual(count("ctest", 1, "100% tests passed, 0 tests failed out of 12\n"), (12, 1, 0))


if __name__ == "__main__":
    unittest.main()
