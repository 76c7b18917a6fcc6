"""Those tests of fsspec for derived file systems that read: downloads, globs and their edge cases."""

import pytest
from fsspec.tests import abstract

import tagmac
from tagmac.fsspec import VerifiedFileSystem


class Resealed(VerifiedFileSystem):
    """Writes to the store, as the suite needs it, and seals the tree again."""

    def _changed(name):
        def change(self, *args, **options):
            getattr(self.fs, name)(*args, **options)
            tagmac.seal(self.root, self.key, self.path, leaves=4096)
            self.manifest = tagmac.Manifest(self.path, self.key)

        return change

    mkdir, makedirs, touch, pipe, rm = map(_changed, ("mkdir", "makedirs", "touch", "pipe", "rm"))


class Fixtures(abstract.AbstractFixtures):
    @pytest.fixture
    def fs(self, tmp_path):
        key, root, manifest = tagmac.Key.generate(), tmp_path / "t", tmp_path / "m"
        root.mkdir()
        tagmac.seal(root, key, manifest, leaves=4096)
        options = {"auto_mkdir": True}
        fs = Resealed(manifest=manifest, key=key, root=f"file://{root}", target_options=options)
        fs.key, fs.path = key, manifest
        return fs

    @pytest.fixture
    def fs_path(self, fs):
        return fs.root

    @pytest.fixture
    def local_path(self, tmp_path):
        (tmp_path / "local").mkdir()
        return str(tmp_path / "local")


class TestGet(abstract.AbstractGetTests, Fixtures):
    pass
