# The part of llama-index-core that we use. It is optional, and its own types lead a checker
# through all of pydantic and nltk.
