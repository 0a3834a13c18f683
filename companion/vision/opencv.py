"""OpenCV with two threads and without its own messages."""

from __future__ import annotations

import cv2

__all__ = ["cv2"]

cv2.utils.logging.setLogLevel(cv2.utils.logging.LOG_LEVEL_SILENT)
cv2.setNumThreads(2)
