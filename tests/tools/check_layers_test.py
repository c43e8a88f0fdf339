"""tools/check_layers.py accepts a good tree and rejects each kind of bad one. Run from the project's root:
python3 -m unittest discover -s tests/tools -p '*_test.py'"""

import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

SCRIPT = Path(__file__).resolve().parents[2] / "tools" / "check_layers.py"

GOOD = {
    "include/talus/grid.h": "// grid.h - blocks.\n//\n// Layer: grid. SI.\n#include <cstdint>\n",
    "include/talus/space.h": '// space.h - bodies.\n//\n// Layer: dynamics.\n#include "talus/grid.h"\n',
    "include/talus/structure.h": "// structure.h - loads.\n//\n// Layer: structure.\n",
    "include/talus/level.h": '// level.h - it.\n//\n// Layer: world.\n#include "talus/space.h"\n',
    "include/talus/formats.h": '// formats.h - files.\n//\n// Layer: io/format.\n#include "talus/grid.h"\n',
    "src/math/simd.h": "#include <immintrin.h>\n",
    "src/grid/grid.cpp": '#include "talus/grid.h"\n#include "math/simd.h"\n#include <vector>\n',
    "src/dynamics/space.cpp": '#include "talus/space.h"\n#include "mass/group_mass.h"\n',
    "src/structure/solver.cpp": '#include "talus/structure.h"\n#include "connect/flood.h"\n',
    "src/world/tick.cpp": '#include "talus/level.h"\n#include "structure/x.h"\n#include "dynamics/x.h"\n',
    "src/io/format/vox.cpp": '#include "talus/formats.h"\n#include <fstream>\n#include <zlib.h>\n',
    "include/talus/store.h": '// store.h - saves.\n//\n// Layer: io/store.\n#include "talus/level.h"\n',
    "src/io/store/save.cpp": '#include "talus/store.h"\n#include "io/format/fail.h"\n#include "world/x.h"\n',
    "src/net/wire.cpp": '#include "talus/level.h"\n#include "mesh/mesher.h"\n#include "protocol_generated.h"\n',
    "scenes/town.cpp": '#include "scenes/town.h"\n#include "talus/level.h"\n',
    "apps/talus/main.cpp": '#include "talus/formats.h"\n#include "net/wire.h"\n#include <thread>\n',
}


class CheckLayers(unittest.TestCase):
    def check(self, changes):
        """The exit code and output for the good tree with some files laid over it."""
        with tempfile.TemporaryDirectory() as folder:
            for name, text in {**GOOD, **changes}.items():
                path = Path(folder) / name
                path.parent.mkdir(parents=True, exist_ok=True)
                path.write_text(text, encoding="utf-8")
            done = subprocess.run([sys.executable, SCRIPT], cwd=folder, capture_output=True, text=True)
            return done.returncode, done.stdout + done.stderr

    def rejects(self, name, text, words):
        code, output = self.check({name: text})
        self.assertEqual(code, 1, output)
        self.assertEqual(len(output.splitlines()), 1, output)
        self.assertIn(name, output)
        self.assertIn(words, output)

    def test_accepts_a_good_tree(self):
        self.assertEqual(self.check({}), (0, ""))

    def test_accepts_includes_in_comments(self):
        text = '// #include "talus/level.h"\n/* \n#include <thread>\n*/\n'
        self.assertEqual(self.check({"src/grid/grid.cpp": text}), (0, ""))

    def test_rejects_an_include_that_goes_up(self):
        self.rejects("src/grid/grid.cpp", '#include "world/tick.h"\n', "grid may not include world")
        self.rejects("src/base/hash.h", '#include "math/vec.h"\n', "base may not include math")
        self.rejects("src/dynamics/a.cpp", '#  include "terrain/cache.h"\n', "dynamics may not include terrain")

    def test_rejects_an_include_that_goes_sideways(self):
        self.rejects("src/structure/a.cpp", '#include "dynamics/body.h"\n', "structure may not include dynamics")
        self.rejects("src/dynamics/a.cpp", '#include "structure/a.h"\n', "dynamics may not include structure")
        self.rejects("src/dynamics/a.cpp", '#include "connect/flood.h"\n', "dynamics may not include connect")
        self.rejects("src/io/format/a.cpp", '#include "world/tick.h"\n', "io may not include world")
        self.rejects("src/mesh/a.cpp", '#include "mass/a.h"\n', "mesh may not include mass")

    def test_formats_and_saves_are_two_layers(self):
        self.rejects("src/io/format/a.cpp", '#include "io/store/columns.h"\n', "io may not include io/store")
        self.rejects("src/io/format/a.cpp", '#include "talus/store.h"\n', "io may not include io/store")
        self.rejects("src/world/a.cpp", '#include "talus/store.h"\n', "world may not include io/store")
        self.rejects("src/io/store/a.cpp", '#include "net/wire.h"\n', "io/store may not include net")

    def test_public_headers_count_as_their_layer(self):
        self.rejects("src/structure/a.cpp", '#include "talus/space.h"\n', "structure may not include dynamics")
        self.rejects("src/structure/a.cpp", "#include <talus/space.h>\n", "structure may not include dynamics")
        self.rejects("src/io/format/a.cpp", '#include "talus/level.h"\n', "io may not include world")
        self.rejects("include/talus/grid.h", '// Layer: grid.\n#include "talus/level.h"\n', "grid may not")

    def test_public_headers_need_a_layer_and_only_each_other(self):
        self.rejects("include/talus/new.h", "// new.h - no layer.\n", "names no known layer")
        self.rejects("include/talus/new.h", "// Layer: kitchen.\n", "names no known layer")
        self.rejects("include/talus/new.h", '// Layer: grid.\n#include "grid/x.h"\n', "not installed")

    def test_rejects_what_is_in_no_layer(self):
        self.rejects("src/grid/a.cpp", '#include "brick.h"\n', "in no layer")
        self.rejects("src/grid/a.cpp", '#include "talus/gone.h"\n', "in no layer")
        self.rejects("src/world/a.cpp", '#include "apps/talus/jobs.h"\n', "in no layer")
        self.rejects("src/kitchen/a.cpp", "\n", "not a layer")

    def test_library_and_scenes_do_not_know_what_is_above(self):
        self.rejects("src/world/a.cpp", '#include "scenes/town.h"\n', "world may not include scenes")
        self.rejects("scenes/a.cpp", '#include "io/format/vox.h"\n', "scenes may not include io")

    def test_rejects_intrinsics_outside_their_file(self):
        for header in ("immintrin.h", "emmintrin.h", "x86intrin.h", "arm_neon.h", "wasm_simd128.h"):
            self.rejects("src/dynamics/a.cpp", f"#include <{header}>\n", "src/math/simd.h alone")
        self.rejects("apps/talus/a.cpp", "#include <immintrin.h>\n", "src/math/simd.h alone")

    def test_rejects_what_the_core_does_without(self):
        for header in ("thread", "mutex", "chrono", "iostream", "fstream", "ranges", "random", "cstdio"):
            self.rejects("src/world/a.cpp", f"#include <{header}>\n", "no place in the core")
        self.rejects("include/talus/grid.h", "// Layer: grid.\n#include <mutex>\n", "no place in the core")
        self.rejects("src/mesh/a.cpp", "float f(float x) { return std::sin(x); }\n", "libm in the core (sin)")

    def test_rejects_long_files(self):
        self.rejects("src/world/tick.cpp", "\n" * 250, "stays under 250")
        self.assertEqual(self.check({"src/world/tick.cpp": "\n" * 249})[0], 0)
        self.rejects("src/grid/long.cpp", "\n" * 1000, "stays under 1000")

    def test_says_when_it_runs_in_the_wrong_folder(self):
        with tempfile.TemporaryDirectory() as folder:
            done = subprocess.run([sys.executable, SCRIPT], cwd=folder, capture_output=True, text=True)
            self.assertEqual(done.returncode, 2)


if __name__ == "__main__":
    unittest.main()
