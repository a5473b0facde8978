"""The demo: what memsvc does, told on a sample conversation in half a minute."""

from __future__ import annotations

import tempfile
from typing import Any

from memsvc.interfaces.cli.opening import banner
from memsvc.interfaces.cli.output import Output, shown
from memsvc.interfaces.cli.sample import sample_messages
from memsvc.model import Hits
from memsvc.service import MemoryService
from memsvc.settings import Settings

_SESSION = "tea-shop"
_QUESTION = "How do we pay less for card payments?"
_MEANING = "Which database did we decide on?"
_WORD = "快取"
_SHOWN_OF_WINDOW = 4


async def tour(output: Output) -> None:
    """Tell the story: append, context, a search by meaning, a search by a Chinese word."""
    settings = Settings.load()
    with tempfile.TemporaryDirectory(prefix="memsvc-demo-") as home:
        settings = _in_home(settings, home)
        output.note(banner(settings))
        async with MemoryService.open(settings) as memory:
            chat = memory.session(_SESSION)
            receipt = await chat.append(sample_messages())
            await memory.flush()
            context = await chat.context(_QUESTION, system="You help Mei with her tea shop.")
            by_meaning = await chat.search(_MEANING, limit=2)
            by_word = await chat.search(_WORD, match="keyword", limit=2)
    if output.as_json:
        output.json(
            {"receipt": receipt, "context": context, "meaning": by_meaning, "word": by_word}
        )
        return
    _tell(output, receipt.last_seq, context, by_meaning, by_word)


def _in_home(settings: Settings, home: str) -> Settings:
    import msgspec

    return msgspec.structs.replace(settings, home=home)


def _tell(output: Output, count: int, context: Any, by_meaning: Hits, by_word: Hits) -> None:
    output.line("")
    output.line(f"1. Mei and her agent have talked for a week: {count} messages, all kept.", "bold")
    output.line("   Each was written to disk before it was acknowledged.")
    output.line("")
    output.line(f"2. Mei asks: “{_QUESTION}”. What the model sees:", "bold")
    output.line("   system   You help Mei with her tea shop.", "cyan")
    output.line(
        f"   window   the newest {len(context.window)} messages, word for word, ending with", "cyan"
    )
    for message in context.window[-_SHOWN_OF_WINDOW:]:
        output.line(f"            {shown(message, 90)}", "dim")
    output.line(f"   user     {_QUESTION}", "cyan")
    output.line(
        f"   {context.unsummarized} older messages stay out of the prompt; search finds them."
    )
    output.line("")
    output.line(f"3. Found by meaning: “{_MEANING}”", "bold")
    output.line("   No word of the question is in the answer: it was given in another language.")
    _tell_hits(output, by_meaning)
    output.line("")
    output.line(f"4. Found by a word of two characters: {_WORD} (cache)", "bold")
    _tell_hits(output, by_word)
    output.line("")
    output.line("That was a temporary home, gone again. Yours:", "bold")
    output.line('   memsvc append alice "We will use Redis for the cache."')
    output.line('   memsvc search alice "which cache"')


def _tell_hits(output: Output, hits: Hits) -> None:
    for hit in hits:
        for message in hit.before:
            output.line(f"        {shown(message, 90)}", "dim")
        output.line(f"   → #{hit.seq} {hit.sent_at:%d %b}  {shown(hit, 90)}", "green")
        for message in hit.after:
            output.line(f"        {shown(message, 90)}", "dim")
