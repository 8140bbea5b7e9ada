import { decode as decodeJpeg } from 'jpeg-js';
import { PNG } from 'pngjs';
import { ApiError } from '../platform/errors.ts';

/** Red, green, blue and opacity of each pixel, 0 to 255, row by row. */
interface Picture {
  width: number;
  height: number;
  data: Uint8Array;
}

const mostPixels = 1_048_576;
const leastSide = 16;
/** A progressive JPEG has some ten scans; each one costs time, however few bytes it has. */
const mostScans = 40;
/** Heights in pixels to try until a file is small enough; the pages show 44, on screens of up to three times as many. */
const heights = [132, 88, 44, 32] as const;
/** Width by height, at most. */
const widest = 3;
/** Bytes of a logo as the pages load it. */
export const largestLogo = 12_000;

const pngMark = Buffer.from('89504e470d0a1a0a', 'hex');

function refused(description: string, cause?: unknown): ApiError {
  return new ApiError('refused', { description: `The logo ${description}`, cause });
}

function assertSides(width: number, height: number): void {
  if (width < leastSide || height < leastSide)
    throw refused(`must be at least ${leastSide} pixels wide and high`);
  if (width * height > mostPixels) throw refused('must have at most 1,048,576 pixels, such as 1024 × 1024');
  if (width > height * widest || height > width * widest)
    throw refused(`must be at most ${widest} times as wide as it is high, or as high as it is wide`);
}

function readPng(file: Buffer): Picture {
  if (file.length < 33) throw refused('is not a whole PNG file');
  assertSides(file.readUInt32BE(16), file.readUInt32BE(20));
  // The decoder does not bound the unpacked size of an interlaced file.
  if (file[28] !== 0) throw refused('must not be an interlaced PNG: save it without interlacing');
  return PNG.sync.read(file);
}

function readJpeg(file: Buffer): Picture {
  const scans = file.toString('latin1').split('\xff\xda').length - 1;
  if (scans > mostScans) throw refused('is a JPEG with too many scans: save it again');
  const limits = { maxResolutionInMP: mostPixels / 1e6, maxMemoryUsageInMB: 64 };
  return decodeJpeg(file, { ...limits, useTArray: true, formatAsRGBA: true, tolerantDecoding: false });
}

/** The format follows from the first bytes: the file's name and declared type are not trusted. */
function read(file: Buffer): Picture {
  try {
    if (file.subarray(0, 8).equals(pngMark)) return readPng(file);
    if (file.subarray(0, 3).equals(Buffer.from('ffd8ff', 'hex'))) return readJpeg(file);
  } catch (error) {
    if (error instanceof ApiError) throw error;
    throw refused('could not be read, or is too large', error);
  }
  throw refused('must be a PNG or JPEG file');
}

/** The mean of the pixels of a box, each weighed by its opacity. */
function meanOf(picture: Picture, box: { left: number; top: number; right: number; bottom: number }) {
  const sum = [0, 0, 0, 0];
  for (let y = box.top; y < box.bottom; y += 1) {
    for (let x = box.left; x < box.right; x += 1) {
      const at = (y * picture.width + x) * 4;
      const opacity = picture.data[at + 3] ?? 0;
      for (let channel = 0; channel < 3; channel += 1)
        sum[channel] = (sum[channel] ?? 0) + (picture.data[at + channel] ?? 0) * opacity;
      sum[3] = (sum[3] ?? 0) + opacity;
    }
  }
  const [red = 0, green = 0, blue = 0, opacity = 0] = sum;
  const pixels = (box.right - box.left) * (box.bottom - box.top);
  const colors = [red, green, blue].map((value) => (opacity === 0 ? 0 : Math.round(value / opacity)));
  return [...colors, Math.round(opacity / pixels)];
}

/** Smaller, never larger. */
function reduced(picture: Picture, height: number): PNG {
  const share = Math.min(1, height / picture.height);
  const image = new PNG({
    width: Math.max(1, Math.round(picture.width * share)),
    height: Math.max(1, Math.round(picture.height * share)),
  });
  const edges = (index: number, count: number, of: number) => {
    const from = Math.floor((index * of) / count);
    return [from, Math.max(from + 1, Math.floor(((index + 1) * of) / count))] as const;
  };
  for (let y = 0; y < image.height; y += 1) {
    const [top, bottom] = edges(y, image.height, picture.height);
    for (let x = 0; x < image.width; x += 1) {
      const [left, right] = edges(x, image.width, picture.width);
      image.data.set(meanOf(picture, { left, top, right, bottom }), (y * image.width + x) * 4);
    }
  }
  return image;
}

/**
 * Makes a PNG of our own from an uploaded PNG or JPEG: only its pixels are kept, none of its bytes.
 * @throws ApiError `refused` with the fault of the file
 */
export function remakeLogo(file: Buffer): Buffer {
  const picture = read(file);
  assertSides(picture.width, picture.height);
  for (const height of heights) {
    const made = PNG.sync.write(reduced(picture, height));
    if (made.length <= largestLogo) return made;
  }
  throw refused('has too much detail: use a plainer one');
}
