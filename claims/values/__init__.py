"""Values returned by a claim's code: plain JSON, errors on one line, and numbers as text."""
