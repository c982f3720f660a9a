// learn_merges of bpe.py, in C++: the same steps in the same order, for corpora where Python's seconds become minutes.
// The pre-tokens come as one run of bytes with the end of each; the merges go out as pairs of symbols.

#include <algorithm>
#include <cstdint>
#include <queue>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

namespace {

using Pair = uint64_t;  // left symbol in the high half, right symbol in the low one

Pair make_pair(int32_t left, int32_t right) { return (uint64_t(uint32_t(left)) << 32) | uint32_t(right); }
int32_t left_of(Pair pair) { return int32_t(pair >> 32); }
int32_t right_of(Pair pair) { return int32_t(pair & 0xffffffffu); }

struct PairHash {  // splitmix64's finaliser: symbols are small numbers, so the bits must be stirred
    size_t operator()(Pair x) const {
        x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9ull;
        x = (x ^ (x >> 27)) * 0x94d049bb133111ebull;
        return size_t(x ^ (x >> 31));
    }
};

struct Occurrences {
    int64_t count = 0;
    std::vector<int64_t> words;  // ascending, each once; some may have lost the pair since
};

struct Entry {
    int64_t count;
    uint64_t order;  // ties: the lowest left symbol, then the lowest right one
    Pair pair;
    bool operator<(const Entry& other) const {
        return count != other.count ? count < other.count : order > other.order;
    }
};

}  // namespace

// Returns the number of merges written to `merges` (capacity x 2), or -1 if there is no room for them.
extern "C" int64_t learn_merges(const uint8_t* text, const int64_t* ends, const int64_t* counts, const int32_t* byte_order,
                                int32_t* merges, int64_t pieces, int64_t entries, int64_t capacity) {
    std::vector<std::string> spelling;
    std::unordered_map<std::string, int32_t> symbols;
    std::vector<int32_t> order(byte_order, byte_order + 256);
    for (int32_t byte = 0; byte < 256; ++byte) {
        spelling.emplace_back(1, char(byte));
        symbols[spelling.back()] = byte;
    }

    std::vector<std::vector<int32_t>> words(pieces);
    std::unordered_map<Pair, Occurrences, PairHash> table;
    auto gain = [&](Pair pair, int64_t word) {
        Occurrences& found = table[pair];
        found.count += counts[word];
        if (found.words.empty() || found.words.back() != word) found.words.push_back(word);
    };
    for (int64_t word = 0; word < pieces; ++word) {
        words[word].assign(text + (word ? ends[word - 1] : 0), text + ends[word]);
        for (size_t i = 0; i + 1 < words[word].size(); ++i) gain(make_pair(words[word][i], words[word][i + 1]), word);
    }

    std::priority_queue<Entry> heap;
    auto offer = [&](Pair pair, int64_t count) {
        heap.push({count, uint64_t(make_pair(order[left_of(pair)], order[right_of(pair)])), pair});
    };
    for (const auto& [pair, found] : table) offer(pair, found.count);

    int64_t learned = 0;
    std::vector<Pair> grown;
    while (int64_t(spelling.size()) < 256 + entries && !heap.empty()) {
        const Entry best = heap.top();
        heap.pop();
        Occurrences& chosen = table[best.pair];
        if (chosen.count != best.count) {  // stale: put it back with its true count
            if (chosen.count > 0) offer(best.pair, chosen.count);
            continue;
        }
        if (learned == capacity) return -1;
        const int32_t left = left_of(best.pair), right = right_of(best.pair);
        const auto [at, fresh] = symbols.try_emplace(spelling[left] + spelling[right], int32_t(spelling.size()));
        const int32_t symbol = at->second;
        if (fresh) {
            spelling.push_back(at->first);
            order.push_back(symbol);
        }
        merges[2 * learned] = left;
        merges[2 * learned + 1] = right;
        ++learned;

        const std::vector<int64_t> holders = std::move(chosen.words);
        chosen.words.clear();
        grown.clear();
        for (const int64_t index : holders) {
            std::vector<int32_t>& word = words[index];
            std::vector<int32_t> merged;
            merged.reserve(word.size());
            for (size_t i = 0; i < word.size(); ++i) {
                const bool here = word[i] == left && i + 1 < word.size() && word[i + 1] == right;
                merged.push_back(here ? symbol : word[i]);
                i += here;
            }
            if (merged.size() == word.size()) continue;
            for (size_t i = 0; i + 1 < word.size(); ++i) table[make_pair(word[i], word[i + 1])].count -= counts[index];
            for (size_t i = 0; i + 1 < merged.size(); ++i) {
                const Pair pair = make_pair(merged[i], merged[i + 1]);
                if (merged[i] == symbol || merged[i + 1] == symbol) {
                    gain(pair, index);
                    grown.push_back(pair);
                } else {
                    table[pair].count += counts[index];
                }
            }
            word = std::move(merged);
        }
        std::sort(grown.begin(), grown.end());
        grown.erase(std::unique(grown.begin(), grown.end()), grown.end());
        for (const Pair pair : grown) {
            const Occurrences& found = table[pair];
            if (found.count > 0) offer(pair, found.count);
        }
    }
    return learned;
}
