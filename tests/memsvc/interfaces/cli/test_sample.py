"""The sample conversation."""

from __future__ import annotations

from memsvc.interfaces.cli.sample import sample_messages


def test_the_sample_is_longer_than_a_window_in_order_and_in_two_languages() -> None:
    messages = sample_messages()
    times = [m.sent_at for m in messages if m.sent_at is not None]
    assert len(messages) > 16
    assert times == sorted(times)
    assert any("資料庫" in str(m.content) for m in messages)
