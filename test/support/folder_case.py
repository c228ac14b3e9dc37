"""A test case with a folder of its own.
SPDX-License-Identifier: BSD-3-Clause"""
import pathlib
import tempfile
import unittest


class FolderCase(unittest.TestCase):
    def setUp(self):
        place = tempfile.TemporaryDirectory()
        self.addCleanup(place.cleanup)
        self.folder = pathlib.Path(place.name)

    def file(self, name, text):
        path = self.folder / name
        path.write_text(text)
        return path
