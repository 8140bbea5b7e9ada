import { encode } from 'uqr';

/** The width of the white border that scanners need, in modules (the squares of the code). */
const quietZoneModules = 4;

/** A QR code as one path of an SVG of `size` × `size` units: a rectangle for each run of dark modules. */
export function qrCode(text: string): { size: number; path: string } {
  const { data, size } = encode(text, { ecc: 'M', border: quietZoneModules });
  const rectangles = data.flatMap((row, y) => {
    const modules = row.map((isDark) => (isDark ? '1' : '0')).join('');
    return [...modules.matchAll(/1+/g)].map(({ index: x, 0: { length: width } }) => {
      // Move to the start, then draw along the top, the right side and the bottom, and close the shape.
      return `M${x} ${y}h${width}v1h-${width}z`;
    });
  });
  return { size, path: rectangles.join('') };
}
