"""A network camera, such as a phone app: the table is followed through it, even after an interruption."""

import json
import random
import urllib.request

import films
from rtsp_camera import RtspCamera
from trust.real_service import asked, service, wait_until

from companion.simulate.arrange import plan
from companion.simulate.choreography import Choreographer
from companion.simulate.frame_source import table_studio
from companion.simulate.scene import Scene
from companion.simulate.script import read_script
from companion.vision.capture.image_io import jpeg_of

SCRIPT = read_script("side Ann\nside Bob\nhand first Ann\nAnn roll\nBob roll\nAnn 100")
PLAYS = ["Ann roll", "Bob roll", "Ann 100"]
PATIENCE_S = 60.0


def pictures() -> list[bytes]:
    """The table before the first play, and after each."""
    studio, chance = table_studio(SCRIPT), random.Random(0)
    movements = [*Choreographer(SCRIPT, plan(2, 2), 0).movements()]
    lying = [movements[0].before, *(movement.after for movement in movements if movement.is_play)]
    return [jpeg_of(studio.picture(Scene(cards), chance)) for cards in lying]


def is_looked_at(camera: RtspCamera) -> bool:
    """True once a client has received enough pictures to know the table; the first twenty only measure the rate."""
    sent = camera.sent
    return wait_until(lambda: camera.sent > sent + 60, PATIENCE_S)


def test_the_service_plays_through_a_network_camera_and_shows_no_password(tmp_path):
    setup_file, (bare, *after_plays) = tmp_path / "table.toml", pictures()
    setup_file.write_text(films.setup_of(SCRIPT), encoding="utf-8")
    camera = RtspCamera(bare, login="ann:secret")
    with service(tmp_path, "up", "--camera", camera.url, "--setup", str(setup_file)) as running:

        def state() -> dict:
            with urllib.request.urlopen(f"http://127.0.0.1:{running.port}/api/state") as answer:
                return json.load(answer)

        asked(running.port, "/policy", {"policy": "auto"})
        for number, picture in enumerate(after_plays, 1):
            assert is_looked_at(camera)
            camera.show(picture)
            assert wait_until(lambda count=number: len(state()["log"]) == count, PATIENCE_S)
            if number == 1:
                camera.restart()
        camera.close()
        assert wait_until(lambda: state()["trouble"], PATIENCE_S)
        trouble, log = state()["trouble"], [line["text"] for line in state()["log"]]
        page = asked(running.port, "/camera")[1]

    assert log == PLAYS
    assert f"rtsp://127.0.0.1:{camera.port} " in trouble
    assert "secret" not in trouble + "".join(running.said)
    assert b"secret" not in page
