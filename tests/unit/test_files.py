"""Whole files, sealed files and locks, on disks that are full, locked or gone."""

import errno
import multiprocessing
import os
import shutil
import signal
import tempfile
import threading
from pathlib import Path

import pytest

from mictree._support import files as _files
from mictree._support.files import (
    locked,
    no_space,
    read_sealed,
    remove_unfinished,
    write_sealed,
    write_whole,
)

OPERATIONS = ("posix_fallocate", "fsync")


def failing(number):
    def fail(*arguments):
        raise OSError(number, os.strerror(number))

    return fail


class TestWriteWhole:
    @pytest.mark.parametrize("parts", [(), (b"",), (b"one", b"", memoryview(b"two"))])
    def test_joins_the_parts(self, tmp_path, parts):
        write_whole(tmp_path / "file", *parts)
        assert (tmp_path / "file").read_bytes() == b"".join(parts)
        assert len(list(tmp_path.iterdir())) == 1

    @pytest.mark.parametrize("operation", OPERATIONS)
    @pytest.mark.parametrize("number", [errno.ENOSPC, errno.EDQUOT])
    def test_a_full_disk_keeps_the_old_file(self, tmp_path, monkeypatch, operation, number):
        path = tmp_path / "file"
        write_whole(path, b"old")
        monkeypatch.setattr(os, operation, failing(number), raising=False)
        with pytest.raises(OSError, match=f"disk of {tmp_path}: file needs 3 MB") as raised:
            write_whole(path, bytes(3_000_000))
        assert raised.value.errno == errno.ENOSPC
        assert path.read_bytes() == b"old"
        assert list(tmp_path.iterdir()) == [path]

    @pytest.mark.parametrize("number", [errno.EOPNOTSUPP, errno.EINVAL])
    def test_file_systems_that_cannot_reserve(self, tmp_path, monkeypatch, number):
        monkeypatch.setattr(os, "posix_fallocate", failing(number), raising=False)
        write_whole(tmp_path / "file", b"new")
        assert (tmp_path / "file").read_bytes() == b"new"

    def test_ctrl_c_keeps_the_old_file(self, tmp_path, monkeypatch):
        def interrupt(descriptor):
            raise KeyboardInterrupt

        path = tmp_path / "file"
        write_whole(path, b"old")
        monkeypatch.setattr(os, "fsync", interrupt)
        with pytest.raises(KeyboardInterrupt):
            write_whole(path, b"new")
        assert path.read_bytes() == b"old"
        assert list(tmp_path.iterdir()) == [path]

    def test_a_removed_folder(self, tmp_path, monkeypatch):
        path = tmp_path / "folder" / "file"
        with pytest.raises(FileNotFoundError, match="file: its folder does not exist"):
            write_whole(path, b"new")
        path.parent.mkdir()
        monkeypatch.setattr(os, "fsync", lambda _: shutil.rmtree(path.parent))
        with pytest.raises(FileNotFoundError, match="file: its folder does not exist"):
            write_whole(path, b"new")

    def test_leftovers_of_a_killed_process_are_removed(self, tmp_path):
        (tmp_path / "file").write_bytes(b"old")
        (tmp_path / f".file.0123abcd{_files.UNFINISHED}").write_bytes(b"ne")
        remove_unfinished(tmp_path)
        assert [path.name for path in tmp_path.iterdir()] == ["file"]
        remove_unfinished(tmp_path / "nowhere")


@pytest.mark.parametrize(("size", "shown"), [(1.2e9, "1,200 MB"), (1500, "1.5 kB")])
def test_sizes_are_shown(size, shown):
    assert str(no_space(Path("folder/file"), int(size))).endswith(f"folder: file needs {shown}")


class TestSealed:
    def test_is_read_back(self, tmp_path):
        write_sealed(tmp_path / "file", "key", b"content")
        found = read_sealed(tmp_path / "file", "key")
        assert found is not None
        assert bytes(found) == b"content"

    def test_every_bit_counts(self, tmp_path):
        path = tmp_path / "file"
        write_sealed(path, "key", b"content")
        whole = path.read_bytes()
        for bit in range(8 * len(whole)):
            damaged = bytearray(whole)
            damaged[bit // 8] ^= 1 << bit % 8
            path.write_bytes(damaged)
            assert read_sealed(path, "key") is None
        for damaged in (*(whole[:length] for length in range(len(whole))), whole + b"\0"):
            path.write_bytes(damaged)
            assert read_sealed(path, "key") is None
        path.write_bytes(bytes(len(whole)))
        assert read_sealed(path, "key") is None

    def test_key_and_name_count(self, tmp_path):
        write_sealed(tmp_path / "file", "key", b"content")
        assert read_sealed(tmp_path / "file", "another") is None
        (tmp_path / "file").rename(tmp_path / "other")
        assert read_sealed(tmp_path / "other", "key") is None
        assert read_sealed(tmp_path / "file", "key") is None  # there is none
        assert read_sealed(tmp_path, "key") is None  # a folder


def hold(path, ready):
    with locked(path, path):
        ready.set()
        signal.pause()


class TestLocked:
    def test_the_second_writer_is_refused(self, tmp_path):
        path, output = tmp_path / "lock", tmp_path / "output"
        with locked(path, output):
            for _ in range(2):  # a refusal leaves the lock as it was
                with (
                    pytest.raises(ValueError, match=f"one process may write {output} at a time"),
                    locked(path, output),
                ):
                    pass
        assert not list(tmp_path.iterdir())
        with locked(path, output):
            pass

    def test_an_error_gives_it_back(self, tmp_path):
        with pytest.raises(KeyError), locked(tmp_path / "lock", tmp_path):
            raise KeyError
        assert not list(tmp_path.iterdir())

    def test_a_killed_process_leaves_it_free(self, tmp_path):
        context = multiprocessing.get_context("spawn")
        ready, path = context.Event(), tmp_path / "lock"
        process = context.Process(target=hold, args=(path, ready))
        process.start()
        assert ready.wait(60)
        with pytest.raises(ValueError, match="another is writing"), locked(path, path):
            pass
        process.kill()
        process.join()
        assert path.exists()
        with locked(path, path):
            pass
        assert not path.exists()

    def test_a_file_that_its_owner_removes_is_not_locked(self, tmp_path, monkeypatch):
        """Opened before, locked after the owner has removed it: the next writer would not see."""
        path, calls = tmp_path / "lock", []

        def removed_first(descriptor, lock=_files._lock):
            if not calls:
                path.unlink()
            calls.append(descriptor)
            lock(descriptor)

        monkeypatch.setattr(_files, "_lock", removed_first)
        with locked(path, path):
            assert len(calls) == 2
            assert path.exists()

    def test_another_s_lock_is_not_removed(self, tmp_path):
        path = tmp_path / "lock"
        with locked(path, path):
            path.unlink()
            path.write_bytes(b"another's")
        assert path.exists()

    def test_file_systems_without_locks(self, tmp_path, monkeypatch):
        elsewhere = tmp_path / "elsewhere"
        elsewhere.mkdir()
        monkeypatch.setattr(tempfile, "tempdir", str(elsewhere))

        def only_elsewhere(descriptor, lock=_files._lock):
            if not any(_files._is_open_as(each, descriptor) for each in elsewhere.iterdir()):
                raise OSError(errno.ENOLCK, "No locks available")
            lock(descriptor)

        monkeypatch.setattr(_files, "_lock", only_elsewhere)
        with locked(tmp_path / "lock", tmp_path):
            assert len(list(elsewhere.iterdir())) == 1
            with pytest.raises(ValueError, match="another"), locked(tmp_path / "lock", tmp_path):
                pass
        assert list(tmp_path.iterdir()) == [elsewhere]
        assert not list(elsewhere.iterdir())

    def test_threads_exclude_each_other(self, tmp_path):
        refused = []

        def enter():
            try:
                with locked(tmp_path / "lock", tmp_path):
                    pass
            except ValueError:
                refused.append(1)

        with locked(tmp_path / "lock", tmp_path):
            thread = threading.Thread(target=enter)
            thread.start()
            thread.join()
        assert refused
