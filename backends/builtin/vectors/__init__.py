"""The vector half of the engine: vectors kept, made, and searched.

Vectors lie in sets, one for each identity of a provider (`sets`), keyed by what was
embedded, so that no rebuild of the text index touches them. `engine` is what the builtin
engine calls. `passage_embedder` fills the live set, `maintenance` writes and prunes it,
and `measurement` finds out what it is worth (`calibration`). `query_embedder` turns a
query into a vector, by whichever provider may, and `nearest` searches in two stages, by
codes and then exactly: in the database (`sqlite_vec`) or by numpy (`in_process`).
"""
