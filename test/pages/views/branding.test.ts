import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  brandStyle,
  contrast,
  paletteOf,
  parseColor,
  readable,
} from '../../../server/pages/views/branding.ts';

const anyColor = fc
  .integer({ min: 0, max: 0xffffff })
  .map((number) => `#${number.toString(16).padStart(6, '0')}`);

/** Copies of the colours `--card`, `--ink` and `--soft` of theme.css. */
const theme = {
  light: { card: parseColor('#ffffff'), ink: parseColor('#13201b'), soft: parseColor('#4d5c56') },
  dark: { card: parseColor('#161e1b'), ink: parseColor('#e8eeeb'), soft: parseColor('#a8b6b0') },
};

describe('contrast, the ratio of two colours,', () => {
  it('returns the ratios of the WCAG examples: 21 for black on white, 4.48 for #777777 on white', () => {
    expect(contrast(parseColor('#000000'), parseColor('#ffffff'))).toBeCloseTo(21);
    expect(contrast(parseColor('#777777'), parseColor('#ffffff'))).toBeCloseTo(4.48, 2);
  });
});

describe("a partner's colour", () => {
  it.each(['light', 'dark'] as const)(
    'yields a palette for the %s scheme in which every text has enough contrast, whatever the colour is',
    (scheme) => {
      fc.assert(
        fc.property(anyColor, (color) => {
          const { accent, accentDeep, onAccent, tint, tile, onTile } = paletteOf(parseColor(color), scheme);
          const { card, ink, soft } = theme[scheme];
          const pairs = [
            [onAccent, accent],
            [onAccent, accentDeep],
            [accent, card],
            [accent, tint],
            [ink, tint],
            [soft, tint],
            [onTile, tile],
          ] as const;
          for (const [text, ground] of pairs) expect(contrast(text, ground)).toBeGreaterThanOrEqual(readable);
        }),
        { numRuns: 1000 },
      );
    },
  );

  it('is used unchanged as the accent if it has enough contrast', () => {
    expect(paletteOf(parseColor('#8a1538'), 'light').accent).toEqual(parseColor('#8a1538'));
    expect(paletteOf(parseColor('#ffd166'), 'dark').accent).toEqual(parseColor('#ffd166'));
  });

  it('is sent as a style sheet that contains only colours', () => {
    fc.assert(
      fc.property(anyColor, (color) => {
        expect(brandStyle(color)).toMatch(
          /^:root\{(--[a-z-]+:#[0-9a-f]{6};?)+\}@media \(prefers-color-scheme:dark\)\{:root\{(--[a-z-]+:#[0-9a-f]{6};?)+\}\}\n$/,
        );
      }),
    );
  });
});
