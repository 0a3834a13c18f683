"""The page of a phone as the camera, over TLS, with a film instead of the phone's picture."""

import numpy as np
import pytest
from client import SECRET
from playwright.sync_api import expect
from trust.real_service import free_port

from browser.screens import SMALL
from companion.pages import Camera, create_app
from companion.pages.players.phone_identity import join_token
from companion.pages.server.secure_port import PORT_ABOVE, SecurePort
from companion.vision.capture.image_io import decode, jpeg_of
from companion.vision.capture.phone_frames import PhoneFrames


@pytest.fixture(scope="module")
def film(tmp_path_factory):
    """A film of a dark table with a bright mat on its left."""
    path = tmp_path_factory.mktemp("film") / "table.mjpeg"
    image = np.full((1080, 1920, 3), 60, np.uint8)
    image[200:900, 100:800] = 220
    path.write_bytes(jpeg_of(image) * 8)
    return path


@pytest.fixture
def secured(begun, tmp_path):
    """Frames from a phone, and the URL of its page."""
    frames = PhoneFrames()
    secure = SecurePort(tmp_path, "127.0.0.1", min(free_port(), 65535 - PORT_ABOVE) - PORT_ABOVE)
    secure.open(create_app(begun, secret=SECRET, camera=Camera(phone=frames), secure=secure))
    yield frames, f"{secure.base_url()}/camera/phone?t={join_token(SECRET)}"
    secure.close()


def test_a_phone_sends_pictures_until_another_is_the_camera(secured, film, launched):
    frames, url = secured
    browser = launched(
        "--use-fake-ui-for-media-stream",
        "--use-fake-device-for-media-stream",
        f"--use-file-for-fake-video-capture={film}",
    )
    page = browser.new_context(viewport=SMALL, ignore_https_errors=True).new_page()
    page.goto(url)
    page.get_by_role("button", name="Use this phone as the camera").click()
    expect(page.locator("#begin")).to_be_hidden()
    number, jpeg = 0, b""
    while number < 3:
        number, jpeg = frames.next_after(number)
    image = decode(jpeg, "frame")

    assert image.shape == (1080, 1920, 3)
    assert image[500, 400].mean() > 180
    assert image[500, 1500].mean() < 100
    frames.choose("another phone")
    expect(page.locator("#said")).to_have_text("This phone is no longer the camera.")
    browser.close()
