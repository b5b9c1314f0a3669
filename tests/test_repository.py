"""Tests of the repository around the code: dependencies, the wheel, the compose file, the README."""

import ast
import asyncio
import re
import shutil
import subprocess
import sys
import tomllib
import zipfile
from collections.abc import Iterator
from importlib.metadata import packages_distributions
from pathlib import Path
from typing import Any

import pytest
import yaml
from aiokafka import AIOKafkaConsumer
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

from agents import ingress
from deploy import settings_table
from referee.cli import app
from referee.embedded.kafka import kafka
from referee.embedded.server import EmbeddedServer
from referee.settings import BROKERS, Settings
from streams.app import Bus
from streams.delivery.outbox import Outbox
from streams.delivery.state import PartitionState
from streams.provision import create_topics
from topics.ingress import Receipt
from topics.registry import INGRESS

ROOT = Path(__file__).parent.parent
PACKAGES = ("rules", "topics", "streams", "agents", "sinks", "referee")
PROJECT: dict[str, Any] = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
COMPOSE: dict[str, Any] = yaml.safe_load((ROOT / "docker-compose.yml").read_text())


def names(requirements: list[str]) -> set[str]:
    """Return the normal names of requirements."""
    return {canonicalize_name(Requirement(text).name) for text in requirements}


def modules_imported(folder: str) -> Iterator[tuple[Path, str]]:
    """Yield every file below a folder with each top-level module that it imports."""
    for path in (ROOT / folder).rglob("*.py"):
        for node in ast.walk(ast.parse(path.read_text())):
            if isinstance(node, ast.Import):
                yield from ((path, alias.name.partition(".")[0]) for alias in node.names)
            elif isinstance(node, ast.ImportFrom) and node.module is not None and not node.level:
                yield path, node.module.partition(".")[0]


def test_rules_import_the_standard_library_numpy_and_scipy_only() -> None:
    allowed = sys.stdlib_module_names | {"rules", "numpy", "scipy"}
    assert {(str(path), module) for path, module in modules_imported("rules") if module not in allowed} == set()


def test_every_package_that_the_code_imports_is_a_dependency() -> None:
    declared = names(PROJECT["dependencies"])
    distributions = packages_distributions()
    missing = set()
    for folder in PACKAGES:
        for path, module in modules_imported(folder):
            if module in sys.stdlib_module_names or module in PACKAGES or module == "compression":
                continue  # `compression` is the standard library's from Python 3.14 on
            owners = {canonicalize_name(name) for name in distributions.get(module, [module])}
            if not owners & declared:
                missing.add((str(path), module))
    assert missing == set()


def test_the_default_install_has_all_of_the_embedded_extra() -> None:
    assert set(PROJECT["optional-dependencies"]["embedded"]) <= set(PROJECT["dependencies"])


def test_the_lock_pins_every_dependency_and_names_no_host_or_path() -> None:
    lines = [line for line in (ROOT / "requirements.lock").read_text().splitlines() if not line.startswith("#")]
    pinned = [Requirement(line) for line in lines]
    assert all([spec.operator for spec in one.specifier] == ["=="] and one.url is None for one in pinned)
    locked = {canonicalize_name(one.name) for one in pinned}
    for wanted in (PROJECT["dependencies"], *PROJECT["optional-dependencies"].values()):
        assert names(wanted) - locked == set()
    versions = {canonicalize_name(one.name): one for one in pinned if one.marker is None}
    for text in PROJECT["dependencies"]:
        asked = Requirement(text)
        one = versions.get(canonicalize_name(asked.name))
        if one is not None:
            assert all(asked.specifier.contains(spec.version) for spec in one.specifier), f"{one} is not {text}"


def test_every_file_of_the_packages_is_in_the_wheel(tmp_path: Path) -> None:
    source = tmp_path / "source"
    for folder in PACKAGES:
        shutil.copytree(ROOT / folder, source / folder, ignore=shutil.ignore_patterns("__pycache__"))
    for name in ("pyproject.toml", "README.md", "LICENSE"):
        shutil.copy(ROOT / name, source / name)
    build = "import sys; from setuptools import build_meta; print(build_meta.build_wheel(sys.argv[1]))"
    made = subprocess.run(
        [sys.executable, "-c", build, str(tmp_path)], cwd=source, capture_output=True, text=True, check=False
    )
    assert made.returncode == 0, made.stderr
    with zipfile.ZipFile(tmp_path / made.stdout.splitlines()[-1]) as wheel:
        inside = set(wheel.namelist())
    files = {path for name in PACKAGES for path in (source / name).rglob("*") if path.is_file()}
    assert {str(path.relative_to(source)) for path in files} - inside == set()
    assert any(name.endswith("licenses/LICENSE") for name in inside)


@pytest.mark.parametrize("name", COMPOSE["services"])
def test_a_service_has_a_fixed_version_and_listens_on_loopback(name: str) -> None:
    service = COMPOSE["services"][name]
    assert re.fullmatch(r"[a-z/-]+:\d+(\.\d+)+", service["image"]), service["image"]
    assert all(re.fullmatch(r"127\.0\.0\.1:\d+:\d+", port) for port in service.get("ports", []))
    for volume in service.get("volumes", []):
        held = volume.partition(":")[0]
        assert (ROOT / held).exists() if held.startswith("./") else held in COMPOSE["volumes"], volume
    for other, wait in service.get("depends_on", {}).items():
        if wait["condition"] == "service_healthy":
            assert "healthcheck" in COMPOSE["services"][other], f"{other} has no health check to wait for"


def test_services_run_commands_and_set_variables_that_there_are() -> None:
    commands = {command.name or command.callback.__name__ for command in app.registered_commands if command.callback}
    settings = {f"REFEREE_{name.upper()}" for name in Settings.model_fields}
    ours = {name: one for name, one in COMPOSE["services"].items() if "build" in one}
    assert set(ours) == {"engine", "sink", "feed", "dashboard"}
    for name, service in ours.items():
        assert service["command"][0] in commands, name
        assert set(service["environment"]) <= settings, name


def test_the_readme_lists_the_settings_as_they_are() -> None:
    readme = (ROOT / "README.md").read_text()
    assert settings_table.written(readme) == readme, "run python -m deploy.settings_table"


@pytest.mark.parametrize("document", [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))], ids=str)
def test_links_inside_a_document_lead_to_files(document: Path) -> None:
    targets = re.findall(r"\]\(([^)#:]+)\)", document.read_text())
    assert [target for target in targets if not (document.parent / target).exists()] == []


@pytest.mark.embedded
async def test_the_readmes_example_publishes_an_envelope_that_is_taken_in(tmp_path: Path) -> None:
    (example,) = re.findall(r"```python\n(.*?)```", (ROOT / "README.md").read_text(), re.DOTALL)
    server = EmbeddedServer(kafka(), tmp_path)
    await asyncio.to_thread(server.start)
    try:
        bus = Bus(server.url, **BROKERS["tansu"])
        await create_topics(bus, [], stepped=True)
        script = tmp_path / "example.py"
        script.write_text(example.replace("localhost:9092", server.url))
        # -I keeps the project out of the script's path
        process = await asyncio.create_subprocess_exec(sys.executable, "-I", str(script), cwd=tmp_path)
        assert await process.wait() == 0
        consumer = AIOKafkaConsumer(INGRESS.name, bootstrap_servers=server.url, auto_offset_reset="earliest")
        async with consumer, asyncio.timeout(20):
            record = await consumer.getone()
    finally:
        await asyncio.to_thread(server.stop)
    out = Outbox()
    ingress.spec(bus.partitions).reducer(PartitionState(record.partition, {})).apply(record, out)
    (receipt,) = [Receipt.decode(output.value) for output in out.outputs]
    assert (receipt.status, receipt.ref) == ("accepted", "ann")
