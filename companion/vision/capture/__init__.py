"""Read frames from cameras, streams, films, folders and photos."""
