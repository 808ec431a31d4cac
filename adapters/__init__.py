"""The two edges: what stands above the engines, and what stands below them."""
