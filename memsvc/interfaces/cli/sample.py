"""A conversation of ours, in two languages, for the demo: two people plan a small shop."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

from memsvc.model import Message

_START = datetime(2026, 3, 2, 9, 0, tzinfo=UTC)

# Hours since the start, sender, text. Mei writes Chinese when she is in a hurry.
_LINES: tuple[tuple[float, str, str], ...] = (
    (0, "Mei", "Let's plan the tea shop's website. I want it live before the spring festival."),
    (0.1, "Agent", "Good. First question: what must it do on day one?"),
    (0.2, "Mei", "Show the teas, take orders, and ship within Taiwan only."),
    (0.3, "Agent", "Noted: catalogue, orders, domestic shipping."),
    (1, "Mei", "Product photos: my cousin has the camera, he can shoot them on Saturday."),
    (1.1, "Agent", "I'll leave placeholders until Saturday."),
    (24, "Mei", "資料庫用 PostgreSQL，不要用 MySQL，上次搬家太痛苦了。"),
    (24.1, "Agent", "好，資料庫定為 PostgreSQL。"),
    (24.2, "Mei", "快取的話，用 Redis 就好。"),
    (24.3, "Agent", "了解，快取用 Redis，逾時先設五分鐘。"),
    (48, "Mei", "Never send e-mails to customers before ten in the morning, please."),
    (48.1, "Agent", "Understood: mails go out after 10:00, Taipei time."),
    (49, "Mei", "The payment provider turned us down, they say tea is 'agricultural'."),
    (49.1, "Agent", "There are two others that take farm produce. Shall I compare their fees?"),
    (49.2, "Mei", "Yes. The cheaper one, unless it needs a company seal."),
    (50, "Agent", "The second takes 2.2 % and needs no seal. I'll set it up."),
    (72, "Mei", "Shipping: orders over 1,000 dollars go free."),
    (72.1, "Agent", "Free shipping from NT$1,000, otherwise NT$80."),
    (72.2, "Mei", "Grandmother's high-mountain oolong should be first on the page."),
    (72.3, "Agent", "It leads the catalogue now."),
    (96, "Mei", "The photos are here! A bit dark, can you brighten them?"),
    (96.1, "Agent", "Done, all fourteen of them."),
    (
        97,
        "Mei",
        "The order form works on my phone. On my father's it doesn't, he has a very old one.",
    ),
    (97.1, "Agent", "It was the date picker. I replaced it with a plain field; try again?"),
    (97.2, "Mei", "Works! He ordered two boxes of his own tea."),
    (97.3, "Agent", "Then order number one is in the books."),
    (120, "Mei", "Can the shop say which harvest a tea is from?"),
    (120.1, "Agent", "Yes: there is a season and a year for each tea now."),
    (120.2, "Mei", "Perfect. Tomorrow we open."),
    (120.3, "Agent", "Everything is ready."),
)


def sample_messages() -> list[Message]:
    """Return the conversation, oldest message first."""
    return [
        Message(
            role="assistant" if sender == "Agent" else "user",
            sender=sender,
            content=text,
            sent_at=_START + timedelta(hours=hours),
        )
        for hours, sender, text in _LINES
    ]
