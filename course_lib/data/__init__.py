"""Text to batches: corpora, token files, windows, the floor, the bigram baseline.

corpus = data.prepare("stories", vocab_size=2048, context=192)      or  data.prepare(text="my_writing.txt")
idx, targets = corpus.train.batch(step, batch_size)                 int32 (B, T), a function of (seed, step)
for idx, targets in corpus.validation.batches(batch_size): ...      fixed; targets that do not count are -1
corpus.floor, corpus.tokenizer, corpus.describe(), data.bigram_loss(corpus)
"""

from course_lib.data.corpus import NAMES, Corpus, bigram_loss, prepare
from course_lib.data.downloads import DownloadError
from course_lib.data.lookups import Lookups
from course_lib.data.texts import TextError
from course_lib.data.token_file import DamagedFile
from course_lib.data.windows import IGNORE, Batch, Training, Validation

__all__ = [
    "IGNORE", "NAMES", "Batch", "Corpus", "DamagedFile", "DownloadError", "Lookups", "TextError", "Training", "Validation",
    "bigram_loss", "prepare",
]  # fmt: skip
