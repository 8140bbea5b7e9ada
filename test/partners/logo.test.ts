import { deflateSync } from 'node:zlib';
import { PNG } from 'pngjs';
import { describe, expect, it } from 'vitest';
import { largestLogo, remakeLogo } from '../../server/partners/brands/logo.ts';
import { encodeJpeg } from './jpeg-files.ts';

/** Returns the checksum of a PNG chunk (RFC 2083, section 15). */
function crc32(data: Buffer): number {
  let crc = -1;
  for (const byte of data) {
    crc ^= byte;
    for (let bit = 0; bit < 8; bit += 1) crc = (crc >>> 1) ^ (crc & 1 ? 0xed_b8_83_20 : 0);
  }
  return ~crc;
}

type Pixel = readonly [number, number, number, number];

function picture(width: number, height: number, pixel: (x: number, y: number) => Pixel): PNG {
  const image = new PNG({ width, height });
  for (let y = 0; y < height; y += 1)
    for (let x = 0; x < width; x += 1) image.data.set(pixel(x, y), (y * width + x) * 4);
  return image;
}
const png = (...of: Parameters<typeof picture>) => PNG.sync.write(picture(...of));
const red: Pixel = [200, 10, 20, 255];
const clear: Pixel = [0, 255, 0, 0];
const noise = (): Pixel => [Math.random() * 256, Math.random() * 256, Math.random() * 256, 255];

/** Returns a red PNG file of 64 × 64 pixels whose header states other values. */
function forged({ width = 64, height = 64, interlace = 0 }): Buffer {
  const file = png(64, 64, () => red);
  file.writeUInt32BE(width, 16);
  file.writeUInt32BE(height, 20);
  file[28] = interlace;
  return file;
}

describe('remakeLogo', () => {
  it('reduces a 600 × 300 picture to 264 × 132, with the same colours', async () => {
    const made = PNG.sync.read(await remakeLogo(png(600, 300, (x) => (x < 300 ? red : clear))));
    expect([made.width, made.height]).toEqual([264, 132]);
    expect([...made.data.subarray(0, 4)]).toEqual(red);
    const last = made.data.subarray(-4);
    expect(last[3]).toBe(0);
  });

  it('does not enlarge a small picture', async () => {
    const made = PNG.sync.read(await remakeLogo(png(20, 16, () => red)));
    expect([made.width, made.height]).toEqual([20, 16]);
  });

  it('does not mix a colour with the black of transparent pixels when it reduces a picture', async () => {
    const made = PNG.sync.read(await remakeLogo(png(528, 528, (x) => (x % 4 < 2 ? red : clear))));
    expect([...made.data.subarray(0, 4)]).toEqual([200, 10, 20, 128]);
  });

  it('accepts a JPEG file', async () => {
    const data = await encodeJpeg(picture(300, 200, () => red));
    const made = PNG.sync.read(await remakeLogo(data));
    expect([made.width, made.height]).toEqual([198, 132]);
    for (const [channel, value] of red.entries())
      expect(Math.abs((made.data[channel] ?? 0) - value)).toBeLessThan(6);
  });

  it('drops a comment in a PNG file: the result equals that of the same picture without comment', async () => {
    const plain = png(100, 100, () => red);
    const comment = Buffer.from('tEXtComment\0<script>alert(1)</script>');
    const chunk = Buffer.alloc(comment.length + 8);
    chunk.writeUInt32BE(comment.length - 4, 0);
    comment.copy(chunk, 4);
    chunk.writeInt32BE(crc32(comment), comment.length + 4);
    const file = Buffer.concat([plain.subarray(0, 33), chunk, plain.subarray(33)]);
    expect(file.includes('<script>')).toBe(true);
    expect(await remakeLogo(file)).toEqual(await remakeLogo(plain));
  });

  it.each([64, 264, 1024])(
    'returns a file within the size limit of logos, even for noise that is %d pixels wide',
    async (side) => {
      const made = await remakeLogo(png(side, Math.min(side, 512), noise));
      expect(made.length).toBeLessThanOrEqual(largestLogo);
    },
  );
});

describe('an uploaded logo file', () => {
  const svg = Buffer.from('<svg xmlns="http://www.w3.org/2000/svg"><script>alert(1)</script></svg>');
  const gif = Buffer.from('GIF89a'.padEnd(64, '\0'));
  const jpeg = Buffer.from('ffd8ffe0', 'hex');
  it.each([
    ['an SVG file', svg, 'PNG or JPEG'],
    ['a GIF file', gif, 'PNG or JPEG'],
    ['an empty file', Buffer.alloc(0), 'PNG or JPEG'],
    ['a PNG file that ends early', png(64, 64, () => red).subarray(0, 60), 'could not be read'],
    ['a PNG file that ends in its header', png(64, 64, () => red).subarray(0, 20), 'not a whole PNG'],
    ['a PNG file with data after its end', Buffer.concat([png(64, 64, () => red), svg]), 'could not be read'],
    ['a PNG file with too many pixels', forged({ width: 50_000, height: 50_000 }), '1,048,576 pixels'],
    ['a PNG file without height', forged({ height: 0 }), 'at least 16 pixels'],
    ['a picture that is 20 times as wide as high', png(400, 20, () => red), '3 times as wide'],
    ['an interlaced PNG file', forged({ interlace: 1 }), 'interlaced'],
    [
      'a JPEG file with many scans',
      Buffer.concat([jpeg, Buffer.from('ffda'.repeat(41), 'hex')]),
      'too many scans',
    ],
    ['half a JPEG file', jpeg, 'could not be read'],
  ])('causes an error that names the fault if it is %s', async (_what, file, because) => {
    await expect(remakeLogo(file)).rejects.toThrow(because);
  });

  it('is refused without full decompression if it has more pixels than its header states', async () => {
    const bomb = deflateSync(Buffer.alloc(64 * 1024 * 1024));
    const chunk = Buffer.alloc(bomb.length + 12);
    chunk.writeUInt32BE(bomb.length, 0);
    chunk.write('IDAT', 4);
    bomb.copy(chunk, 8);
    const header = png(64, 64, () => red).subarray(0, 33);
    const before = process.memoryUsage().arrayBuffers;
    await expect(remakeLogo(Buffer.concat([header, chunk]))).rejects.toThrow('could not be read');
    expect(process.memoryUsage().arrayBuffers - before).toBeLessThan(16 * 1024 * 1024);
  });
});
