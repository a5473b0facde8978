"""The commands. Each opens the home, calls the service, and prints what came back."""

from __future__ import annotations

import asyncio
import sys
from pathlib import Path
from typing import Annotated, Any, Literal

import anyio.to_thread
import cyclopts
from cyclopts import App, Parameter

from memsvc.errors import InvalidArgument, MemsvcError
from memsvc.interfaces.cli import demo as demo_module
from memsvc.interfaces.cli.opening import Common, opened, wait_for_embedding
from memsvc.interfaces.cli.stdin import read_messages
from memsvc.model import Match, Role
from memsvc.session.directory import check_session_id
from memsvc.transfer import export as exporting
from memsvc.transfer.importing import Imported, import_conversation
from memsvc.transfer.reading import read_file
from memsvc.version import __version__

DONE, FAILED, WRONG_USAGE = 0, 1, 2
INTERRUPTED = 130

app = App(
    name="memsvc",
    version=__version__,
    help="The memory of LLM agents. Results go to stdout, words for people to stderr.",
    help_format="plaintext",
)


def run(arguments: list[str] | None = None) -> int:
    """Run a command and return its exit code: 0 done, 1 failed, 2 wrong usage."""
    try:
        result = app(arguments, exit_on_error=False, print_error=True, result_action="return_value")
    except cyclopts.CycloptsError:
        return WRONG_USAGE
    except InvalidArgument as error:
        print(f"memsvc: {error}", file=sys.stderr)
        return WRONG_USAGE
    except MemsvcError as error:
        print(f"memsvc: {error}", file=sys.stderr)
        return FAILED
    except KeyboardInterrupt:
        return INTERRUPTED
    except BrokenPipeError:
        sys.stderr.close()  # whoever read stdout has gone; there is nobody to tell
        return DONE
    return result if isinstance(result, int) else DONE


@app.command
async def demo(*, common: Common = Common()) -> None:
    """Show what memsvc does, on a sample conversation in a temporary home."""
    await demo_module.tour(common.output)


@app.command
async def append(
    session: str,
    text: str | None = None,
    /,
    *,
    role: Role = "user",
    sender: str | None = None,
    id: Annotated[str | None, Parameter(help="Your id; repeating it is safe.")] = None,  # noqa: A002
    common: Common = Common(),
) -> None:
    """Append a message, or those on stdin: JSONL with a message a line, or plain text.

    Parameters
    ----------
    session
        The session's id.
    text
        What was said.
    """
    check_session_id(session)  # before a home is made for it
    if text is None:
        messages = await anyio.to_thread.run_sync(read_messages, sys.stdin, role)
    else:
        messages = [{"role": role, "content": text}]
    for message in messages:
        message.update({k: v for k, v in (("sender", sender), ("id", id)) if v is not None})
    async with opened(common, create=True) as memory:
        receipt = await memory.session(session).append(messages)
    if common.json:
        common.output.json(receipt)
        return
    there = " (there already)" if receipt.duplicate else ""
    common.output.line(f"{session} #{receipt.first_seq}–{receipt.last_seq}{there}")


@app.command
async def context(
    session: str,
    text: str,
    /,
    *,
    system: str | None = None,
    max_tokens: int | None = None,
    common: Common = Common(),
) -> None:
    """Print what a model should see when the user says TEXT."""
    async with opened(common) as memory:
        found = await memory.session(session).context(text, system=system, max_tokens=max_tokens)
    if common.json:
        common.output.json(found)
        return
    for message in found.messages:
        common.output.line(f"[{message['role']}] {_plain(message['content'])}")
    common.output.note(
        f"{found.unsummarized} older messages without a summary; {found.omitted} left out"
    )


@app.command
async def search(
    session: str,
    query: str,
    /,
    *,
    match: Match = "hybrid",
    limit: int = 8,
    time_range: Literal["1d", "7d", "1m", "1y", "all"] = "all",
    after: str | None = None,
    before: str | None = None,
    role: Role | None = None,
    include_tools: bool = False,
    include_window: bool = True,
    prefix: Annotated[
        bool, Parameter(negative="", help="SESSION is the beginning of ids: search them all.")
    ] = False,
    wait: Annotated[float, Parameter(help="Seconds to wait for embedding.")] = 10.0,
    common: Common = Common(),
) -> None:
    """Search a session by words, by meaning, or both."""
    asked: dict[str, Any] = {
        "match": match,
        "limit": limit,
        "time_range": time_range,
        "after": after,
        "before": before,
        "role": role,
        "include_tools": include_tools,
    }
    async with opened(common) as memory:
        if match != "keyword":
            await wait_for_embedding(memory, wait, common.output)
        if prefix:
            hits = await memory.search(query, prefix=session, **asked)
        else:
            hits = await memory.session(session).search(
                query, include_window=include_window, **asked
            )
    common.output.hits(hits)


@app.command
async def sessions(
    *, prefix: str = "", limit: int = 100, cursor: str | None = None, common: Common = Common()
) -> None:
    """List sessions."""
    async with opened(common) as memory:
        page = await memory.sessions(prefix=prefix, limit=limit, cursor=cursor)
    if common.json:
        common.output.json(page)
        return
    rows = [[s.session, str(s.messages), f"{s.last_at:%Y-%m-%d %H:%M}"] for s in page]
    common.output.table(["session", "messages", "last (UTC)"], rows)
    if page.cursor is not None:
        common.output.note(f"more: --cursor {page.cursor!r}")


@app.command
async def status(session: str | None = None, /, *, common: Common = Common()) -> None:
    """Print the state of the home, or of one session."""
    async with opened(common) as memory:
        found: Any = await (memory.session(session) if session is not None else memory).status()
    if common.json:
        common.output.json(found)
        return
    for name in found.__struct_fields__:
        common.output.line(f"{name:22} {getattr(found, name)}")


@app.command
async def remove(
    session: str,
    /,
    *,
    erase: Annotated[bool, Parameter(negative="", help="Leave no byte of it on disk.")] = False,
    common: Common = Common(),
) -> int:
    """Delete a session with all its messages."""
    async with opened(common) as memory:
        was_there = await memory.session(session).remove(erase=erase)
    if common.json:
        common.output.json({"session": session, "removed": was_there})
    else:
        common.output.line(f"{session} removed" if was_there else f"{session} was not there")
    return DONE if was_there else FAILED


@app.command(name="import")
async def import_(
    path: Path,
    /,
    *,
    session: Annotated[str | None, Parameter(help="Id to give; the file's name otherwise.")] = None,
    format: Annotated[Literal["auto", "openai"], Parameter(help="Format of the file.")] = "auto",  # noqa: A002
    wait: Annotated[bool, Parameter(help="Embed all of it before the end.")] = True,
    common: Common = Common(),
) -> int:
    """Import conversations from OpenAI-style JSON or JSONL. Safe to repeat."""
    del format  # there is one so far; the option is there so that scripts can name it
    contents = await anyio.to_thread.run_sync(read_file, path, session)
    output, problems = common.output, list(contents.problems)
    report: list[Imported] = []
    async with opened(common, create=True) as memory:
        for conversation in contents.conversations:
            with output.progress(len(conversation.messages), conversation.session) as progress:
                done = await import_conversation(
                    memory.session(conversation.session),
                    conversation,
                    memory.settings.limits,
                    progress,
                )
            report.append(done)
            problems.extend(done.problems)
        if wait:
            await wait_for_embedding(memory, memory.settings.semantic.flush_timeout, output)
    for problem in problems:
        output.problem(problem)
    if common.json:
        output.json({"sessions": report, "problems": problems})
    else:
        for done in report:
            output.line(f"{done.session}: {done.appended} appended, {done.skipped} there already")
    return FAILED if problems else DONE


@app.command
async def export(
    session: str,
    /,
    *,
    format: Literal["jsonl", "openai"] = "jsonl",  # noqa: A002
    common: Common = Common(),
) -> None:
    """Print a session: a message a line (jsonl), or one JSON array for other programs (openai)."""
    async with opened(common) as memory:
        async for piece in exporting.export(memory.session(session), format):
            common.output.raw(piece)
    await asyncio.to_thread(sys.stdout.flush)


def _plain(content: Any) -> str:
    return content if isinstance(content, str) else repr(content)
