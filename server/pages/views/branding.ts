/** Red, green and blue, 0 to 255. */
type Color = readonly [number, number, number];

const white: Color = [255, 255, 255];
const black: Color = [0, 0, 0];
/** Backgrounds of the accent colour; the same as `--card` in theme.css. */
const cards = { light: white, dark: [22, 30, 27] } as const satisfies Record<string, Color>;
const darkInk: Color = [8, 16, 13];
/** The contrast that text of any size must have (WCAG 1.4.3, level AA). */
export const readable = 4.5;

/** Reads `#rrggbb`. */
export function parseColor(text: string): Color {
  const channelAt = (index: number) => Number.parseInt(text.slice(index, index + 2), 16);
  return [channelAt(1), channelAt(3), channelAt(5)];
}

/** The relative luminance, 0 to 1, by the formula of WCAG 2.2. */
function luminance(color: Color): number {
  const [red, green, blue] = color.map((channel) => {
    const share = channel / 255;
    return share <= 0.040_45 ? share / 12.92 : ((share + 0.055) / 1.055) ** 2.4;
  }) as [number, number, number];
  return 0.2126 * red + 0.7152 * green + 0.0722 * blue;
}

/** WCAG's contrast ratio, 1 to 21. */
export function contrast(a: Color, b: Color): number {
  const [darker = 0, lighter = 0] = [luminance(a), luminance(b)].sort((x, y) => x - y);
  return (lighter + 0.05) / (darker + 0.05);
}

/** The colour between two others. `share` is that of `to`, from 0 to 1. */
function mix(from: Color, to: Color, share: number): Color {
  return from.map((channel, index) =>
    Math.round(channel + ((to[index] ?? 0) - channel) * share),
  ) as unknown as Color;
}

/** Mixes `color` with the least amount of `target` that makes it readable on every background. */
function madeReadable(
  color: Color,
  target: Color,
  backgroundsOf: (candidate: Color) => readonly Color[],
): Color {
  for (let share = 0; share < 1; share += 0.02) {
    const candidate = mix(color, target, share);
    const backgrounds = backgroundsOf(candidate);
    if (backgrounds.every((background) => contrast(candidate, background) >= readable)) return candidate;
  }
  return target;
}

export interface Palette {
  accent: Color;
  accentDeep: Color;
  onAccent: Color;
  tint: Color;
  /** The partner's own colour, as it is, under the first letter of its name. */
  tile: Color;
  onTile: Color;
}

/** The background of emphasised parts: the card with a little of the accent. */
const tinted = (accent: Color, card: Color) => mix(card, accent, 0.07);

/** The accents of a page from a partner's colour; all text is readable with any colour. */
export function paletteOf(color: Color, scheme: 'light' | 'dark'): Palette {
  const card = cards[scheme];
  // The accent moves away from the background: darker on a light page, lighter on a dark one.
  const [away, onAccent] = scheme === 'light' ? [black, white] : [white, darkInk];
  // The accent is text on the card and its tint. It is also the background of `onAccent`, which needs the same contrast.
  const accent = madeReadable(color, away, (candidate) => [card, tinted(candidate, card), onAccent]);
  return {
    accent,
    accentDeep: mix(accent, away, 0.25),
    onAccent,
    tint: tinted(accent, card),
    tile: color,
    onTile: contrast(color, white) >= contrast(color, black) ? white : black,
  };
}

const hexOf = (color: Color) => `#${color.map((channel) => channel.toString(16).padStart(2, '0')).join('')}`;

const kebabCase = (name: string) => name.replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`);

/** A palette as custom properties of CSS, such as `--accent-deep:#1f4d3a`. */
const declarations = (palette: Palette): string =>
  Object.entries(palette)
    .map(([name, color]) => `--${kebabCase(name)}:${hexOf(color)}`)
    .join(';');

/** The style sheet of a client's colour, `#rrggbb`. Pages load it after the common style sheet. */
export function brandStyle(color: string): string {
  const [light, dark] = (['light', 'dark'] as const).map((scheme) =>
    declarations(paletteOf(parseColor(color), scheme)),
  );
  return `:root{${light}}@media (prefers-color-scheme:dark){:root{${dark}}}\n`;
}
