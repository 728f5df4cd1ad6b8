"""The container image: what can be checked of Dockerfile and compose file without a daemon."""

from __future__ import annotations

import re
import shlex
import tomllib
from typing import Any

import pytest
import yaml

from tests.test_docs import ROOT, blocks, check_command

DOCKERFILE = (ROOT / "Dockerfile").read_text(encoding="utf-8")
PROJECT: dict[str, Any] = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]


@pytest.fixture(scope="module")
def services() -> dict[str, dict[str, Any]]:
    """Give the services of the compose file in the documentation."""
    [text] = [block.text for block in blocks(ROOT / "docs/howto/large.md") if "services:" in block.text]
    found: dict[str, dict[str, Any]] = yaml.safe_load(text)["services"]
    return found


def copied() -> set[str]:
    """Return what the image takes from the repository."""
    lines = re.findall(r"^COPY (?!--)(.+)$", DOCKERFILE, re.MULTILINE)
    return {name for line in lines for name in line.split()[:-1]}


def test_everything_that_the_wheel_needs_is_copied_and_nothing_else_is_sent() -> None:
    assert copied() == {"pyproject.toml", "twinlink", PROJECT["readme"], *PROJECT["license-files"]}
    assert all((ROOT / name).exists() for name in copied())
    sent = re.findall(r"^!(.+)$", (ROOT / ".dockerignore").read_text(encoding="utf-8"), re.MULTILINE)
    assert set(sent) == copied()


def test_its_command_is_that_of_the_package_by_a_user_without_rights() -> None:
    last = DOCKERFILE.rpartition("\nFROM ")[2]
    assert re.findall(r'^ENTRYPOINT \["(.+)"\]$', last, re.MULTILINE) == list(PROJECT["scripts"])
    assert re.findall(r"^USER (.+)$", last, re.MULTILINE) == ["twinlink"]
    assert re.findall(r"^ARG EXTRAS=(.+)$", DOCKERFILE, re.MULTILINE)[0] in PROJECT["optional-dependencies"]


def test_both_parts_are_built_on_the_same_system() -> None:
    bases = re.findall(r"^FROM (\S+)", DOCKERFILE, re.MULTILINE)
    assert len(bases) == 2
    assert len(set(bases)) == 1  # the environment that is copied refers to the Python of the system


def test_services_share_a_folder_and_know_each_other(services: dict[str, dict[str, Any]]) -> None:
    assert {service["image"] for service in services.values()} == {"twinlink"}
    assert len({tuple(service["volumes"]) for service in services.values()}) == 1
    commands = {name: shlex.split(service["command"]) for name, service in services.items()}
    assert services["scheduler"]["entrypoint"] == services["worker"]["entrypoint"] == "dask"
    assert commands["worker"][1] == commands["mine"][-1] == "tcp://scheduler:8786"
    check_command("twinlink " + services["mine"]["command"])
