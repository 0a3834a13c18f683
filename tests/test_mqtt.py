"""A home's MQTT is told how the table stands: found by itself, retained, its password never shown."""

import json
import re
import shutil
import socket
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import closing, nullcontext
from pathlib import Path

import pytest
from click.testing import CliRunner
from client import TWO, run

from companion import __version__
from companion.app import demo, mqtt, service
from companion.app.cli import companion
from companion.common.errors import Problem
from companion.match.match import Match
from companion.storage.data_folder import DEMO_NAME, data_dir, store_path
from companion.storage.event_store import Store

DOCS = Path(__file__).parent.parent / "docs"
CAFE = "https://table.cafe.example"
PAGE = "http://192.168.1.20:8080"
USER, PASSWORD = "table", "cr:nk@/é"
ENCODED = "cr%3Ank%40%2F%C3%A9"


def values(match: Match) -> dict[str, object]:
    return {key: value for key, (value, _look) in mqtt.entities(match.state).items() if value is not None}


def test_it_says_whose_turn_it_is_and_how_the_match_stands(match):
    match.start(["side Ann", "side Bob", 'player Ann "Grandma"', "hand first Ann"])
    shown = values(match)
    match.enter("Ann roll", "Ann")

    assert shown == {"turn": "Grandma", "question": "OFF", "camera": "OFF", "side_1": 0, "side_2": 0}
    assert values(match)["turn"] == "Bob"


def test_after_a_hand_it_is_nobodys_turn_and_the_points_are_there(match):
    match.start(TWO)
    for play in ("Ann roll", "Bob roll", "Ann 100", "end"):
        match.enter(play, "Ann")

    assert values(match) == {"question": "OFF", "camera": "OFF", "side_1": 100, "side_2": 0}


def test_it_says_that_a_question_waits_and_that_the_camera_is_in_trouble(match):
    match.start(TWO)
    match.enter("Ann 100", "Ann")
    match.trouble("rtsp://me:secret@cam does not answer.")

    assert [values(match)[key] for key in ("question", "camera")] == ["ON", "ON"]
    assert "secret" not in json.dumps(mqtt.entities(match.state))


def test_a_camera_that_was_put_away_is_no_trouble(match):
    match.trouble("No camera found.")
    match.play_without_camera(on=True)

    assert values(match)["camera"] == "OFF"


def test_sides_are_called_as_at_the_table_and_places_without_one_are_taken_away(match):
    match.start(["side Ann-Cid = Ann, Cid", "side Bob-Dee = Bob, Dee", "hand first Ann"])

    looks = {key: look for key, (_value, look) in mqtt.entities(match.state).items() if key.startswith("side")}
    assert [look.get("name") for look in looks.values()] == ["Ann & Cid", "Bob & Dee", *[None] * 6]
    assert looks["side_3"] == {"platform": "sensor"}


@pytest.mark.parametrize(
    "url", ["192.168.1.5", "http://me:secret@host", "mqtt://me:secret@", "mqtt://me:secret@host:x", "mqtt://[secret"]
)
def test_a_wrong_address_is_told_in_a_sentence_that_does_not_repeat_it(url):
    answer = CliRunner().invoke(companion, ["up", "--mqtt", url])

    assert isinstance(answer.exception, Problem)
    assert "--mqtt mqtt://USER:PASSWORD@192.168.1.5" in str(answer.exception)
    assert "secret" not in str(answer.exception)


def test_without_the_library_it_says_how_to_get_it(monkeypatch):
    monkeypatch.setitem(sys.modules, "paho", None)

    with pytest.raises(Problem, match="pip install paho-mqtt"):
        mqtt.broker_of("mqtt://host")


def test_an_id_is_the_tables_own_and_stays_over_restarts_and_a_restored_backup(tmp_path):
    home, other = data_dir(tmp_path / "home"), data_dir(tmp_path / "other")
    with closing(Store.open(store_path(home))) as store:
        Match(store).start(TWO)
    first = mqtt.own_id(home)
    run("backup", tmp_path / "table.zip", "--data", home)
    for folder in (home, other):
        run("restore", tmp_path / "table.zip", "--data", folder)

    assert mqtt.own_id(home) == first
    assert mqtt.own_id(other) != first
    assert (home / mqtt.ID_NAME).stat().st_mode & 0o777 == 0o600


@pytest.mark.parametrize("content", [b"", b"\xff", b"../../x", b"homeassistant/#"])
def test_a_damaged_id_is_replaced(tmp_path, content):
    (tmp_path / mqtt.ID_NAME).write_bytes(content)

    assert re.fullmatch("[0-9a-f]{8}", mqtt.own_id(tmp_path))
    assert mqtt.own_id(tmp_path) == mqtt.own_id(tmp_path)


# --- Before a real broker -----------------------------------------------------------------------------------------

MOSQUITTO = shutil.which("mosquitto", path="/usr/sbin:/usr/bin")


class Listener:
    """Somebody at the broker: all messages that came, as topic, text and whether the broker had kept them."""

    def __init__(self, port: int) -> None:
        from paho.mqtt.client import Client
        from paho.mqtt.enums import CallbackAPIVersion

        self.came: list[tuple[str, str, bool]] = []
        self._more = threading.Condition()
        self._client = Client(CallbackAPIVersion.VERSION2)
        self._client.username_pw_set(USER, PASSWORD)
        self._client.on_message = self._note
        self._client.on_connect = lambda client, *_: client.subscribe("#")
        self._client.connect("127.0.0.1", port)
        self._client.loop_start()

    def _note(self, _client, _data, message) -> None:
        with self._more:
            self.came.append((message.topic, message.payload.decode(), message.retain))
            self._more.notify_all()

    def hears(self, ending: str, sought: str, after: int = 0) -> tuple[str, str, bool]:
        """The first message whose topic ends so and whose text holds what is sought; waits for it."""

        def found() -> tuple[str, str, bool] | None:
            return next((m for m in self.came[after:] if m[0].endswith(ending) and sought in m[1]), None)

        with self._more:
            assert self._more.wait_for(found, 20), (ending, sought, self.came)
            return found()

    def publishes(self, topic: str, text: str) -> None:
        self._client.publish(topic, text, qos=1, retain=True)
        self.hears(topic, text)

    def close(self) -> None:
        self._client.disconnect()
        self._client.loop_stop()


@pytest.fixture
def broker(tmp_path) -> Iterator[int]:
    """The port of a broker that lets in one user alone."""
    pytest.importorskip("paho.mqtt")
    if MOSQUITTO is None:
        pytest.skip("this system has no mosquitto")
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    known = tmp_path / "known"
    subprocess.run(["mosquitto_passwd", "-c", "-b", known, USER, PASSWORD], check=True, capture_output=True)
    conf = tmp_path / "conf"
    conf.write_text(f"listener {port} 127.0.0.1\nallow_anonymous false\npassword_file {known}\nuser root\n")
    with subprocess.Popen([MOSQUITTO, "-c", conf], stderr=subprocess.PIPE, text=True) as process:
        next(line for line in process.stderr if "running" in line)
        yield port
        process.terminate()


def announcer(match: Match, port: int, password: str = ENCODED, page: str = PAGE) -> mqtt.Announcer:
    return mqtt.Announcer(match, mqtt.broker_of(f"mqtt://{USER}:{password}@127.0.0.1:{port}"), lambda: page)


def test_home_assistant_finds_the_table_also_later_and_hears_of_each_play(match, broker):
    match.start(TWO)
    with announcer(match, broker).telling():
        with closing(Listener(broker)) as early:
            early.hears("/status", "online")
        with closing(Listener(broker)) as late:
            found, state = late.hears("/config", "{"), late.hears("/state", '"turn": "Ann"')
            match.enter("Ann roll", "Ann")
            late.hears("/state", '"turn": "Bob"')

    described = json.loads(found[1])
    assert found[0].startswith("homeassistant/device/mille-bornes-")
    assert found[2]
    assert state[2]
    assert state[0] == described["state_topic"]
    assert described["device"]["configuration_url"] == PAGE
    assert described["components"]["side_2"]["name"] == "Bob"
    assert described["components"]["turn"]["value_template"] == "{{ value_json.turn }}"
    assert PASSWORD not in found[1]


def described(match: Match, monkeypatch, language: str = "en") -> dict:
    """Return what Home Assistant is told of the table, by a companion whose terminal has that language."""
    pytest.importorskip("paho.mqtt")
    monkeypatch.setattr(mqtt, "here", lambda text, **values: f"{language}: {text}")
    messages = announcer(match, 9)._messages(match.state)
    return json.loads(next(text for topic, text in messages.items() if topic.endswith("/config")))


def test_entity_ids_are_english_whatever_the_language_and_whoever_plays(match, monkeypatch):
    match.start(["side Zoé", "side Bob", "hand first Bob"])
    parts = described(match, monkeypatch, "de")["components"]

    ids = {key: part["default_entity_id"] for key, part in parts.items() if "name" in part}
    assert parts["question"]["name"] == "de: Open question"
    assert ids == {
        "turn": "sensor.mille_bornes_whose_turn",
        "question": "binary_sensor.mille_bornes_a_question_waits",
        "camera": "binary_sensor.mille_bornes_camera",
        "side_1": "sensor.mille_bornes_side_1",
        "side_2": "sensor.mille_bornes_side_2",
    }
    assert {f"{part['platform']}.{part['object_id']}" for part in parts.values() if "name" in part} == {*ids.values()}


def test_the_automation_in_the_docs_listens_to_an_entity_that_there_is(match, monkeypatch):
    match.start(TWO)
    ids = {part.get("default_entity_id") for part in described(match, monkeypatch)["components"].values()}
    named = re.findall(r"(?:binary_)?sensor\.mille_bornes_\w+", (DOCS / "api.md").read_text(encoding="utf-8"))

    assert named
    assert {*named} <= ids


def test_points_can_be_drawn_as_a_curve_and_the_device_says_what_it_is(match, monkeypatch):
    match.start(TWO)
    told = described(match, monkeypatch)

    assert (
        told["components"]["side_1"] | {"state_class": "measurement", "unit_of_measurement": "points"}
        == (told["components"]["side_1"])
    )
    assert told["components"]["side_3"] == {"platform": "sensor"}
    assert told["device"] | {"manufacturer": "Mille Bornes Companion", "sw_version": __version__} == told["device"]
    assert told["device"]["serial_number"] == mqtt.own_id(match.store.path.parent)


@pytest.mark.parametrize(("command", "room"), [("up", service), ("demo", demo)])
@pytest.mark.parametrize(("words", "page"), [([], "http://192.168.1.9:8080"), (["--address", CAFE], CAFE)])
def test_the_service_and_the_demo_tell_a_broker_the_address_that_is_announced(
    tmp_path, monkeypatch, command, room, words, page
):
    told = []
    monkeypatch.setattr(room, "run_service", lambda *_, **_more: None)
    monkeypatch.setattr(room, "broker_of", lambda url: url)
    monkeypatch.setattr(room, "telling", lambda _match, broker, page: told.append((broker, page())) or nullcontext())
    monkeypatch.setattr("companion.app.table_commands._leave", lambda: None)
    run(command, "--mqtt", "mqtt://host", "--host", "192.168.1.9", "--data", tmp_path, *words)

    assert told == [("mqtt://host", page)]


def test_the_page_is_found_also_when_the_network_came_after_the_start(match):
    """A small computer is often ready before its Wi-Fi."""
    pytest.importorskip("paho.mqtt")
    pages = ["http://127.0.0.1:8080", PAGE]
    telling = mqtt.Announcer(match, mqtt.broker_of("mqtt://127.0.0.1:9"), lambda: pages[0])
    before = str(telling._messages(match.state))
    del pages[0]

    assert "http://127.0.0.1:8080" in before
    assert f'"configuration_url": "{PAGE}"' in str(telling._messages(match.state))


def test_the_demo_takes_no_entity_id_of_a_real_table(tmp_path, monkeypatch):
    with closing(Store.open(store_path(data_dir(tmp_path / DEMO_NAME)))) as store:
        told = described(Match(store), monkeypatch)

    assert told["device"]["name"] == "Mille Bornes Demo"
    assert told["components"]["turn"]["default_entity_id"] == "sensor.mille_bornes_demo_whose_turn"


def test_two_tables_with_one_host_name_stay_at_one_broker(match, broker, tmp_path):
    match.start(TWO)
    with closing(Store.open(store_path(data_dir(tmp_path / "other")))) as store:
        other = Match(store)
        other.start(["side Cid", "side Dee", "hand first Dee"])
        with (
            closing(Listener(broker)) as listener,
            announcer(match, broker).telling(),
            announcer(other, broker).telling(),
        ):
            listener.hears("/state", '"turn": "Ann"')
            listener.hears("/state", '"turn": "Dee"')
            for table, player in ((match, "Ann"), (other, "Dee")) * 3:
                so_far = len(listener.came)
                table.trouble("The camera is gone." if table.state.trouble is None else None)
                listener.hears("/state", f'"turn": "{player}"', so_far)

            assert sorted(text for topic, text, _ in listener.came if topic.endswith("/status")) == ["online"] * 2


LOOPBACKS = ("http://127.0.0.1:8080", "http://localhost:8080", "http://[::1]:8080")


@pytest.mark.parametrize(
    ("page", "here", "is_removed"),
    [(PAGE, PAGE, True), ("http://192.168.1.99:8080", PAGE, False), *((page, page, False) for page in LOOPBACKS)],
)
def test_the_device_of_an_older_companion_is_removed_first_if_it_was_this_table(match, broker, page, here, is_removed):
    match.start(TWO)
    former = f"homeassistant/device/{mqtt.former_id()}/config"
    with closing(Listener(broker)) as listener:
        for topic, text in (
            (former, json.dumps({"device": {"configuration_url": page}})),
            (f"{mqtt.former_id()}/status", "offline"),
        ):
            listener.publishes(topic, text)
        with announcer(match, broker, page=here).telling():
            listener.hears("/status", "online")
    with closing(Listener(broker)) as late:
        late.hears("/state", "turn")
        kept = {topic for topic, text, _ in late.came}

    order = [(topic, bool(text)) for topic, text, _ in listener.came if topic.endswith("/config")]
    own = f"homeassistant/device/mille-bornes-{mqtt.own_id(match.store.path.parent)}/config"
    assert order == [(former, True), *([(former, False)] if is_removed else []), (own, True)]
    assert (former in kept) is not is_removed


def test_a_companion_that_ends_or_falls_silent_is_gone_there_and_back_after_a_gap(match, broker):
    match.start(TWO)
    with closing(Listener(broker)) as listener:
        telling = announcer(match, broker)
        with telling.telling():
            listener.hears("/status", "online")
            so_far = len(listener.came)
            telling._client.socket().shutdown(socket.SHUT_RDWR)
            listener.hears("/status", "offline", so_far)
            gone = len(listener.came)
            listener.hears("/status", "online", gone)
            back = len(listener.came)
        listener.hears("/status", "offline", back)


def test_a_wrong_password_is_told_once_without_it(match, broker, capsys):
    telling = announcer(match, broker, "wrong-secret")
    answered = threading.Event()
    hear = telling._client.on_connect

    def twice(*what) -> None:
        hear(*what)
        hear(*what)
        answered.set()

    telling._client.on_connect = twice
    with telling.telling():
        assert answered.wait(20)

    said = capsys.readouterr().err
    assert said == "The MQTT broker 127.0.0.1 refused the connection (Not authorized): check the user and password.\n"


def test_a_broker_that_is_not_there_is_told_and_holds_nothing_up(match, capsys):
    pytest.importorskip("paho.mqtt")
    telling = announcer(match, 9)
    failed = threading.Event()
    say = telling._client.on_connect_fail

    def tell(*what) -> None:
        say(*what)
        failed.set()

    telling._client.on_connect_fail = tell
    with telling.telling():
        match.start(TWO)
        assert match.enter("Ann roll", "Ann").done
        assert failed.wait(20)

    assert capsys.readouterr().err == "The MQTT broker 127.0.0.1 does not answer. Trying again.\n"
