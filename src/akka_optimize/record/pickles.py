"""What a saved training state would call when it is loaded, told without loading it."""

from __future__ import annotations

import pickletools
import zipfile
import zlib
from struct import error as StructError
from typing import TYPE_CHECKING, BinaryIO, Final

if TYPE_CHECKING:
    from collections.abc import Iterator

STORAGES: Final = ("Bool", "Byte", "Char", "Short", "Int", "Long", "Half", "BFloat16", "Float", "Double", "Untyped")
HARMLESS: Final = frozenset(
    {
        "collections.OrderedDict",
        "torch.Size",
        "torch._utils._rebuild_parameter",
        "torch._utils._rebuild_tensor_v2",
        *(f"torch.{kind}Storage" for kind in STORAGES),
        *(f"torch.storage.{kind}Storage" for kind in STORAGES),
    }
)
PICKLE: Final = "data.pkl"
ZIP, JSON = b"PK\x03\x04", b"{"
MOST_BYTES = 64 * 2**20  # of a pickle that is looked through; the tensors themselves lie beside it
DAMAGE: Final = (
    *(zipfile.BadZipFile, zlib.error, StructError, EOFError, OSError),
    *(KeyError, NotImplementedError, RuntimeError, OverflowError),
)
NAMES: Final = frozenset({"GLOBAL", "INST"})
TEXTS: Final = frozenset({"SHORT_BINUNICODE", "BINUNICODE", "BINUNICODE8", "UNICODE", "STRING", "BINSTRING"})
EXTENSIONS: Final = frozenset({"EXT1", "EXT2", "EXT4"})
PUTS: Final = frozenset({"PUT", "BINPUT", "LONG_BINPUT"})
GETS: Final = frozenset({"GET", "BINGET", "LONG_BINGET"})


def called(stream: BinaryIO) -> tuple[str, ...]:
    """What loading a training state would call beyond what tensors need, each once, by its dotted name.

    As torch does, the first bytes decide how the rest is read. A state that an engine wrote as JSON calls nothing.
    Raises ValueError, with the reason, for a file that is no training state.
    """
    begin = stream.read(len(ZIP))
    stream.seek(0)
    if begin.startswith(JSON):
        return ()
    names = _named(_pickle(stream) if begin == ZIP else stream.read(MOST_BYTES))
    found = []
    try:
        for name in names:
            if name not in HARMLESS:
                found.append(name)
    except ValueError:
        if not found:
            raise
    if begin != ZIP and not found:
        raise ValueError("is not an archive as torch writes it")
    return tuple(dict.fromkeys(found))


def _pickle(stream: BinaryIO) -> bytes:
    """The one pickle of an archive. Raises ValueError."""
    try:
        with zipfile.ZipFile(stream) as archive:
            pickles = [info for info in archive.infolist() if info.filename.endswith(".pkl")]
            if [info.filename.rpartition("/")[2] for info in pickles] != [PICKLE]:
                raise ValueError(f"does not hold one {PICKLE}, as torch writes it")
            if pickles[0].file_size > MOST_BYTES:
                raise ValueError(f"holds a {PICKLE} of more than {MOST_BYTES // 2**20} MiB")
            return archive.read(pickles[0])
    except DAMAGE as error:
        raise ValueError("is not an archive as torch writes it, or it is damaged") from error


def _named(content: bytes) -> Iterator[str]:
    """Every name that a pickle looks up, dotted. Raises ValueError for what is no pickle."""
    texts: list[str | None] = []  # what the latest opcodes put on the stack, as far as it is text
    memo: dict[object, str | None] = {}
    try:
        for opcode, argument, _ in pickletools.genops(content):
            if opcode.name in NAMES:
                yield str(argument).replace(" ", ".", 1)
            elif opcode.name in EXTENSIONS:
                yield f"extension {argument}"
            elif opcode.name == "STACK_GLOBAL":
                module, name = ([None, None, *texts])[-2:]
                yield "a name that is made up while it is loaded" if None in (module, name) else f"{module}.{name}"
            if opcode.name in TEXTS:
                texts.append(str(argument))
            elif opcode.name in GETS:
                texts.append(memo.get(argument))
            elif opcode.name == "MEMOIZE" or opcode.name in PUTS:
                memo[len(memo) if argument is None else argument] = texts[-1] if texts else None
            else:
                texts = []
    except (ValueError, StructError, IndexError, UnicodeError, OverflowError, MemoryError) as error:
        raise ValueError("holds a pickle that is damaged") from error
