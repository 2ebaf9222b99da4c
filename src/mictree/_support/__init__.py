"""Helpers for every room, which import no other room: checks, kernels, draws, files."""
