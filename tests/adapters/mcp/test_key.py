"""Calls that a client has given a key."""

from pathlib import Path

import pytest

from .driver import ENV, ERAS, HERE, PYTHON, connected, gate_stdio, run, text

RUDE = (PYTHON, str(HERE / "rude.py"))
CONTRACT = str(HERE / "rude.yaml")


@pytest.mark.parametrize("era", ERAS)
def test_a_call_asked_for_again_under_its_key_is_answered_from_the_record_and_does_not_run(
    era: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    effects = tmp_path / "effects"
    monkeypatch.setitem(ENV, "EFFECTS", str(effects))
    store = ("--store", str(tmp_path / "journal.db"), "--session", "one")

    async def body() -> None:
        keyed = {"duly/key": "k1"}
        async with connected(gate_stdio("-c", CONTRACT, *store, server=RUDE), era=era) as client:
            assert text(await client.call_tool("plain", {"n": 2}, meta=keyed)) == "plain 2"
            assert text(await client.call_tool("plain", {"n": 2}, meta=keyed)) == "plain 2"
        async with connected(gate_stdio("-c", CONTRACT, *store, server=RUDE), era=era) as client:
            again = await client.call_tool("plain", {"n": 2}, meta=keyed)
            assert (text(again), again.meta) == ("plain 2", {"duly/verdict": {"verdict": "allowed", "recorded": True}})
            other = await client.call_tool("plain", {"n": 3}, meta=keyed)
            assert other.is_error
            assert text(await client.call_tool("plain", {"n": 2})) == "plain 2"
            with pytest.raises(Exception, match="`duly/key` in `_meta` is a text"):
                await client.call_tool("plain", {"n": 2}, meta={"duly/key": 7})
        assert effects.read_text().split() == ["plain", "plain"]

    run(body)
