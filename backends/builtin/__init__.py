"""Our own engine: SQLite with FTS5, and sqlite-vec for vectors.

What there is to index (`changes`) is brought into one file (`store`, with the tables of
`schema`) by one process at a time (`writer`, `sync`, `indexer`, `transcripts`). A `search`
takes `candidates` by keywords (`lexical`) and by vectors (`vectors`), ranks them, and holds
them against the files (`verify`); where no index can be read, `fallback_scan` reads the
notes. `engine` owns the connections, and is where blocking work leaves an event loop.
"""
