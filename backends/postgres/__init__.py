"""PostgreSQL as an engine: one index for agents on many machines."""
