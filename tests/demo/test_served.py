"""The desk as an MCP server needs an extra; what it does with it is tested where the SDK is."""

import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path

import pytest

from duly.demo.desk import Desk, DeskError


@pytest.mark.skipif(find_spec("mcp") is not None, reason="the MCP SDK is installed here")
def test_without_the_sdk_the_demo_says_which_extra_it_needs(tmp_path: Path) -> None:
    command = [sys.executable, "-m", "duly.demo", "--mcp", "--out", str(tmp_path / "runs")]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 2
    assert "pip install '.[mcp]'" in done.stderr
    assert not (tmp_path / "runs").exists()


def test_a_desk_in_a_file_is_found_again(tmp_path: Path) -> None:
    path = str(tmp_path / "desk.sqlite")
    desk = Desk(path)
    desk.cancel_booking("LT-201")
    desk.close()
    again = Desk(path)
    assert again.get_booking("LT-201")["status"] == "cancelled"
    with pytest.raises(DeskError, match="already cancelled"):
        again.cancel_booking("LT-201")
