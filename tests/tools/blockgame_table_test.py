"""data/blockgame.json is what its tool writes. Needs the package it is made from: cd tools && npm ci (430 MB)."""
import pathlib
import subprocess
import unittest

TOOLS = pathlib.Path(__file__).resolve().parents[2] / "tools"


class BlockgameTable(unittest.TestCase):
    def test_is_what_its_tool_writes(self):
        if not (TOOLS / "node_modules/minecraft-data").exists():
            self.skipTest("tools/node_modules is not installed: cd tools && npm ci")
        ran = subprocess.run(["node", "make_blockgame_table.mjs", "--check"], cwd=TOOLS, capture_output=True, text=True)
        self.assertEqual(ran.returncode, 0, ran.stderr)
        self.assertIn("blocks", ran.stdout)


if __name__ == "__main__":
    unittest.main()
