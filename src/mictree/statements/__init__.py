"""The paper's statements, checked."""
