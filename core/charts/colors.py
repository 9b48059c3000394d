"""Colors of charts in the light and the dark theme, and the contrast between two colors."""

from __future__ import annotations

from typing import Literal

Theme = Literal["light", "dark"]

BACKGROUNDS: dict[Theme, str] = {"light": "#ffffff", "dark": "#0d1113"}
INK: dict[Theme, str] = {"light": "#1a1a1a", "dark": "#f2f2f2"}
MARK: dict[Theme, str] = {"light": "#0b63a5", "dark": "#5aa9e6"}
BAND: dict[Theme, str] = {"light": "#767676", "dark": "#8c8c8c"}
_OPTION_STOPS: dict[Theme, tuple[str, ...]] = {
    "light": ("#7a2d04", "#b5500b", "#8f8377", "#2f7fb8", "#0a3f75"),
    "dark": ("#f2a65a", "#c9762b", "#9b9590", "#5f9fd0", "#a9d3f5"),
}
"""From the first option to the last; read with a dark outline or a light one, never alone."""
LIGHTS: dict[Theme, dict[str, str]] = {
    "light": {"green": "#1a7f37", "red": "#b3261e", "grey": "#6f6f6f"},
    "dark": {"green": "#4cc16a", "red": "#ff8a80", "grey": "#9a9a9a"},
}
"""Of ratings; each also has a shape and a word of its own."""
STATUS_GREYS: dict[Theme, tuple[str, ...]] = {
    "light": ("#555555", "#6f6f6f", "#878787"),
    "dark": ("#b5b5b5", "#9a9a9a", "#808080"),
}


def option_colors(n_options: int, theme: Theme) -> tuple[str, ...]:
    """Colors of `n_options` ordered options, from orange over gray to blue."""
    return tuple(color_at(number / max(n_options - 1, 1), theme) for number in range(n_options))


def color_at(share: float, theme: Theme) -> str:
    """The color at a share of the way from orange (0) over gray (.5) to blue (1)."""
    stops = [_rgb(color) for color in _OPTION_STOPS[theme]]
    place = share * (len(stops) - 1)
    left = min(int(place), len(stops) - 2)
    rest = place - left
    mixed = [round(a + (b - a) * rest) for a, b in zip(stops[left], stops[left + 1], strict=True)]
    return "#" + "".join(f"{channel:02x}" for channel in mixed)


def contrast(first: str, second: str) -> float:
    """Contrast ratio of two colors, 1 to 21 (WCAG 2.2)."""
    low, high = sorted((_luminance(first), _luminance(second)))
    return (high + 0.05) / (low + 0.05)


def readable_on(fill: str) -> str:
    """Black or white, whichever is read better on the fill."""
    return max(("#000000", "#ffffff"), key=lambda ink: contrast(ink, fill))


def _rgb(color: str) -> tuple[int, int, int]:
    return int(color[1:3], 16), int(color[3:5], 16), int(color[5:7], 16)


def _luminance(color: str) -> float:
    """Relative luminance (WCAG 2.2)."""
    linear = [
        c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4
        for c in (channel / 255 for channel in _rgb(color))
    ]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]
