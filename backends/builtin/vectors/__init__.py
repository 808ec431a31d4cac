"""The vector half of the engine: vectors kept, made, and searched.

Vectors lie in sets, one for each identity of a provider (`tables`), keyed by what
was embedded, so that no rebuild of the text index touches them. `making` fills the
live set, `keeping` writes and prunes, `nearest` searches in two stages (`codes`,
then exactly), `asking` turns a question into a vector, by whichever provider may.
"""
