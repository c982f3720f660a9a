"""`course speedrun`: as near to the floor as possible in three minutes.

    course speedrun --new my_entry.py       writes our best entry there, to be changed
    course speedrun my_entry.py             trains it and tells its score; without a file: our best entry

An entry is a Python file with a function `train(corpus, seconds, seed) -> model, tokenizer`, and, if they should be others,
VOCAB_SIZE (2048) and CONTEXT (192), for which the corpus is prepared before the clock starts.

    corpus     as `data.prepare` gives it: corpus.train.batch(step, size), corpus.tokenizer; the text of the training stories is
               corpus.tokenizer.decode(corpus.train.tokens). corpus.validation is there to look at, not to train on.
    seconds    180. The clock runs outside, while `train` runs. What is not finished then does not count at all, so a loop asks
               the time and ends a second early.
    seed       of the first weights and of the order of the data
    model      model(idx) -> scores (B, T, V) of the next token, for idx int32 (B, T), whose rows begin with the end token; the
               judge takes their softmax. A GPT is one.
    tokenizer  encode(text) -> ids, token_bytes(id) -> bytes, vocab_size, end_id. A Tokenizer is one.

Any change is allowed that learns from the training stories alone. The score is the fraction of the way from the bigram model (0)
to the floor (1), in nats per story, so that entries with different vocabularies compare.

    compete.py     a score, and what counts as a record
    process.py     where an entry runs, without the grammar and without the stories that it is judged by
    judge.py       starts that process, keeps the clock, asks it about stories
    scoring.py     the arithmetic, and the checks that the probabilities are probabilities
    records.py     the table in the README, and the best score on this machine
    entries/       the entries of the records
"""
