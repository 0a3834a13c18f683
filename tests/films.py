"""Write the simulated table to disk, as a folder of pictures or a film."""

from pathlib import Path

import cv2
from records import results

from companion.simulate.frame_source import demo_pictures
from companion.simulate.script import Script


def write_folder(script: Script, folder: Path, *, speed: float = 1.0) -> None:
    """Write the frames as JPEG files in name order, and the set-up file `table.toml`."""
    folder.mkdir()
    (folder / "table.toml").write_text(setup_of(script), encoding="utf-8")
    for number, image in enumerate(demo_pictures(script, speed=speed), 1):
        assert cv2.imwrite(str(folder / f"{number:05d}.jpg"), image, [cv2.IMWRITE_JPEG_QUALITY, 92])


def write_clip(script: Script, path: Path, *, speed: float = 1.0) -> None:
    writer = cv2.VideoWriter(str(path), cv2.VideoWriter.fourcc(*"mp4v"), 10.0, (1920, 1080))
    for image in demo_pictures(script, speed=speed):
        writer.write(image)
    writer.release()


def sheets(script: Script) -> list[dict]:
    """Return the score of each hand of the script, from its record alone."""
    return [result.as_json("")["sides"] for result in results(script.record())]


def setup_of(script: Script) -> str:
    """Return the set-up file (TOML) with the sides and players of this table."""
    lines = [f'edition = "{script.edition_name}"', f'first = "{script.hands[0].first}"']
    lines += [f"target = {script.target}"] if script.target else []
    if script.options:
        lines += ["", "[options]", *(f'{name} = "{value}"' for name, value in script.options)]
    for number, team in enumerate(script.teams, 1):
        players = ", ".join(f'"{player}"' for player in team.players)
        lines += ["", "[[side]]", f'name = "{team.name}"', f"players = [{players}]", f'mat = "side-{number}"']
    return "\n".join(lines) + "\n"
