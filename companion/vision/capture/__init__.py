"""Where frames come from: devices, films, folders and photographs, each watched over."""
