"""Right answers to the exercises of chapter 13, written in other ways than ours."""

RIGHT = {
    "best_pair": [
        """def best_pair(text):
    counts = Counter(pairs(text))
    return sorted(counts, key=lambda pair: (-counts[pair], pair))[0]
""",
        """def best_pair(text):
    counts = Counter(pairs(text))
    largest = max(counts.values())
    return min(pair for pair in counts if counts[pair] == largest)
""",
    ],
    "count_pairs": [
        """def count_pairs(words):
    counts = {}
    for word in words:
        for i in range(1, len(word)):
            pair = word[i - 1] + word[i]
            if pair not in counts:
                counts[pair] = 0
            counts[pair] += words[word]
    return counts
""",
        """def count_pairs(words):
    all_pairs = [pair for word, often in words.items() for pair in pairs(word) * often]
    return {pair: all_pairs.count(pair) for pair in all_pairs}
""",
    ],
    "merge": [
        """def merge(word, pair, symbol):
    merged = []
    skip = False
    for i, value in enumerate(word):
        if skip:
            skip = False
        elif tuple(word[i:i + 2]) == tuple(pair):
            merged.append(symbol)
            skip = True
        else:
            merged.append(value)
    return merged
""",
        """def merge(word, pair, symbol):
    word = list(word)
    i = 0
    while i < len(word) - 1:
        if word[i] == pair[0] and word[i + 1] == pair[1]:
            word[i:i + 2] = [symbol]
        i += 1
    return word
""",
        """def merge(word, pair, symbol):
    if len(word) < 2:
        return list(word)
    if (word[0], word[1]) == pair:
        return [symbol] + merge(word[2:], pair, symbol)
    return [word[0]] + merge(word[1:], pair, symbol)
""",
    ],
    "learn_merges": [
        """from collections import Counter, defaultdict

def learn_merges(pieces, entries):
    words, counts, where = [list(piece) for piece in pieces], Counter(), defaultdict(set)
    often = list(pieces.values())
    def put(i, sign):
        for pair in zip(words[i], words[i][1:]):
            counts[pair] += sign * often[i]
            if sign > 0:
                where[pair].add(i)
            elif counts[pair] == 0:
                del counts[pair]
    for i in range(len(words)):
        put(i, 1)
    learned = []
    while counts and len(learned) < entries:
        best = sorted(counts, key=lambda p: (-counts[p], rank(p[0]), rank(p[1])))[0]
        symbol = 256 + len(learned)
        learned.append(best)
        for i in where.pop(best):
            put(i, -1)
            words[i] = merge(words[i], best, symbol)
            put(i, 1)
    return learned
""",
        """def learn_merges(pieces, entries):
    learned = []
    table = [[list(piece), often] for piece, often in pieces.items()]
    for number in range(256, 256 + entries):
        counts = {}
        for word, often in table:
            for i in range(1, len(word)):
                counts[word[i - 1], word[i]] = counts.get((word[i - 1], word[i]), 0) + often
        if len(counts) == 0:
            return learned
        best, best_key = None, None
        for (left, right), count in counts.items():
            key = (count, -rank(left), -rank(right))
            if best is None or key > best_key:
                best, best_key = (left, right), key
        learned.append(best)
        for row in table:
            row[0] = merge(row[0], best, number)
    return learned
""",
    ],
    "apply_merges": [
        """def apply_merges(piece, ranks):
    word = list(piece)
    for pair, (rank, symbol) in sorted(ranks.items(), key=lambda item: item[1]):
        word = merge(word, pair, symbol)
    return word
""",
        """def apply_merges(piece, ranks):
    word = [b for b in piece]
    while True:
        lowest, at = None, -1
        for i in range(len(word) - 1):
            entry = ranks.get((word[i], word[i + 1]))
            if entry is not None and (lowest is None or entry[0] < lowest):
                lowest, at = entry[0], i
        if at == -1:
            return word
        word[at:at + 2] = [ranks[word[at], word[at + 1]][1]]
""",
    ],
    "decode_tokens": [
        """def decode(spelling, ids):
    data = bytearray()
    for token in ids:
        data.extend(spelling[token])
    return str(data, "utf-8", errors="replace")
""",
        """import codecs

def decode(spelling, ids):
    decoder = codecs.getincrementaldecoder("utf-8")("replace")
    text = ""
    for token in ids:
        text += decoder.decode(spelling[token])
    return text + decoder.decode(b"", final=True)
""",
        """def decode(spelling, ids):
    data = b""
    for i in range(len(ids)):
        data = data + spelling[ids[i]]
    return data.decode(errors="replace")
""",
    ],
    "split_special": [
        """def split_special(text, special_tokens):
    parts, plain, at = [], "", 0
    while at < len(text):
        fitting = [token for token in special_tokens if text.startswith(token, at)]
        if fitting:
            longest = max(fitting, key=len)
            if plain:
                parts.append(plain)
            parts.append(longest)
            plain = ""
            at += len(longest)
        else:
            plain += text[at]
            at += 1
    return parts + [plain] if plain else parts
""",
        """import re

def split_special(text, special_tokens):
    if not special_tokens:
        return [text] * bool(text)
    pattern = re.compile("|".join(re.escape(t) for t in sorted(special_tokens, key=lambda t: -len(t))))
    parts, end = [], 0
    for match in pattern.finditer(text):
        if match.start() > end:
            parts.append(text[end:match.start()])
        parts.append(match.group())
        end = match.end()
    if end < len(text):
        parts.append(text[end:])
    return parts
""",
        """def split_special(text, special_tokens):
    if not text:
        return []
    places = [(text.find(t), -len(t), t) for t in special_tokens if t in text]
    if not places:
        return [text]
    at, _, token = min(places)
    return [text[:at]] * (at > 0) + [token] + split_special(text[at + len(token):], special_tokens)
""",
    ],
    "fewest_tokens": [
        """def fewest_tokens(piece, vocabulary):
    tokens = []
    while piece:
        size = max(n for n in range(1, len(piece) + 1) if piece[:n] in vocabulary)
        tokens.append(piece[:size])
        piece = piece[size:]
    return tokens
""",
        """def fewest_tokens(piece, vocabulary):
    waiting, before = [0], {0: None}
    longest = max(map(len, vocabulary))
    while len(piece) not in before:
        at = waiting.pop(0)
        for end in range(at + 1, min(len(piece), at + longest) + 1):
            if end not in before and piece[at:end] in vocabulary:
                before[end] = at
                waiting.append(end)
    tokens, at = [], len(piece)
    while before[at] is not None:
        tokens.insert(0, piece[before[at]:at])
        at = before[at]
    return tokens
""",
        "def fewest_tokens(piece, vocabulary):\n    return [bytes([b]) for b in piece]",
    ],
}  # fmt: skip
