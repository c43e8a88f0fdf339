#!/usr/bin/env python3
"""Counts the tests in the output of a test program.

    python3 tools/count_tests.py KIND EXIT_CODE LOG_FILE

KIND is ctest, tap (node --test), vitest, unittest, or check (one test: passed when the exit code is 0). Prints
"passed failed skipped". A program that fails without naming a failed test, or that ran no test at all, counts as one
failure. Tests: tests/tools/count_tests_test.py
"""

import re
import sys


def number(pattern, text):
    """The number in the last match, 0 when there is none."""
    found = re.findall(pattern, text, re.M)
    return int(found[-1]) if found else 0


def count_ctest(text):
    failed, total = number(r"(\d+) tests? failed out of", text), number(r"failed out of (\d+)", text)
    skipped = len(re.findall(r"^\s+\d+ - .* \((?:Skipped|Disabled)\)$", text, re.M))
    return total - failed - skipped, failed, skipped


def count_tap(text):
    return number(r"^# pass (\d+)", text), number(r"^# fail (\d+)", text) + number(r"^# cancelled (\d+)", text), number(
        r"^# skipped (\d+)", text)


def count_vitest(text):
    line = (re.findall(r"^\s*Tests\s+(.*)$", text, re.M) or [""])[-1]
    return number(r"(\d+) passed", line), number(r"(\d+) failed", line), number(r"(\d+) skipped", line)


def count_unittest(text):
    failed = number(r"failures=(\d+)", text) + number(r"errors=(\d+)", text)
    skipped = number(r"skipped=(\d+)", text)
    return number(r"^Ran (\d+) tests?", text) - failed - skipped, failed, skipped


def count(kind, exit_code, text):
    text = re.sub(r"\x1b\[[0-9;]*m", "", text)
    if kind == "check":
        return (1, 0, 0) if exit_code == 0 else (0, 1, 0)
    counters = {"ctest": count_ctest, "tap": count_tap, "vitest": count_vitest, "unittest": count_unittest}
    passed, failed, skipped = counters[kind](text)
    if failed == 0 and (exit_code != 0 or passed + skipped == 0):
        failed = 1
    return passed, failed, skipped


if __name__ == "__main__":
    with open(sys.argv[3], encoding="utf-8", errors="replace") as log:
        print(*count(sys.argv[1], int(sys.argv[2]), log.read()))
