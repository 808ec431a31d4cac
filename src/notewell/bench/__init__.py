"""Backends side by side on somebody's own notes: quality, time, cost, agreement."""
