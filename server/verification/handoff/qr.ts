import { encode } from 'uqr';

/** Modules of white around the code that scanners need. */
const quietZoneModules = 4;

/** A QR code as one path of an SVG of `size` × `size` units: a rectangle for each run of dark modules. */
export function qrCode(text: string): { size: number; path: string } {
  const { data, size } = encode(text, { ecc: 'M', border: quietZoneModules });
  const runs = data.flatMap((row, y) => {
    const modules = row.map((dark) => (dark ? '1' : '0')).join('');
    const darkRuns = [...modules.matchAll(/1+/g)];
    return darkRuns.map(({ index: x, 0: { length } }) => `M${x} ${y}h${length}v1h-${length}z`);
  });
  return { size, path: runs.join('') };
}
