"""Score sheets, charts, past matches, and counting from photographs."""
