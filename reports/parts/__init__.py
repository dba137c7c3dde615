"""An audit in parts, a dataset each: computed in several processes, and kept for the next audit."""
