#!/usr/bin/env python3
"""Checks that every include points down the layers, and a few other rules of the tree that a compiler cannot see.

    python3 tools/check_layers.py [ROOT]

Exits 0 when nothing is wrong, else prints one line for each fault and exits 1. A public header (include/talus/*.h)
belongs to the layer it names in its first lines: "// Layer: grid." Tests: tests/tools/check_layers_test.py
"""

import re
import sys
from pathlib import Path

CORE = ["base", "math", "grid", "mass", "connect", "structure", "dynamics", "terrain", "mesh", "world", "net"]

# What each layer may include besides itself. structure and dynamics never see each other: only world joins them.
ALLOWED = {
    "base": [],
    "math": ["base"],
    "grid": ["base", "math"],
    "mass": ["base", "math", "grid"],
    "connect": ["base", "math", "grid", "mass"],
    "structure": ["base", "math", "grid", "mass", "connect"],
    "dynamics": ["base", "math", "grid", "mass"],
    "terrain": ["base", "math", "grid", "mass", "dynamics"],
    "mesh": ["base", "math", "grid"],
    "world": ["base", "math", "grid", "mass", "connect", "structure", "dynamics", "terrain", "mesh"],
    "io": ["base", "math", "grid"],  # io/format
    "io/store": [layer for layer in CORE if layer != "net"] + ["io"],
    "net": [layer for layer in CORE if layer != "net"],
    "scenes": [layer for layer in CORE if layer != "net"],
}

# The core has no threads, clock, files or streams; <ranges> is slow to compile, <random> differs between libraries.
FORBIDDEN_IN_CORE = set(
    """thread mutex shared_mutex condition_variable future stop_token latch barrier semaphore chrono ctime time.h
    iostream istream ostream fstream sstream iomanip cstdio stdio.h filesystem ranges random regex locale stdexcept
    exception typeinfo typeindex any coroutine pthread.h unistd.h fcntl.h sys/time.h sys/types.h sys/stat.h""".split())

# sqrt is exact everywhere; all else in libm differs between machines. talus/math.h has what is needed.
LIBM = re.compile(
    r"\bstd::(sin|cos|tan|asin|acos|atan|atan2|sinh|cosh|tanh|exp|exp2|expm1|log|log2|log10|log1p|pow|cbrt|hypot|erf"
    r"|tgamma|lgamma|fma)f?\s*\(")

INTRINSICS = re.compile(r"(intrin\.h|wasm_simd128\.h|arm_neon\.h|arm_sve\.h)$")
INTRINSICS_HOME = "src/math/simd.h"

MAX_LINES = 1000
MAX_TICK_LINES = 250

INCLUDE = re.compile(r'^\s*#\s*include\s*([<"])([^>"]+)[>"]')
LAYER_LINE = re.compile(r"^// Layer: (io/store|[a-z]+)")
SOURCES = (".h", ".cpp", ".inl")


def strip_comments(text):
    """Comments become blank; line numbers stay."""
    text = re.sub(r"/\*.*?\*/", lambda m: re.sub(r"[^\n]", " ", m.group()), text, flags=re.S)
    return re.sub(r"//[^\n]*", "", text)


def files_in(root, *folders):
    for folder in folders:
        for path in sorted((root / folder).rglob("*")):
            if path.suffix in SOURCES and "node_modules" not in path.parts:
                yield path


def folder_layer(name):
    """Saves know worlds, formats do not: the folders of io are two layers."""
    return "io/store" if name.startswith("io/store/") else name.split("/")[0]


class Checker:
    def __init__(self, root):
        self.root = root
        self.faults = []
        self.public = {}

    def fault(self, path, line, what):
        self.faults.append(f"{path.relative_to(self.root)}:{line}: {what}")

    def read_public_layers(self):
        for path in files_in(self.root, "include/talus"):
            head = path.read_text(encoding="utf-8").splitlines()[:12]
            layer = next((m.group(1) for m in map(LAYER_LINE.match, head) if m), None)
            if layer not in ALLOWED:
                self.fault(path, 1, f'names no known layer ("// Layer: grid." in its first lines): {layer}')
            else:
                self.public[f"talus/{path.relative_to(self.root / 'include/talus').as_posix()}"] = layer

    def layer_of_include(self, name):
        """The layer a quoted or talus/ include belongs to, None when it is nobody's."""
        if name.startswith("talus/"):
            return self.public.get(name)
        first = folder_layer(name)
        return first if "/" in name and first in ALLOWED else None

    def check_include(self, path, line, layer, is_public, bracket, name):
        if bracket == "<" and not name.startswith("talus/"):
            if layer in CORE and name in FORBIDDEN_IN_CORE:
                self.fault(path, line, f"<{name}> has no place in the core ({layer})")
            return
        if name.endswith("_generated.h") and "/" not in name:
            return  # made by the layer's own build from a schema
        target = self.layer_of_include(name)
        if target is None:
            self.fault(path, line, f'"{name}" is in no layer: write "layer/file.h" or "talus/file.h"')
        elif is_public and not name.startswith("talus/"):
            self.fault(path, line, f'a public header includes "{name}", which is not installed')
        elif target != layer and target not in ALLOWED[layer]:
            self.fault(path, line, f'{layer} may not include {target} ("{name}")')

    def check_layered(self, path, layer, is_public):
        text = path.read_text(encoding="utf-8")
        code = strip_comments(text)
        for number, (raw, bare) in enumerate(zip(text.splitlines(), code.splitlines()), 1):
            match = INCLUDE.match(raw) if bare.strip() else None
            if match:
                self.check_include(path, number, layer, is_public, *match.groups())
            if layer in CORE and LIBM.search(bare):
                self.fault(path, number, f"libm in the core ({LIBM.search(bare).group(1)}): use talus/math.h")

    def check_everywhere(self, path):
        lines = path.read_text(encoding="utf-8").splitlines()
        where = path.relative_to(self.root).as_posix()
        for number, line in enumerate(lines, 1):
            match = INCLUDE.match(line)
            if match and INTRINSICS.search(match.group(2)) and where != INTRINSICS_HOME:
                self.fault(path, number, f"intrinsics ({match.group(2)}) belong in {INTRINSICS_HOME} alone")
        limit = MAX_TICK_LINES if where == "src/world/tick.cpp" else MAX_LINES
        if len(lines) >= limit:
            self.fault(path, len(lines), f"has {len(lines)} lines; it stays under {limit}")

    def run(self):
        self.read_public_layers()
        for path in files_in(self.root, "include/talus"):
            name = f"talus/{path.relative_to(self.root / 'include/talus').as_posix()}"
            if name in self.public:
                self.check_layered(path, self.public[name], True)
        for path in files_in(self.root, "src"):
            layer = folder_layer(path.relative_to(self.root / "src").as_posix())
            if layer not in ALLOWED or layer == "scenes":
                self.fault(path, 1, f"src/{layer} is not a layer")
            else:
                self.check_layered(path, layer, False)
        for path in files_in(self.root, "scenes"):
            self.check_layered(path, "scenes", False)
        for path in files_in(self.root, "include", "src", "scenes", "apps", "bindings", "tests", "bench", "fuzz"):
            self.check_everywhere(path)
        return self.faults


def main():
    root = Path(sys.argv[1] if len(sys.argv) > 1 else ".").resolve()
    if not (root / "src").is_dir():
        print(f"{root}: no src/ here; run from the project's root", file=sys.stderr)
        return 2
    faults = Checker(root).run()
    for fault in faults:
        print(fault)
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())
