"""The crawler's process: what its parent says to it."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import msgspec

from tests.loopback import links, serving
from twinlink.config import CrawlSettings


def test_a_crawl_that_is_stopped_before_it_begins_sends_no_request(tmp_path: Path) -> None:
    """Job and stop lie in the pipe together, as after Ctrl-C while the process starts."""
    with serving(lambda path: links("/a")) as site:
        job = {
            "kind": "site",
            "starts": [f"{site.url}/"],
            "chosen": [],
            "folder": str(tmp_path),
            "settings": msgspec.to_builtins(CrawlSettings()),
            "parent": os.getpid(),
            "command": "a test",
            "pause": None,
        }
        command = [sys.executable, "-m", "twinlink.spiders.process"]
        with subprocess.Popen(command, stdin=subprocess.PIPE) as process:
            assert process.stdin is not None
            process.stdin.write(json.dumps(job).encode() + b"\nstop\n")
            process.stdin.flush()
            assert process.wait(60) == 1
    assert site.log == []
