"""Chat rows: what is accepted, and what identifies them."""

from __future__ import annotations

import hashlib
import json
import os
import random
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from support import processes
from support.curves import laws

from akka_optimize import errors
from akka_optimize.trainer import datasets, uploads
from akka_optimize.trainer.catalog import Catalog
from akka_optimize.trainer.home import Home

GOOD = b'{"messages": [{"role": "user", "content": "Hi"}, {"role": "assistant", "content": "Hello"}]}'
FULL = """
import resource, sys
from pathlib import Path
from akka_optimize import errors
from akka_optimize.trainer import datasets
from akka_optimize.trainer.home import Home
home = Home.open(sys.argv[1])
resource.setrlimit(resource.RLIMIT_FSIZE, (4096, 4096))
try:
    datasets.store(home, Path(sys.argv[2]))
except errors.Exhausted as error:
    print(error.message)
"""
texts = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0"), min_size=1, max_size=12)
messages = st.builds(lambda role, content: {"role": role, "content": content}, st.sampled_from(datasets.ROLES), texts)
examples = st.builds(
    lambda earlier, answer: {"messages": [*earlier, {"role": "assistant", "content": answer}]},
    st.lists(messages, max_size=3),
    texts,
)


@pytest.fixture
def home(tmp_path: Path) -> Home:
    """A fresh home."""
    return Home.open(tmp_path / "home")


def stored(home: Home, data: bytes) -> datasets.Stored:
    """What becomes of a file with these bytes."""
    path = home.path.with_name("rows.jsonl")
    path.write_bytes(data)
    return datasets.store(home, path)


def row(*contents: str, **further: Any) -> dict[str, Any]:
    """A row of user and assistant in turn, the last of them the assistant."""
    roles = ["assistant", "user"] * len(contents)
    pairs = zip(reversed(roles[: len(contents)]), contents, strict=True)
    return {"messages": [{"role": role, "content": content} for role, content in pairs], **further}


def lines(*rows: Any) -> bytes:
    """Rows as a file's bytes."""
    return b"".join(json.dumps(row).encode() + b"\n" for row in rows)


def test_the_hash_is_of_the_stored_bytes(home: Home) -> None:
    """Anyone can recompute a dataset's hash with sha256sum, and its file is named after it and cannot be written to."""
    found = stored(home, lines(row("Straße?", "5 €"), row("b", "c")))
    path = home.datasets / f"{found.hash}.jsonl"
    assert hashlib.sha256(path.read_bytes()).hexdigest() == found.hash
    assert path.read_text() == (
        '{"messages":[{"content":"Straße?","role":"user"},{"content":"5 €","role":"assistant"}]}\n'
        '{"messages":[{"content":"b","role":"user"},{"content":"c","role":"assistant"}]}\n'
    )
    assert (found.example_count, found.size_bytes, found.findings) == (2, path.stat().st_size, ())
    assert path.stat().st_mode & 0o222 == 0
    assert os.listdir(home.uploads) == []


@laws
@given(rows=st.lists(examples, min_size=1, max_size=4), seed=st.integers(0, 9))
def test_the_hash_ignores_how_rows_are_written(
    tmp_path_factory: pytest.TempPathFactory, rows: list[dict[str, Any]], seed: int
) -> None:
    """Spacing, escapes, the order of keys and the newline at the end make no difference; what comes back is equal."""
    home = Home.open(tmp_path_factory.mktemp("datasets") / "home")
    chance = random.Random(seed)

    def shuffled(value: Any) -> Any:
        if isinstance(value, dict):
            return {key: shuffled(value[key]) for key in chance.sample(sorted(value), len(value))}
        return [shuffled(item) for item in value] if isinstance(value, list) else value

    plain = stored(home, lines(*rows))
    other = b"\r\n".join(
        json.dumps(shuffled(item), ensure_ascii=chance.random() < 0.5, separators=(" ,  ", " : ")).encode()
        for item in rows
    )
    assert stored(home, other).hash == plain.hash
    assert datasets.rows(home, plain.hash) == rows


def test_order_and_content_make_another_dataset(home: Home) -> None:
    """Rows in another order, or one character else, are another dataset."""
    a, b, c = row("a", "b"), row("c", "d"), row("c", "d ")
    assert len({stored(home, lines(*rows)).hash for rows in [(a, b), (b, a), (a, c), (a, b, b)]}) == 4


@pytest.mark.parametrize(
    ("data", "count", "findings"),
    [
        pytest.param(GOOD, 1, (), id="no-newline-at-the-end"),
        pytest.param(
            GOOD + b"\r\n" + GOOD[:-1] + b" }\r\n", 2, ("1 row repeats an earlier one",), id="crlf-and-repeat"
        ),
        pytest.param(b"\xef\xbb\xbf" + GOOD, 1, ("a byte order mark at the start was left out",), id="mark"),
        pytest.param(b"\n" + GOOD + b"\n  \n", 1, ("2 blank lines were left out",), id="blank-lines"),
        pytest.param(
            lines(row("a", "b", id=1), row("c", "d", id=2, source="x")),
            2,
            (
                "2 rows have a field that training does not read: id",
                "1 row has a field that training does not read: source",
            ),
            id="metadata",
        ),
        pytest.param(lines(*[row("a", "b")] * 4), 4, ("3 rows repeat an earlier one",), id="repeats"),
        pytest.param(lines(row("only an answer")), 1, (), id="answer-alone"),
        pytest.param(
            lines({"messages": [{"role": r, "content": "x"} for r in ("system", "user", "tool", "assistant")]}),
            1,
            (),
            id="all-roles",
        ),
        pytest.param(lines(row("line one\u2028line two", "\x85")), 1, (), id="unicode-line-ends-in-text"),
    ],
)
def test_what_is_accepted_and_noticed(home: Home, data: bytes, count: int, findings: tuple[str, ...]) -> None:
    """Harmless oddities are accepted, and said."""
    found = stored(home, data)
    assert (found.example_count, found.findings) == (count, findings)


def message(**fields: Any) -> bytes:
    """A row whose first message is replaced by these fields."""
    return lines({"messages": [fields, {"role": "assistant", "content": "b"}]})


@pytest.mark.parametrize(
    ("bad", "reason"),
    [
        pytest.param(b"{", "not JSON: .* at column 2", id="broken"),
        pytest.param(GOOD + GOOD, "not JSON: Extra data", id="two-on-a-line"),
        pytest.param(b"[", "not JSON", id="one-list-over-many-lines"),
        pytest.param(b"[]", "not an object but a list", id="list"),
        pytest.param(b'"text"', "not an object but text", id="text"),
        pytest.param(b"null", "not an object but null", id="null"),
        pytest.param(b"\xff\xfe{\0", "not UTF-8 \\(byte 1\\)", id="utf-16"),
        pytest.param(GOOD.replace(b"Hi", b"\xe4"), "not UTF-8", id="latin-1"),
        pytest.param(GOOD.replace(b"Hi", b"\0"), "not JSON: Invalid control character", id="raw-nul"),
        pytest.param(GOOD.replace(b"Hi", b"\\u0000"), "messages\\[0\\].content holds a NUL", id="escaped-nul"),
        pytest.param(GOOD.replace(b"Hi", b"\\ud800"), "lone surrogate", id="lone-surrogate"),
        pytest.param(GOOD[:-1] + b', "messages": []}', "the key 'messages' is there twice", id="key-twice"),
        pytest.param(GOOD[:-1] + b', "x": {"k": 1, "k": 1}}', "the key 'k' is there twice", id="inner-key-twice"),
        pytest.param(GOOD[:-1] + b', "x": NaN}', "NaN is not JSON", id="nan"),
        pytest.param(GOOD[:-1] + b', "x": -Infinity}', "-Infinity is not JSON", id="infinity"),
        pytest.param(GOOD[:-1] + b', "x": 1e400}', "beyond what a float holds", id="too-large-a-number"),
        pytest.param(GOOD[:-1] + b', "x": ' + b"9" * 5000 + b"}", "not JSON", id="too-many-digits"),
        pytest.param(GOOD[:-1] + b', "x": ' + b"[" * 10**5 + b"]" * 10**5 + b"}", "nested too deeply", id="deep"),
        pytest.param(b"{}", "no `messages`", id="no-messages"),
        pytest.param(b'{"messages": []}', "no `messages`", id="empty-messages"),
        pytest.param(b'{"messages": {"role": "user"}}', "no `messages`", id="messages-no-list"),
        pytest.param(b'{"messages": ["Hi"]}', "messages\\[0\\] is text", id="message-no-object"),
        pytest.param(message(role="robot", content="a"), "role is 'robot', and must be one of system", id="role"),
        pytest.param(message(content="a"), "role is None", id="no-role"),
        pytest.param(message(role=["user"], content="a"), "role is \\['user'\\]", id="role-no-text"),
        pytest.param(message(role="x" * 999, content="a"), "role is 'xxx.{0,60}\\.\\.\\.,", id="long-role"),
        pytest.param(message(role="user"), "content is null or missing", id="no-content"),
        pytest.param(message(role="user", content=""), "content is empty", id="empty-content"),
        pytest.param(message(role="user", content=7), "content is a number", id="content-no-text"),
        pytest.param(message(role="user", content=[{"type": "text"}]), "trains on text only", id="parts"),
        pytest.param(message(role="user", content="a", mood=1), r"messages\[0\] has an unknown field `mood`", id="key"),
        pytest.param(message(role="user", content="a", weight=0), "weights of single messages", id="weight"),
        pytest.param(message(role="assistant", content="a", tool_calls=[]), "tool calls", id="tool-calls"),
        pytest.param(lines(row("a", "b", tools=[])), "`tools`: this trainer does not train on tool calls", id="tools"),
        pytest.param(lines({"prompt": "a", "chosen": "b", "rejected": "c"}), "preference pairs", id="preference"),
        pytest.param(lines({"messages": row("a", "b")["messages"][:1]}), "last message is from 'user'", id="no-answer"),
    ],
)  # fmt: skip
def test_a_bad_row_is_named(home: Home, bad: bytes, reason: str) -> None:
    """The first bad row is named by its line in the file, blank ones counted; nothing is kept."""
    with pytest.raises(errors.Invalid, match=f"^line 3: .*{reason}"):
        stored(home, GOOD + b"\n\n" + bad + b"\n" + b"{\n")
    assert (os.listdir(home.datasets), os.listdir(home.uploads)) == ([], [])


@pytest.mark.parametrize("data", [b"", b"\n \r\n", b"\xef\xbb\xbf"], ids=["nothing", "blank", "mark"])
def test_an_empty_file_is_refused(home: Home, data: bytes) -> None:
    """A dataset has at least one row."""
    with pytest.raises(errors.Invalid, match="holds no row"):
        stored(home, data)


def test_too_large_a_file_is_refused_unread(home: Home) -> None:
    """A file beyond the limit is refused by its size alone, however bad its content, and the limit is named."""
    path = home.path.with_name("rows.jsonl")
    with path.open("wb") as file:
        file.truncate(200 * 10**6)
    with pytest.raises(errors.Exhausted, match=rf"at most {uploads.LIMIT // 2**20} MiB, .* 190\.7 MiB"):
        datasets.store(home, path)


def test_a_full_disk_keeps_nothing(home: Home) -> None:
    """Rows that do not fit on the disk leave no file behind."""
    path = home.path.with_name("rows.jsonl")
    path.write_bytes(lines(*(row(f"question {i}", "answer") for i in range(500))))
    assert "cannot be written" in processes.run(FULL, home.path, path)
    assert (os.listdir(home.datasets), os.listdir(home.uploads)) == ([], [])


def test_missing_rows_are_said(home: Home) -> None:
    """Rows whose file is gone are not taken for none."""
    with pytest.raises(errors.NotFound, match="aaaaaaaaaaaa"):
        datasets.rows(home, "a" * 64)


def test_registering_equal_rows_reaches_the_first(home: Home) -> None:
    """Equal rows are one dataset, whatever file they came in; a name given with them moves to it."""
    path = home.path.with_name("rows.jsonl")
    with Catalog.open(home) as catalog:
        path.write_bytes(lines(row("a", "b")))
        first = datasets.register(home, catalog, path, name="train")
        path.write_bytes(b"\n" + lines(row("a", "b")))
        again = datasets.register(home, catalog, path, name="eval")
        assert (first.names, again.names) == (("train",), ("eval", "train"))
        assert (again.hash, again.findings, again.created_at) == (first.hash, (), first.created_at)


def test_a_bad_name_is_refused_before_the_rows_are_read(home: Home) -> None:
    """A dataset that cannot have its name is not kept either."""
    path = home.path.with_name("rows.jsonl")
    path.write_bytes(lines(row("a", "b")))
    with Catalog.open(home) as catalog, pytest.raises(errors.Invalid, match="cannot name a dataset"):
        datasets.register(home, catalog, path, name="Train Set")
    assert os.listdir(home.datasets) == []


UPLOAD_ID = "0123456789abcdef" * 2


def arrived(home: Home, data: bytes, upload_id: str = UPLOAD_ID) -> uploads.Upload:
    """An upload whose bytes are all there."""
    uploads.write(home, upload_id, 0, data)
    return uploads.Upload(upload_id, hashlib.sha256(data).hexdigest())


def test_an_upload_that_is_registered_again_reaches_its_dataset(home: Home) -> None:
    """Its reply was lost: the same dataset, and a name that was taken away meanwhile is not moved back."""
    with Catalog.open(home) as catalog:
        upload = arrived(home, lines(row("a", "b")))
        first = datasets.create(home, catalog, upload, name="train")
        assert datasets.create(home, catalog, upload, name="train") == first
        datasets.create(home, catalog, arrived(home, lines(row("c", "d")), "f" * 32), name="train")
        again = datasets.create(home, catalog, upload, name="train")
        assert (again.hash, again.names) == (first.hash, ())
        assert len(catalog.datasets()) == 2
    assert os.listdir(home.uploads) == []


def test_an_upload_is_bound_to_how_it_was_registered(home: Home) -> None:
    """Under another name, or with another digest, it is a conflict that names both."""
    with Catalog.open(home) as catalog:
        upload = arrived(home, lines(row("a", "b")))
        made = datasets.create(home, catalog, upload, name="train")
        with pytest.raises(errors.Conflict) as caught:
            datasets.create(home, catalog, upload, name="eval")
        assert caught.value.message == (
            f"upload {UPLOAD_ID} became dataset {made.hash[:12]} with name train instead of eval"
        )
        assert caught.value.field == "name"
        with pytest.raises(errors.Conflict, match="name train instead of none"):
            datasets.create(home, catalog, upload)
        with pytest.raises(errors.Conflict, match=r"with sha256 \w+ instead of 0000"):
            datasets.create(home, catalog, uploads.Upload(UPLOAD_ID, "0" * 64), name="train")
        assert catalog.dataset(made.hash).names == ("train",)


def test_what_is_left_of_a_registered_upload_is_cleared_away(home: Home) -> None:
    """Where the process died between the two."""
    with Catalog.open(home) as catalog:
        upload = arrived(home, lines(row("a", "b")))
        datasets.create(home, catalog, upload)
        arrived(home, lines(row("a", "b")))
        datasets.create(home, catalog, upload)
    assert os.listdir(home.uploads) == []


def test_an_upload_is_forgotten_after_a_day(home: Home) -> None:
    """Then it is unknown, as one that never came; the dataset stays."""
    now = ["2026-01-01T00:00:00.000Z"]
    with Catalog.open(home, now=lambda: now[0]) as catalog:
        upload = arrived(home, lines(row("a", "b")))
        made = datasets.create(home, catalog, upload)
        for moment, known in (("2026-01-01T23:59:00.000Z", True), ("2026-01-02T00:01:00.000Z", False)):
            now[0] = moment
            datasets.create(
                home, catalog, arrived(home, lines(row("c", moment)), hashlib.md5(moment.encode()).hexdigest())
            )
            assert (catalog.registered(upload, name=None) == made) is known
        with pytest.raises(errors.NotFound, match="no upload"):
            datasets.create(home, catalog, upload)
        assert catalog.dataset(made.hash) == made


def test_two_requests_for_one_upload_at_once(home: Home) -> None:
    """Both get the dataset, whichever takes the file."""
    with Catalog.open(home) as catalog:
        upload = arrived(home, lines(*(row(f"question {i}", "answer") for i in range(500))))
        with ThreadPoolExecutor(4) as pool:
            made = list(pool.map(lambda _: datasets.create(home, catalog, upload, name="train"), range(4)))
        assert len({each.hash for each in made}) == 1
        assert len(catalog.datasets()) == 1
    assert os.listdir(home.uploads) == []


def test_a_row_that_is_refused_registers_nothing(home: Home) -> None:
    """The upload is gone, and not remembered."""
    with Catalog.open(home) as catalog:
        upload = arrived(home, b"{")
        with pytest.raises(errors.Invalid, match="line 1"):
            datasets.create(home, catalog, upload)
        with pytest.raises(errors.NotFound, match="no upload"):
            datasets.create(home, catalog, upload)
        assert catalog.datasets() == ()
