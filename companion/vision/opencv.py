"""OpenCV as this room uses it: silent, because people get our sentences, and content with two threads."""

from __future__ import annotations

import cv2

__all__ = ["cv2"]

cv2.utils.logging.setLogLevel(cv2.utils.logging.LOG_LEVEL_SILENT)
cv2.setNumThreads(2)
