"""Small pictures: a screenshot reduced to the 128 colours that it has most of."""

from __future__ import annotations

import base64
import struct
import zlib
from typing import Final

from playwright.async_api import Browser

# Colours are gathered in cubes of 8 x 8 x 8 shades; the fullest cubes are those that are kept.
REDUCE: Final = """async (picture) => {
  const blob = await (await fetch(`data:image/png;base64,${picture}`)).blob();
  const image = await createImageBitmap(blob);
  const { width, height } = image;
  const canvas = new OffscreenCanvas(width, height).getContext("2d");
  canvas.drawImage(image, 0, 0);
  const { data } = canvas.getImageData(0, 0, width, height);
  const cubes = new Map();
  const cubeAt = (k) => ((data[k] >> 3) << 10) | ((data[k + 1] >> 3) << 5) | (data[k + 2] >> 3);
  for (let k = 0; k < data.length; k += 4) {
    const cube = cubeAt(k);
    const sum = cubes.get(cube) ?? [0, 0, 0, 0];
    for (let c = 0; c < 3; c++) sum[c] += data[k + c];
    sum[3]++;
    cubes.set(cube, sum);
  }
  const mean = ([r, g, b, count]) => [r, g, b].map((each) => Math.round(each / count));
  const fullest = [...cubes.values()].sort((one, other) => other[3] - one[3]).slice(0, 128);
  const palette = fullest.map(mean);
  const nearest = new Map();
  for (const [cube, sum] of cubes) {
    const wanted = mean(sum);
    const away = (colour) => colour.reduce((all, each, c) => all + (each - wanted[c]) ** 2, 0);
    let best = 0;
    palette.forEach((colour, k) => { if (away(colour) < away(palette[best])) best = k; });
    nearest.set(cube, best);
  }
  let text = "";
  for (let k = 0; k < data.length; k += 4) text += String.fromCharCode(nearest.get(cubeAt(k)));
  return [width, height, palette.flat(), btoa(text)];
}"""


async def reduced(browser: Browser, picture: bytes) -> bytes:
    """Return a PNG with few colours, and so with few bytes."""
    page = await browser.new_page()
    try:
        width, height, palette, pixels = await page.evaluate(
            REDUCE, base64.b64encode(picture).decode()
        )
    finally:
        await page.close()
    rows = base64.b64decode(pixels)
    lines = b"".join(b"\0" + rows[k : k + width] for k in range(0, width * height, width))
    return b"".join(
        (
            b"\x89PNG\r\n\x1a\n",
            _chunk(b"IHDR", struct.pack(">IIBBBBB", width, height, 8, 3, 0, 0, 0)),
            _chunk(b"PLTE", bytes(palette)),
            _chunk(b"IDAT", zlib.compress(lines, 9)),
            _chunk(b"IEND", b""),
        )
    )


def _chunk(kind: bytes, data: bytes) -> bytes:
    return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))
