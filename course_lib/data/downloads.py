"""Well-known texts and weights, fetched by name when they are asked for; the course never needs one.

A file is downloaded once, to the cache, and checked against its checksum where one is known. It appears in the cache only
when it is complete: a download that broke off leaves nothing behind and is simply tried again.
"""

import logging
import os
from dataclasses import dataclass
from pathlib import Path

from course_lib import paths


@dataclass(frozen=True)
class Source:
    """Where a file is, what it is called in the cache, and its SHA-256 where that is known."""

    url: str
    name: str
    size: str
    sha256: str | None = None


_TINYSTORIES = (
    "https://huggingface.co/datasets/roneneldan/TinyStories/resolve/f54c09fd23315a6f9c86f9dc80f725de7d8f9c64/"
)
_GPT2 = "https://huggingface.co/openai-community/gpt2/resolve/607a30d783dfa663caf39e06633721c8d4cfcd7e/"
_GPT2_FILES = {  # file: (size, SHA-256)
    "config.json": ("1 kB", "0daed7749b4f02b8f76240d5444551d7b08712dab4d0adb8239c56ba823bb7b4"),
    "vocab.json": ("1.0 MB", "196139668be63f3b5d6574427317ae82f612a97c5d1cdaf36ed2256dbf636783"),
    "merges.txt": ("0.5 MB", "1ce1664773c50f3e0cc8842619a93edc4624525b728b188a9e0be33b7726adc5"),
    "model.safetensors": ("548 MB", "248dfc3911869ec493c76e65bf2fcf7f615828b0254c12b473182f0f81d3a707"),
}
SOURCES = {
    f"gpt2/{name}": Source(_GPT2 + name, f"gpt2-{name}", size, sha256) for name, (size, sha256) in _GPT2_FILES.items()
} | {
    "shakespeare": Source(
        "https://raw.githubusercontent.com/karpathy/char-rnn/master/data/tinyshakespeare/input.txt",
        "tinyshakespeare.txt",
        "1.1 MB",
        "86c4e6aa9db7c042ec79f339dcb96d42b0075e16b8fc2e86bf0ca57e2dc565ed",
    ),
    "tinystories": Source(_TINYSTORIES + "TinyStoriesV2-GPT4-train.txt", "tinystories-train.txt", "2.2 GB"),
    "tinystories-validation": Source(
        _TINYSTORIES + "TinyStoriesV2-GPT4-valid.txt", "tinystories-validation.txt", "22 MB"
    ),
}


class DownloadError(OSError):
    """A download that did not succeed, and what to do instead."""


def fetch(name: str, progress: bool = False) -> Path:
    """The file of one of SOURCES, downloaded unless it is in the cache. Raises DownloadError."""
    import pooch
    import requests

    source = SOURCES[name]
    folder = paths.cache("downloads")
    pooch.get_logger().setLevel(logging.WARNING)  # it would print the path, and the hash of what has no known one
    downloader = pooch.HTTPDownloader(progressbar=progress, timeout=30, headers={"Accept-Encoding": "identity"})
    try:
        found = pooch.retrieve(source.url, source.sha256, source.name, folder, downloader=downloader)
    except requests.RequestException as error:
        raise DownloadError(_sentence(source, folder, _reason(error))) from None
    except ValueError:  # pooch's word for a checksum that does not fit
        raise DownloadError(
            _sentence(source, folder, "what came is not the file we know (its checksum differs)")
        ) from None
    return Path(found)


def _reason(error: Exception) -> str:
    response = getattr(error, "response", None)
    if response is not None:
        return f"the server answered {response.status_code} {response.reason}"
    if "IncompleteRead" in str(error):
        return "the connection broke off before the end"
    return f"there was no connection ({type(error).__name__})"


def _sentence(source: Source, folder: Path, reason: str) -> str:
    return (
        f"{source.name} ({source.size}) could not be downloaded: {reason}. Try the same command again later, or put the "
        f"file at {os.path.join(folder, source.name)} yourself; it comes from {source.url}. "
        + ("" if source.url.startswith(_GPT2) else "Without it there are always --corpus stories and --text PATH.")
    )
