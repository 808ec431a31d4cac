"""Our own engine: SQLite with FTS5.

A note becomes chunks (`chunking`), chunks become terms (`terms`), both are kept in
one file (`schema`, `store`) that follows the notes (`sync`, `indexer`). A query is
read (`query`), finds candidates (`lexical`), which are weighed (`scoring`) and
ordered (`ranking`); `answering` joins the steps, `engine` owns the connections.
"""
