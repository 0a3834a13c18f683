"""Where the mats and their zones lie: markers, the plane of the table, the lens."""
