"""What turns text into vectors: one file per provider behind one Protocol (`base`).

Everything here is light to import; models, clients and numpy load when they are used.
"""
