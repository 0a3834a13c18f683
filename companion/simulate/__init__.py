"""A simulated table: hands of Mille Bornes played before a camera that does not exist.

`demo_frames(script)` is the camera; `shipped_script(name)` is a hand written beforehand, `lively_script(…)` one
that the players make up. What looks at the frames is told nothing but the pixels.
"""

from companion.simulate.camera_model import Look, typical_look
from companion.simulate.card_faces import BARE, STICKERED, Cards
from companion.simulate.frame_source import demo_frames, write_clip, write_folder
from companion.simulate.players import PAIRS, TWO_PLAYERS, Manners, lively_script, random_script
from companion.simulate.scene import Frame
from companion.simulate.script import Script, read_script, shipped_script, shipped_scripts

__all__ = [
    "BARE",
    "PAIRS",
    "STICKERED",
    "TWO_PLAYERS",
    "Cards",
    "Frame",
    "Look",
    "Manners",
    "Script",
    "demo_frames",
    "lively_script",
    "random_script",
    "read_script",
    "shipped_script",
    "shipped_scripts",
    "typical_look",
    "write_clip",
    "write_folder",
]
