"""Detect cards on camera pictures: capture, mats, stickers, faces, picture quality."""

from __future__ import annotations

import os

MAX_PICTURE_PX = 64_000_000  # maximum size of a decoded picture

# Set before the first import of cv2, which reads them.
os.environ.setdefault("OPENCV_IO_MAX_IMAGE_PIXELS", str(MAX_PICTURE_PX))
os.environ.setdefault("OPENCV_LOG_LEVEL", "SILENT")
os.environ.setdefault("OPENCV_FFMPEG_LOGLEVEL", "-8")
os.environ.setdefault("OPENCV_VIDEOIO_V4L_SELECT_TIMEOUT", "2")
