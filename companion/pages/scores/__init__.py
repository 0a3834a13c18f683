"""Score sheets, charts, earlier matches, and a photographed tableau that is counted."""
