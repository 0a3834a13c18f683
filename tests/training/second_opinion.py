"""Trains the second opinion on two pictures of cards: does one show the same face as the other?

`PYTHONPATH=tests:. python tests/training/second_opinion.py OUT --minutes 10` writes `OUT/second_opinion.onnx`, and
prints how it does on decks by chance that it has not seen. It needs PyTorch 2, onnx, and a GPU to be done in minutes.

Each step photographs faces of many decks in one size, in all sorts of light, cut out as a search leaves them, half of
them partly covered. Each is compared with its face as it was enrolled, and with those of its deck most like it.
"""

import argparse
import math
import multiprocessing
import time
from pathlib import Path

import numpy as np
import torch
from torch import Tensor, nn
from torch.nn import functional as nnf
from training import chance_decks

SIZE = (102, 65)
"""Height and width of the pictures compared: a card without its rim, 1.2 px a millimetre."""

RIM_MM = 1.5
CARD_MM = (chance_decks.HEIGHT_MM, chance_decks.WIDTH_MM)
CROPS, RIVALS, ENROLLED = 512, 3, 2
STRANGERS = 0.12
COVERED = 0.5
BLURRED_ALIKE = 16
RATE = 2e-3


# --- The network ----------------------------------------------------------------------------------------------


class Residual(nn.Module):
    """Two convolutions whose result is added to what they were given."""

    def __init__(self, channels: int) -> None:
        super().__init__()
        self.body = nn.Sequential(
            nn.Conv2d(channels, channels, 3, padding=1, bias=False),
            nn.BatchNorm2d(channels),
            nn.ReLU(),
            nn.Conv2d(channels, channels, 3, padding=1, bias=False),
            nn.BatchNorm2d(channels),
        )

    def forward(self, x: Tensor) -> Tensor:
        return nnf.relu(x + self.body(x))


def _down(inside: int, outside: int, size: int, stride: int) -> nn.Sequential:
    conv = nn.Conv2d(inside, outside, size, stride=stride, padding=size // 2, bias=False)
    return nn.Sequential(conv, nn.BatchNorm2d(outside), nn.ReLU())


class SecondOpinion(nn.Module):
    """Seen and enrolled `(n, 4, 102, 65)`: three colours, and 1 where the card is visible; out come logits `(n, 1)`."""

    def __init__(self) -> None:
        super().__init__()
        self.stem = nn.Sequential(_down(4, 20, 5, 2), _down(20, 28, 3, 1))
        deeper = _down(56, 40, 3, 2), Residual(40), _down(40, 48, 3, 2), Residual(48), _down(48, 48, 3, 2)
        self.head = nn.Sequential(*deeper)
        self.last = nn.Sequential(nn.Linear(96, 32), nn.ReLU(), nn.Linear(32, 1))

    def forward(self, seen: Tensor, enrolled: Tensor) -> Tensor:
        a, b = self.stem(seen), self.stem(enrolled)
        x = self.head(torch.cat(((a - b).abs(), a * b), dim=1))
        return self.last(torch.cat((x.mean(dim=(2, 3)), x.amax(dim=(2, 3))), dim=1))


# --- Photographs ----------------------------------------------------------------------------------------------


def uniform(count: int, low: float, high: float, device: torch.device) -> Tensor:
    return torch.rand(count, device=device) * (high - low) + low


def maybe(count: int, share: float, device: torch.device) -> Tensor:
    return (torch.rand(count, device=device) < share).float()


def cut_out(faces: Tensor, width_px: int, loose: float) -> Tensor:
    """Faces `(n, 3, h, w)` without their rims, photographed so large, cut out a little wrong: by `loose` mm."""
    count, device = len(faces), faces.device
    mm = [side - 2 * RIM_MM for side in CARD_MM]
    size = [round(side * width_px / CARD_MM[1]) for side in mm]
    finer = max(1, math.ceil(faces.shape[3] / width_px))
    down, right = (torch.linspace(-1 + 1 / (n * finer), 1 - 1 / (n * finer), n * finer, device=device) for n in size)
    y, x = torch.meshgrid(down * mm[0] / 2, right * mm[1] / 2, indexing="ij")
    turn = torch.randn(count, 1, 1, device=device) * math.radians(0.7) * min(1.0, loose / 0.4)
    scale = 1 + 0.012 * torch.randn(count, 1, 1, device=device) * min(1.0, loose / 0.4)
    off = torch.randn(count, 2, 1, 1, device=device) * loose
    lean = torch.randn(count, 2, 1, 1, device=device) * 0.012 * min(1.0, loose / 0.4)
    deep = 1 + lean[:, 0] * x / mm[1] + lean[:, 1] * y / mm[0]
    cos, sin = torch.cos(turn) * scale / deep, torch.sin(turn) * scale / deep
    across, along = cos * x - sin * y + off[:, 0], sin * x + cos * y + off[:, 1]
    grid = torch.stack((across / (CARD_MM[1] / 2), along / (CARD_MM[0] / 2)), dim=3)
    fine = nnf.grid_sample(faces, grid, mode="bilinear", padding_mode="border", align_corners=False)
    return nnf.avg_pool2d(fine, finer)


def blurred(images: Tensor, most_px: float) -> Tensor:
    """Out of focus, or moved: more in one direction. A few share a blur, which is much faster."""
    return torch.cat([_blurred(part, most_px) for part in images.split(BLURRED_ALIKE)])


def _blurred(images: Tensor, most_px: float) -> Tensor:
    device = images.device
    wide = uniform(1, 0.25, 0.8, device) + maybe(1, 0.25, device) * uniform(1, 0, most_px, device)
    long = wide + maybe(1, 0.15, device) * uniform(1, 0, most_px, device)
    turn = uniform(1, 0, math.pi, device)
    y, x = torch.meshgrid(*(torch.arange(-4.0, 5, device=device),) * 2, indexing="ij")
    along, across = torch.cos(turn) * x + torch.sin(turn) * y, torch.cos(turn) * y - torch.sin(turn) * x
    kernel = torch.exp(-((along / long) ** 2 + (across / wide) ** 2) / 2)
    padded = nnf.pad(images, (4, 4, 4, 4), mode="replicate").flatten(0, 1)[:, None]
    return nnf.conv2d(padded, (kernel / kernel.sum())[None, None]).reshape(images.shape)


def lit(images: Tensor, hard: float) -> Tensor:
    """Linear light as a camera's software hands it over, 0 … 1: slopes, shadows, reflections, colours, noise."""
    count, device = len(images), images.device
    y, x = torch.meshgrid(*(torch.linspace(-1, 1, side, device=device) for side in images.shape[2:]), indexing="ij")
    turn = uniform(count, 0, 2 * math.pi, device)[:, None, None]
    along = torch.cos(turn) * x + torch.sin(turn) * y
    light = 1 + uniform(count, 0, 0.35 * hard, device)[:, None, None] * along
    edge = (along - uniform(count, -0.9, 0.9, device)[:, None, None]) / uniform(count, 0.02, 0.5, device)[:, None, None]
    shade = maybe(count, 0.25 * hard, device) * uniform(count, 0.2, 0.65, device)
    light = light * (1 - shade[:, None, None] * torch.sigmoid(4 * edge))
    colour = torch.exp(torch.randn(count, 3, 1, 1, device=device) * 0.12)
    gain = torch.exp(torch.randn(count, 1, 1, 1, device=device) * 0.35) * 0.75
    images = images * colour * gain * light[:, None]
    at = uniform(2 * count, -1.1, 1.1, device).reshape(2, count, 1, 1)
    size = uniform(count, 0.1, 0.8, device)[:, None, None]
    glare = torch.exp(-((x - at[0]) ** 2 + (y * 1.5 - at[1]) ** 2) / (2 * size**2))
    glare = glare * (maybe(count, 0.3 * hard, device) * uniform(count, 0.05, 0.8, device))[:, None, None]
    haze = maybe(count, 0.3, device) * uniform(count, 0, 0.12, device)
    images = images + glare[:, None] + haze[:, None, None, None]
    tone = torch.exp(torch.randn(count, 1, 1, 1, device=device) * 0.12)
    return images.clamp(1e-4, 1) ** (tone / 2.2)


def grainy(images: Tensor, most: float) -> Tensor:
    count, device = len(images), images.device
    sigma = uniform(count, 0.002, 0.02, device) + maybe(count, 0.25, device) * uniform(count, 0, most, device)
    noise = torch.randn_like(images) * 0.6 + torch.randn_like(images[:, :1])
    soft = nnf.avg_pool2d(noise, 3, 1, 1) * 2
    kind = maybe(count, 0.5, device)[:, None, None, None]
    images = images + sigma[:, None, None, None] * (kind * noise + (1 - kind) * soft)
    sharp = images + (maybe(count, 0.3, device) * uniform(count, 0, 1, device))[:, None, None, None] * (
        images - nnf.avg_pool2d(nnf.pad(images, (1, 1, 1, 1), mode="replicate"), 3, 1)
    )
    grey = sharp.mean(dim=1, keepdim=True)
    rich = uniform(count, 0.5, 1.4, device)[:, None, None, None]
    return torch.round((grey + (sharp - grey) * rich).clamp(0, 1) * 255) / 255


_TO_XYZ = torch.tensor([[0.412453, 0.357580, 0.180423], [0.212671, 0.715160, 0.072169], [0.019334, 0.119193, 0.950227]])
_WHITE = torch.tensor([0.950456, 1.0, 1.088754])


def lab(images: Tensor) -> Tensor:
    """Colours `(n, 3, h, w)` RGB 0 … 1 in Lab."""
    linear = torch.where(images > 0.04045, ((images + 0.055) / 1.055).clamp(min=0) ** 2.4, images / 12.92)
    to_xyz = (_TO_XYZ / _WHITE[:, None]).to(images.device)
    xyz = torch.einsum("ij,njhw->nihw", to_xyz, linear)
    f = torch.where(xyz > 0.008856, xyz.clamp(min=1e-6) ** (1 / 3), 7.787 * xyz + 16 / 116)
    x, y, z = f[:, 0], f[:, 1], f[:, 2]
    return torch.stack((116 * y - 16, 500 * (x - y), 200 * (y - z)), dim=1)


def covers(count: int, size: tuple[int, int], device: torch.device) -> tuple[Tensor, Tensor]:
    """Where cards are visible, `(n, 1, h, w)`, and where that is known: the edge is found a little beside."""
    y, x = torch.meshgrid(*(torch.linspace(-1, 1, side, device=device) for side in size), indexing="ij")
    quarter = torch.randint(0, 4, (count,), device=device) * (math.pi / 2)
    turn = (quarter + torch.randn(count, device=device) * 0.05)[:, None, None]
    along = torch.cos(turn) * x + torch.sin(turn) * y
    free = uniform(count, -0.65, 1.0, device)[:, None, None]
    none = maybe(count, 1 - COVERED, device)[:, None, None]
    sees = torch.maximum((along < free).float(), none)
    told = torch.maximum((along < free + torch.randn(count, 1, 1, device=device) * 0.02).float(), none)
    return sees[:, None], told[:, None]


def ready(pictures: Tensor, seen: Tensor) -> Tensor:
    """Lab pictures as the network takes them: of the visible part 0 on average and of spread 1, and what is visible."""
    count = seen.sum(dim=(2, 3), keepdim=True).clamp(min=1)
    even = (pictures - (pictures * seen).sum(dim=(2, 3), keepdim=True) / count) * seen
    spread = ((even**2).sum(dim=(1, 2, 3), keepdim=True) / (3 * count)).sqrt().clamp(min=1.0)
    return torch.cat((even / spread, seen), dim=1)


# --- Training -------------------------------------------------------------------------------------------------


class Decks:
    """Decks `(d, f, 3, h, w)` RGB, and each face as it was enrolled, several times."""

    def __init__(self, pictures: np.ndarray, device: torch.device) -> None:
        self.faces = torch.from_numpy(pictures).to(device)
        self.device = device
        self.enrol()

    def enrol(self) -> None:
        decks, faces = self.faces.shape[:2]
        flat = self.faces.flatten(0, 1)
        here = []
        for _ in range(ENROLLED):
            parts = [self._enrolled(part) for part in flat.split(1024)]
            here.append(torch.cat(parts).reshape(decks, faces, 3, *SIZE))
        self.enrolled = torch.stack(here, dim=2)
        small = nnf.interpolate(self.enrolled[:, :, 0].flatten(0, 1).float(), (26, 16), mode="area").flatten(1)
        small = small.reshape(-1, 3, 26 * 16)
        rows = nnf.normalize((small - small.mean(dim=2, keepdim=True)).flatten(1), dim=1).reshape(decks, faces, -1)
        alike = torch.einsum("dfi,dgi->dfg", rows, rows)
        self.rivals = torch.softmax(5 * alike - 1e9 * torch.eye(faces, device=self.device), dim=2)

    def _enrolled(self, flat: Tensor) -> Tensor:
        light = (flat.float() / 255) ** 2.2
        seen = grainy(lit(blurred(cut_out(light, 171, 0.25), 0.4), 0.2), 0.02)
        return lab(nnf.interpolate(seen, SIZE, mode="bilinear", antialias=True)).half()

    def crops(self, deck: Tensor, face: Tensor, width_px: int) -> tuple[Tensor, Tensor]:
        """Cards as they lie on the table, in Lab, and what of them is known to be visible."""
        light = (self.faces[deck, face].float() / 255) ** 2.2
        images = cut_out(light, width_px, float(np.random.choice((0.2, 0.4, 0.4, 0.8))))
        sees, told = covers(len(deck), images.shape[2:], self.device)
        other = images[torch.randperm(len(images), device=self.device)]
        images = images * sees + other * (1 - sees)
        images = grainy(lit(blurred(images, 1.6 * min(1.0, width_px / 60)), 1.0), 0.08)
        large = nnf.interpolate(images, SIZE, mode="bilinear", antialias=width_px > SIZE[1])
        return lab(large), (nnf.interpolate(told, SIZE, mode="nearest") > 0.5).float()


def batch(decks: Decks, count: int, width_px: int) -> tuple[Tensor, Tensor, Tensor]:
    """Crops, the faces they are compared with, and 1 for the first of four where it is the same face."""
    device = decks.device
    deck = torch.randint(0, len(decks.faces), (count,), device=device)
    face = torch.randint(0, decks.faces.shape[1], (count,), device=device)
    seen, shown = decks.crops(deck, face, width_px)
    rivals = torch.multinomial(decks.rivals[deck, face], RIVALS)
    faces = torch.cat((face[:, None], rivals), dim=1)
    strange = torch.rand(count, device=device) < STRANGERS
    others = torch.where(strange, torch.randint(0, len(decks.faces), (count,), device=device), deck)
    which = torch.randint(0, ENROLLED, faces.shape, device=device)
    enrolled = decks.enrolled[others[:, None], faces, which].float()
    same = torch.zeros(count, 1 + RIVALS, device=device)
    same[:, 0] = (others == deck).float()
    each = shown[:, None].expand(-1, 1 + RIVALS, -1, -1, -1).flatten(0, 1)
    left = ready(seen, shown)[:, None].expand(-1, 1 + RIVALS, -1, -1, -1).flatten(0, 1)
    return left, ready(enrolled.flatten(0, 1), each), same


def train(decks: Decks, network: nn.Module, minutes: float) -> None:
    """Train for so long; the rate of learning goes up, and then down to nothing."""
    fast = decks.device.type == "cuda"
    adam = torch.optim.AdamW(network.parameters(), RATE, weight_decay=1e-2)
    start, step, told = time.monotonic(), 0, 0.0
    count = CROPS if fast else 32
    while (done := (time.monotonic() - start) / (60 * minutes)) < 1:
        for group in adam.param_groups:
            group["lr"] = RATE * min(1.0, step / 300 + 0.01) * 0.5 * (1 + math.cos(math.pi * done))
        if step % 1500 == 1499:
            decks.enrol()
        width_px = int(np.exp(np.random.uniform(math.log(34), math.log(171))))
        with torch.no_grad():
            left, right, same = batch(decks, count, width_px)
        with torch.autocast(decks.device.type, torch.bfloat16, enabled=fast):
            logits = network(left, right)
        logits = logits.float().reshape(same.shape)
        loss = nnf.binary_cross_entropy_with_logits(logits, same)
        known = same[:, 0] > 0
        loss = loss + 0.5 * nnf.cross_entropy(
            logits[known], torch.zeros(int(known.sum()), dtype=torch.long, device=logits.device)
        )
        adam.zero_grad(set_to_none=True)
        loss.backward()
        nn.utils.clip_grad_norm_(network.parameters(), 1.0)
        adam.step()
        step += 1
        if step % 250 == 0 or not fast:
            told = told or time.monotonic()
            print(f"step {step} {done:.2f} loss {loss.item():.4f}", flush=True)


@torch.no_grad()
def judge(decks: Decks, network: nn.Module) -> None:
    """Print how many of 19 faces are right, and how many may be told so that one of a thousand told is wrong."""
    network.eval()
    faces = decks.faces.shape[1]
    for width_px in (40, 50, 60, 90, 150):
        best, first = [], []
        for number in range(0, len(decks.faces), 8):
            deck = torch.arange(number, min(number + 8, len(decks.faces)), device=decks.device).repeat_interleave(faces)
            face = torch.arange(faces, device=decks.device).repeat(len(deck) // faces)
            seen, shown = decks.crops(deck, face, width_px)
            left = ready(seen, shown)[:, None].expand(-1, faces, -1, -1, -1).flatten(0, 1)
            each = shown[:, None].expand(-1, faces, -1, -1, -1).flatten(0, 1)
            right = ready(decks.enrolled[deck, :, 0].float().flatten(0, 1), each)
            logits = network(left, right).float().reshape(len(deck), faces)
            top = logits.topk(2, dim=1)
            best.append(torch.minimum(top.values[:, 0], top.values[:, 0] - top.values[:, 1]))
            first.append(top.indices[:, 0] == face)
        sure, right_ = torch.cat(best), torch.cat(first)
        order = sure.argsort(descending=True)
        wrong = (~right_[order]).float().cumsum(0) / torch.arange(1, len(order) + 1, device=decks.device)
        most = int((wrong <= 0.001).nonzero().max()) + 1 if (wrong <= 0.001).any() else 0
        least = float(sure[order[most - 1]]) if most else math.inf
        print(f"{width_px} px: best guess right {right_.float().mean():.4f}, "
              f"told {most / len(order):.4f} from {least:.2f}")  # fmt: skip


def drawn(first: int, count: int) -> np.ndarray:
    """Decks by chance, `(count, f, 3, h, w) uint8` RGB."""
    with multiprocessing.Pool() as pool:
        decks = pool.map(chance_decks.faces, range(first, first + count), chunksize=4)
    return np.ascontiguousarray(np.array(decks)[..., ::-1].transpose(0, 1, 4, 2, 3))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("out", type=Path)
    parser.add_argument("--decks", type=int, default=1500)
    parser.add_argument("--minutes", type=float, default=6.0)
    given = parser.parse_args()
    torch.manual_seed(1)
    np.random.seed(1)
    device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
    start = time.monotonic()
    decks = Decks(drawn(0, given.decks), device)
    unseen = Decks(drawn(10**6, max(2, given.decks // 15)), device)
    print(f"drawn in {time.monotonic() - start:.0f} s", flush=True)
    network = SecondOpinion().to(device)
    print(f"{sum(p.numel() for p in network.parameters())} weights", flush=True)
    train(decks, network, given.minutes)
    judge(unseen, network)
    given.out.mkdir(parents=True, exist_ok=True)
    example = torch.zeros(2, 4, *SIZE)
    names = ["seen", "enrolled", "logit"]
    torch.onnx.export(
        network.cpu().eval(),
        (example, example),
        str(given.out / "second_opinion.onnx"),
        input_names=names[:2],
        output_names=names[2:],
        dynamic_axes={name: {0: "n"} for name in names},
        opset_version=13,
        dynamo=False,
    )


if __name__ == "__main__":
    main()
