# %% [markdown]
# # 13 The tokenizer: exercises
#
# The lecture: [13 The tokenizer](../notebooks/13_tokenizer.ipynb).
#
# In the lecture a symbol was a character, and a merge was Python's `replace`. The library works with numbers: a symbol below
# 256 is the byte of that value, a larger one is a merged token. A word is a list of symbols.

# %% [markdown]
# ## The pair that wins
#
# Return the pair of adjacent characters that occurs most often in `text`; of equally frequent pairs, the first in the alphabet.
# In `"banana"` both `an` and `na` occur twice, so `best_pair("banana")` is `"an"`. `Counter` and `pairs` of the cell above are
# there.


# %% exercise="best_pair" lecture=true
def best_pair(text):
    counts = Counter(pairs(text))
    # yours: the best one
    return min(counts, key=lambda pair: (-counts[pair], pair))
    # end


# %% [markdown]
# ## One merge
#
# The library works with numbers: a word is a list of symbols, a byte is a symbol below 256, a merged token a larger one.
# Replace a pair in a word, everywhere, from the left to the right: `merge([5, 1, 2, 6], (1, 2), 9)` is `[5, 9, 6]`. A symbol is
# used once: in `[7, 7, 7]` the pair `(7, 7)` is found at index 0, so the result is `[9, 7]`.
#
# Do not change the given word; return a new list. (`Pair` is a tuple of two symbols.) All of BPE is built on this function.

# %% exercise="merge" lecture=true
# include course_lib/bpe.py merge: loop over the word, and return the new one

# %% [markdown]
# ## Count once for all
#
# `words` says how often each pre-token occurs. Count the pairs of adjacent characters of the whole corpus, and return a dict:
# `count_pairs({"abc": 2, "ab": 5})` is `{"ab": 7, "bc": 2}`. `pairs` and `Counter` are there.


# %% exercise="count_pairs" lecture=true
def count_pairs(words):
    counts = {}
    # yours: all pairs of all words, each as often as it occurs
    for word, often in words.items():
        for pair in pairs(word):
            counts[pair] = counts.get(pair, 0) + often
    # end
    return counts


# %% [markdown]
# ## Find the fault: half a character
#
# `spelling[id]` is the bytes of a token. `decode` should give the text of some ids, with � for an incomplete character, also
# if a model stops in the middle of one. It works for English. But `decode([b"\xc3", b"\xa9"], [0, 1])` should be `"é"`, which
# has these two bytes. Fix it.


# %% exercise="decode_tokens" lecture=true
def decode(spelling, ids):
    """The text of some ids. spelling: the bytes of each token."""
    # yours: fix the line below
    return b"".join(spelling[token] for token in ids).decode("utf-8", "replace")
    # instead
    # return "".join(spelling[token].decode("utf-8", "replace") for token in ids)
    # end


# %% [markdown]
# ## 1. Learn the merges
#
# The loop of byte-pair encoding, as in the lecture, but on numbers, and exactly as the library's tokenizer needs it. `pieces`
# says how often each pre-token occurs, as `{b"abc": 2}`; `list(b"abc")` is `[97, 98, 99]`. Return the learned pairs
# in their order: with two entries `[(97, 98), (256, 99)]`.
#
# - The most frequent pair is merged first. Of equally frequent pairs, take the one whose left symbol comes first in the
#   alphabet of visible characters; if that is the same, the one whose right symbol does. Merged symbols come after all
#   bytes, in the order of learning. `rank(symbol)` gives the index in this order.
# - The first merge makes the symbol 256, the next one 257, and so on. It takes part in later pairs like any other.
# - Stop after `entries` merges, or when no pair is left.
#
# `merge` and `rank` are there for you. A slow, clear version is fine: the corpus here is small.


# %% exercise="learn_merges"
def learn_merges(pieces, entries):
    """The pairs of symbols that are merged, `entries` at most, in the order they are learned."""
    # yours: count, choose, merge, again and again
    words = [(list(piece), often) for piece, often in pieces.items()]
    merges = []
    while len(merges) < entries:
        counts = {}
        for word, often in words:
            for i in range(len(word) - 1):
                pair = word[i], word[i + 1]
                counts[pair] = counts.get(pair, 0) + often
        if not counts:
            break
        best = min(counts, key=lambda pair: (-counts[pair], rank(pair[0]), rank(pair[1])))
        words = [(merge(word, best, 256 + len(merges)), often) for word, often in words]
        merges.append(best)
    return merges
    # end


# %% [markdown]
# ## 2. Encode a pre-token
#
# The lecture tried *all* merges on each word. With 4,000 of them that is slow. The library checks only the pairs that occur
# in the word: again and again it merges the one that was learned first, until no pair of the word is a merge.
#
# `piece` is the bytes of a pre-token. `ranks[pair]` is `(rank, symbol)`: the rank of this merge in the order of learning, 0
# for the first, and the symbol that replaces the pair. Return the list of symbols: `apply_merges(b"abc", {(98, 99): (0, 256),
# (97, 98): (1, 257)})` is `[97, 256]`.
#
# `merge` of the lecture and Python's `pairwise` (all adjacent pairs of a list) are there for you. With
# `course.use_my_answers()` it encodes every different pre-token of the stories that your models read.


# %% exercise="apply_merges"
def apply_merges(piece, ranks):
    """The symbols of one pre-token, as a list."""
    # yours: merge the pair with the smallest rank, as long as there is one
    word = list(piece)
    while found := [pair for pair in pairwise(word) if pair in ranks]:
        best = min(found, key=lambda pair: ranks[pair][0])
        word = merge(word, best, ranks[best][1])
    return word
    # end


# %% [markdown]
# ## 3. Special tokens (stretch)
#
# Between two stories there is the special token `<|endoftext|>`. It has an id of its own, and must never be split. So before
# anything else, the text is split at the special tokens.
#
# Return the parts in order: special tokens, and the text between them. Joined, the parts give the text again; none is empty.
# `split_special("a<end>b", ("<end>",))` is `["a", "<end>", "b"]`. Search from left to right. If two special tokens match at
# the same position, the longer one counts. Without special tokens the whole text is one part.
#
# `regex` is there for you (Python's `re` works as well): `regex.escape(text)` makes a pattern that matches just this text. You
# need not use it.

# %% exercise="split_special"
# include course_lib/tokenizer.py split_special: split, and return the list of parts

# %% [markdown]
# ## 4. Challenge: fewer tokens (stretch)
#
# The merges are quick, and nearly the best, but not quite: with the same vocabulary, about one token in a thousand can be
# saved. Fewer tokens are less work for the model, at every step. Any split is right here if the tokens are in the
# vocabulary and give the pre-token when joined. How few can you reach? On the same words the merges themselves need 8,013.
#
# `piece` is the bytes of a pre-token, `vocabulary` a set of bytes with all single bytes in it. With the tokens `ab`, `abc` and
# `cde`, the best result of `fewest_tokens(b"abcde", vocabulary)` is `[b"ab", b"cde"]`. The verdict counts your tokens for all
# words of 25 stories, and records your attempts.


# %% exercise="fewest_tokens"
def fewest_tokens(piece, vocabulary):
    """`piece` cut into tokens of the vocabulary, as few as possible: a list of bytes."""
    # yours: split, and return the list of tokens
    best = [[]]
    for end in range(1, len(piece) + 1):
        found = [best[start] + [piece[start:end]] for start in range(end) if piece[start:end] in vocabulary]
        best.append(min(found, key=len))
    return best[-1]
    # end
