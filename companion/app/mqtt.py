"""Publish turn, scores, questions and camera problems to an MQTT broker, with discovery for Home Assistant.

Messages are retained; a last will reports the companion offline. Each table has its own ID: host names may collide, and
a broker disconnects clients of equal ID. Retained messages of older companions, which used the host name, are removed.
"""

from __future__ import annotations

import json
import math
import re
import secrets
import socket
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager, nullcontext, suppress
from pathlib import Path
from typing import Any
from urllib.parse import SplitResult, unquote, urlsplit

from companion import __version__
from companion.app.usage import here, warn
from companion.common.errors import Problem
from companion.common.small_file import read_small
from companion.common.text import say
from companion.match.match import Match
from companion.match.state import MatchState
from companion.pages.server.address import is_this_machine
from companion.pages.words import Names
from companion.storage.data_folder import DEMO_NAME, write_whole

ID_NAME = "mqtt-id"  # file with the table's ID
GREETING_S = 0.5  # wait for retained messages after subscribing
LOOK_S = 1.0  # longest wait for a change or the last message
MOST_SIDES = 8
PORTS = {"mqtt": 1883, "mqtts": 8883}


def broker_of(url: str) -> SplitResult:
    """Return a broker's parsed URL. Raises Problem without showing the password."""
    try:
        parts = urlsplit(url)
        if parts.scheme not in PORTS or not parts.hostname or parts.port == 0:
            raise ValueError
        import paho.mqtt.client  # noqa: F401 - is it there?
    except ValueError:
        refused = say(
            "This is not the address of an MQTT broker: %(example)s", example="--mqtt mqtt://USER:PASSWORD@192.168.1.5"
        )
        raise Problem(refused) from None
    except ImportError:
        raise Problem(say("MQTT needs one more library: run  pip install paho-mqtt")) from None
    return parts


def own_id(folder: Path) -> str:
    """Return the table's ID, eight hexadecimal digits, created on first use.

    Its file is private and in no backup. If unwritable, the ID lasts for this run.
    """
    path = folder / ID_NAME
    with suppress(OSError, UnicodeDecodeError):
        known = read_small(path).decode().strip()
        if re.fullmatch(r"[0-9a-f]{8}", known):
            return known
    made = secrets.token_hex(4)
    with suppress(OSError):
        write_whole(path, f"{made}\n")
    return made


def former_id() -> str:
    """Return older companions' ID, from the host name."""
    return "mille-bornes-" + re.sub(r"[^a-z0-9]+", "-", socket.gethostname().lower())


def telling(match: Match, broker: SplitResult | None, page: Callable[[], str]) -> AbstractContextManager[None]:
    """Return `Announcer.telling`, or an empty context without a broker."""
    return Announcer(match, broker, page).telling() if broker else nullcontext()


class Announcer:
    """Publishes the table's state; `page` returns the pages' current address."""

    def __init__(self, match: Match, broker: SplitResult, page: Callable[[], str]) -> None:
        from paho.mqtt import client, enums

        self._match, self._host, self._page = match, broker.hostname or "", page
        folder = match.store.path.parent
        self._serial, self._is_demo = own_id(folder), folder.name == DEMO_NAME
        self._id = f"mille-bornes-{self._serial}"
        self._status = f"{self._id}/status"
        self._former = former_id()
        self._greeted_s = math.inf  # time of the first message; infinite until connected
        self._sent: dict[str, str] = {}
        self._said = ""
        self._client = client.Client(enums.CallbackAPIVersion.VERSION2, self._id)
        self._client.will_set(self._status, "offline", qos=1, retain=True)
        if broker.username:
            self._client.username_pw_set(unquote(broker.username), unquote(broker.password or ""))
        if broker.scheme == "mqtts":
            self._client.tls_set()
        self._client.on_connect = self._answered
        self._client.on_subscribe = self._greeted
        self._client.on_message = self._found_former
        silent = say("The MQTT broker %(host)s does not answer. Trying again.", host=self._host)
        self._client.on_connect_fail = lambda *_: self._say(silent)
        self._client.connect_async(self._host, broker.port or PORTS[broker.scheme])

    @contextmanager
    def telling(self) -> Iterator[None]:
        """Inside the context, publish `online` and new states from a thread; then `offline`."""
        ended = threading.Event()
        thread = threading.Thread(target=self._run, args=(ended,), name="mqtt", daemon=True)
        self._client.loop_start()
        thread.start()
        try:
            yield
        finally:
            ended.set()
            thread.join(2 * LOOK_S)
            if self._client.is_connected():
                self._client.publish(self._status, "offline", qos=1, retain=True).wait_for_publish(LOOK_S)
            self._client.disconnect()
            self._client.loop_stop()

    def _run(self, ended: threading.Event) -> None:
        version = -1
        while not ended.is_set():
            now = self._match.wait(version, LOOK_S)
            is_told, version = now.version == version and self._sent, now.version
            if is_told or time.monotonic() < self._greeted_s:
                continue
            for topic, message in self._messages(now).items():
                if self._client.is_connected() and self._sent.get(topic) != message:
                    self._sent[topic] = message
                    self._client.publish(topic, message, qos=1, retain=True)

    def _answered(self, client: Any, _data: Any, _flags: Any, reason: Any, _properties: Any) -> None:
        self._sent.clear()  # A restarted broker may have lost everything.
        if self._greeted_s == math.inf and not reason.is_failure:
            client.subscribe(_discovery(self._former), qos=1)
        refused = say(
            "The MQTT broker %(host)s refused the connection (%(why)s): check the user and password.",
            host=self._host,
            why=str(reason),
        )
        self._say(refused if reason.is_failure else "")

    def _greeted(self, *_about: Any) -> None:
        """Delay the first message until the former device gives up the entity IDs."""
        self._greeted_s = time.monotonic() + GREETING_S

    def _found_former(self, client: Any, _data: Any, message: Any) -> None:
        """Remove an older companion's device if its pages have our address.

        Another machine may share the host name; loopback addresses do not count.
        """
        try:
            page = json.loads(message.payload)["device"]["configuration_url"]
        except (ValueError, KeyError, TypeError, RecursionError):
            return
        if page == self._page() and not is_this_machine(urlsplit(page).hostname or ""):
            for topic in (_discovery(self._former), f"{self._former}/state", f"{self._former}/status"):
                client.publish(topic, None, qos=1, retain=True)

    def _say(self, sentence: str) -> None:
        if sentence not in ("", self._said):
            warn(sentence)
        self._said = sentence

    def _messages(self, now: MatchState) -> Mapping[str, str]:
        shown, prefix = entities(now), "mille_bornes_demo" if self._is_demo else "mille_bornes"
        described = {
            "device": {
                "identifiers": [self._id],
                "name": "Mille Bornes Demo" if self._is_demo else "Mille Bornes",
                "manufacturer": "Mille Bornes Companion",
                "model": "Simulated table" if self._is_demo else "Table",
                "serial_number": self._serial,
                "sw_version": __version__,
                "configuration_url": self._page(),
            },
            "origin": {"name": "Mille Bornes Companion", "sw_version": __version__},
            "availability_topic": self._status,
            "state_topic": f"{self._id}/state",
            "components": {
                key: look
                | {
                    "unique_id": f"{self._id}-{key}",
                    "default_entity_id": f"{look['platform']}.{prefix}_{ENTITIES.get(key, key)}",
                    "object_id": f"{prefix}_{ENTITIES.get(key, key)}",  # for Home Assistant before October 2025
                    "value_template": f"{{{{ value_json.{key} }}}}",
                }
                if len(look) > 1
                else look  # Home Assistant removes a component that has only a platform.
                for key, (_value, look) in shown.items()
            },
        }
        return {
            _discovery(self._id): json.dumps(described),
            f"{self._id}/state": json.dumps({key: value for key, (value, _look) in shown.items()}),
            self._status: "online",
        }


ENTITIES = {"turn": "whose_turn", "question": "a_question_waits"}
"""Names in Home Assistant's entity IDs that differ from the keys, in every language."""


def _discovery(table: str) -> str:
    return f"homeassistant/device/{table}/config"


def entities(now: MatchState) -> dict[str, tuple[object, dict[str, str]]]:
    """Return each entity's value and Home Assistant component, an unused side's with platform only.

    Camera problems have no text: it may contain a password.
    """
    game, names = now.game, Names.of(now.game)
    turn = names.player(game.table.player_up) if game.table and game.hand_is_open else None
    question, trouble = ("ON" if it else "OFF" for it in (now.questions, now.trouble and not now.without_camera))
    shown: dict[str, tuple[object, dict[str, str]]] = {
        "turn": (turn, {"platform": "sensor", "name": here(say("Whose turn")), "icon": "mdi:car"}),
        "question": (question, {"platform": "binary_sensor", "name": here(say("Open question"))}),
        "camera": (trouble, {"platform": "binary_sensor", "name": here(say("Camera")), "device_class": "problem"}),
    }
    for place in range(MOST_SIDES):
        side = game.teams[place].name if place < len(game.teams) else None
        score = game.totals.get(side, 0) if side else None
        look = {"name": names.side(side), "state_class": "measurement", "unit_of_measurement": "points"} if side else {}
        shown[f"side_{place + 1}"] = score, {"platform": "sensor"} | look
    return shown
