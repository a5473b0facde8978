"""The mailbox: bounded, in order, and answering everything when it closes."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest
from virtual_time import virtual

from memsvc_actors.errors import ActorStopped, MailboxFull, Quarantined
from memsvc_actors.mailbox import NUDGES_MAX, Envelope, Mailbox


def asking(message: Any) -> Envelope[Any]:
    return Envelope(message, asyncio.get_running_loop().create_future())


@virtual
async def test_a_full_mailbox_refuses_and_counts_it() -> None:
    mailbox: Mailbox[int] = Mailbox("m", 2)
    mailbox.put_nowait(Envelope(1))
    mailbox.put_nowait(Envelope(2))
    with pytest.raises(MailboxFull, match="m: 2"):
        mailbox.put_nowait(Envelope(3))
    state = mailbox.statistics()
    assert (state.depth, state.capacity, state.highest, state.accepted, state.refused) == (
        2,
        2,
        2,
        2,
        1,
    )


@virtual
async def test_those_who_wait_for_room_get_it_in_their_order() -> None:
    mailbox: Mailbox[int] = Mailbox("m", 1)
    mailbox.put_nowait(Envelope(0))
    tasks = [asyncio.create_task(mailbox.put(Envelope(n))) for n in (1, 2, 3)]
    taken = []
    for _ in range(4):
        await asyncio.sleep(0.1)
        taken += [envelope.message for envelope in mailbox.drain(10)]
    await asyncio.gather(*tasks)
    assert taken == [0, 1, 2, 3]
    assert not mailbox.awaited


@virtual
async def test_room_that_was_given_to_one_who_waited_is_not_taken_by_a_newcomer() -> None:
    mailbox: Mailbox[int] = Mailbox("m", 1)
    mailbox.put_nowait(Envelope(0))
    waiting = asyncio.create_task(mailbox.put(Envelope(1)))
    await asyncio.sleep(0)
    mailbox.drain(1)  # the room is given, but the one who waited has not run yet
    with pytest.raises(MailboxFull):
        mailbox.put_nowait(Envelope(2))
    await waiting
    assert [envelope.message for envelope in mailbox.drain(10)] == [1]
    assert mailbox.statistics().highest == 1


@virtual
async def test_one_who_is_cancelled_while_waiting_hands_his_room_on() -> None:
    mailbox: Mailbox[int] = Mailbox("m", 1)
    mailbox.put_nowait(Envelope(0))
    first, second = (asyncio.create_task(mailbox.put(Envelope(n))) for n in (1, 2))
    await asyncio.sleep(0)
    mailbox.drain(1)  # gives the room to the first
    first.cancel()
    await asyncio.gather(first, return_exceptions=True)
    await second
    assert [envelope.message for envelope in mailbox.drain(10)] == [2]
    assert not mailbox.awaited


@virtual
async def test_a_closing_mailbox_answers_all_it_holds_and_wakes_those_who_wait() -> None:
    mailbox: Mailbox[int] = Mailbox("m", 2)
    held = [asking(1), asking(2)]
    for envelope in held:
        mailbox.put_nowait(envelope)
    waiting = asyncio.create_task(mailbox.put(asking(3)))
    await asyncio.sleep(0)
    assert mailbox.close() == 2
    for envelope in held:
        assert envelope.future is not None
        with pytest.raises(ActorStopped):
            await envelope.future
    with pytest.raises(ActorStopped):
        await waiting
    with pytest.raises(ActorStopped):
        mailbox.put_nowait(Envelope(4))


@virtual
async def test_equal_nudges_coalesce_and_too_many_are_dropped_and_counted() -> None:
    mailbox: Mailbox[int] = Mailbox("m", 1)
    for key in ("a", "b", "a", "c", "b"):
        mailbox.nudge(key)
    assert mailbox.take_nudges() == ["a", "b", "c"]
    assert mailbox.take_nudges() == []
    for number in range(NUDGES_MAX + 5):
        mailbox.nudge(number)
    assert (mailbox.statistics().nudges, mailbox.statistics().nudges_dropped) == (NUDGES_MAX, 5)
    mailbox.close()
    mailbox.nudge("late")
    assert not mailbox.pending


@virtual
async def test_answering_twice_or_one_who_is_gone_is_harmless() -> None:
    envelope = asking(1)
    envelope.reply("first")
    envelope.reply("second")
    envelope.fail(RuntimeError())
    assert envelope.future is not None
    assert await envelope.future == "first"
    gone = asking(2)
    assert gone.future is not None
    gone.future.cancel()
    gone.reply("nobody")
    assert gone.answered
    Envelope(3).reply("nobody asked")


def test_a_mailbox_without_room_is_refused() -> None:
    with pytest.raises(ValueError, match="at least 1"):
        Mailbox("m", 0)


@virtual
async def test_those_who_wait_for_room_are_told_why_it_closes_and_later_ones_that_it_has() -> None:
    mailbox: Mailbox[int] = Mailbox("m", 1)
    mailbox.put_nowait(Envelope(0))
    given, waiting = (asyncio.create_task(mailbox.put(Envelope(n))) for n in (1, 2))
    await asyncio.sleep(0)
    mailbox.drain(1)  # the first is given room, and closing overtakes it
    mailbox.close(Quarantined("m failed too often"))
    mailbox.close(ActorStopped("closed again"))
    for task in (given, waiting):
        with pytest.raises(Quarantined):
            await task
    with pytest.raises(ActorStopped):
        await mailbox.put(Envelope(3))
    assert not mailbox.awaited
