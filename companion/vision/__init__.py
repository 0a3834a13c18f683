"""From pictures to what lies where: cameras, mats, stickers, faces."""

from __future__ import annotations

import os

MAX_PICTURE_PX = 64_000_000  # maximum size of a picture that is decoded: 64 megapixels

# These count only before cv2 is loaded, and every module of this room is loaded after this one.
os.environ.setdefault("OPENCV_IO_MAX_IMAGE_PIXELS", str(MAX_PICTURE_PX))
os.environ.setdefault("OPENCV_LOG_LEVEL", "SILENT")
os.environ.setdefault("OPENCV_FFMPEG_LOGLEVEL", "-8")
os.environ.setdefault("OPENCV_VIDEOIO_V4L_SELECT_TIMEOUT", "2")
