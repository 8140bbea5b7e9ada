import { PNG } from 'pngjs';
import { ApiError } from '../../platform/errors.ts';
import { decodeJpeg, type Picture, sidesOfJpeg } from './jpeg.ts';

/** The result of a worker thread: the new file, or why the uploaded one is refused. */
export type RemadeLogo = { png: Uint8Array } | { refused: string };

/** The most pixels of an upload. They bound the memory and time of decoding. */
const mostPixels = 1_048_576;
/** The least width and height of an upload, in pixels. */
const leastSide = 16;
/** A progressive JPEG has about ten scans: parts that refine the picture step by step. Each costs time, even if it has few bytes. */
const mostScans = 40;
/** Heights in pixels to try until the file is small enough. The pages show 44 pixels, which are 132 on the finest screens. */
const heights = [132, 88, 44, 32] as const;
/** The highest ratio of the longer side to the shorter side. */
const mostStretched = 3;
/** The most bytes of a logo as the pages load it. */
export const largestLogo = 12_000;

const pngSignature = Buffer.from('89504e470d0a1a0a', 'hex');
const jpegSignature = Buffer.from('ffd8ff', 'hex');
/** The two bytes before each scan of a JPEG, as text. */
const startOfScan = '\xff\xda';
/** Offsets in a PNG, in bytes: of its width, its height and its kind of interlacing, and of the end of its header. */
const pngHeader = { width: 16, height: 20, interlacing: 28, end: 33 };
/** A pixel has red, green, blue and opacity, in this order. */
const bytesPerPixel = 4;

function refused(description: string, cause?: unknown): ApiError {
  return new ApiError('refused', { description: `The logo ${description}`, cause });
}

function assertSides(width: number, height: number): void {
  if (width < leastSide || height < leastSide)
    throw refused(`must be at least ${leastSide} pixels wide and high`);
  if (width * height > mostPixels) throw refused('must have at most 1,048,576 pixels, such as 1024 × 1024');
  if (width > height * mostStretched || height > width * mostStretched)
    throw refused(`must be at most ${mostStretched} times as wide as it is high, or as high as it is wide`);
}

function readPng(file: Buffer): Picture {
  if (file.length < pngHeader.end) throw refused('is not a whole PNG file');
  assertSides(file.readUInt32BE(pngHeader.width), file.readUInt32BE(pngHeader.height));
  // The decoder does not bound the unpacked size of an interlaced file.
  if (file[pngHeader.interlacing] !== 0)
    throw refused('must not be an interlaced PNG: save it without interlacing');
  return PNG.sync.read(file);
}

function readJpeg(file: Buffer): Promise<Picture> {
  // As latin1 text, each byte is one character. So the text between two marks is one scan.
  const [, ...scans] = file.toString('latin1').split(startOfScan);
  if (scans.length > mostScans) throw refused('is a JPEG with too many scans: save it again');
  const sides = sidesOfJpeg(file);
  if (!sides) throw refused('could not be read');
  assertSides(sides.width, sides.height);
  return decodeJpeg(file);
}

const startsWith = (file: Buffer, signature: Buffer): boolean =>
  file.subarray(0, signature.length).equals(signature);

/** Decodes a file. Its first bytes decide the format, because the file's name and declared type are not trusted. */
async function decode(file: Buffer): Promise<Picture> {
  try {
    if (startsWith(file, pngSignature)) return readPng(file);
    if (startsWith(file, jpegSignature)) return await readJpeg(file);
  } catch (error) {
    if (error instanceof ApiError) throw error;
    throw refused('could not be read, or is too large', error);
  }
  throw refused('must be a PNG or JPEG file');
}

/**
 * Returns the mean red, green, blue and opacity of the pixels of a box. A color counts by its opacity, because the color of a
 * transparent pixel is not visible.
 * @param box the edges of the box. The pixels at `right` and `bottom` are outside
 */
function meanOf({ width, data }: Picture, box: { left: number; top: number; right: number; bottom: number }) {
  const sum = { red: 0, green: 0, blue: 0, opacity: 0 };
  for (let y = box.top; y < box.bottom; y += 1) {
    for (let x = box.left; x < box.right; x += 1) {
      const pixel = (y * width + x) * bytesPerPixel;
      const opacity = data[pixel + 3] ?? 0;
      sum.red += (data[pixel] ?? 0) * opacity;
      sum.green += (data[pixel + 1] ?? 0) * opacity;
      sum.blue += (data[pixel + 2] ?? 0) * opacity;
      sum.opacity += opacity;
    }
  }
  const pixels = (box.right - box.left) * (box.bottom - box.top);
  // Without any opacity, all three sums are 0, and stay 0.
  const colors = [sum.red, sum.green, sum.blue].map((color) => Math.round(color / (sum.opacity || 1)));
  return [...colors, Math.round(sum.opacity / pixels)];
}

/**
 * Scales a picture down to a height. A picture that is already smaller keeps its size. Each pixel of the result is the mean of the
 * box of pixels that it replaces.
 */
function scaleDown(picture: Picture, height: number): PNG {
  const scale = Math.min(1, height / picture.height);
  const image = new PNG({
    width: Math.max(1, Math.round(picture.width * scale)),
    height: Math.max(1, Math.round(picture.height * scale)),
  });
  /** Returns where the box of a pixel begins and ends in the picture, along one axis. A box has at least one pixel. */
  const edges = (index: number, newLength: number, oldLength: number) => {
    const begin = Math.floor((index * oldLength) / newLength);
    const end = Math.floor(((index + 1) * oldLength) / newLength);
    return [begin, Math.max(begin + 1, end)] as const;
  };
  for (let y = 0; y < image.height; y += 1) {
    const [top, bottom] = edges(y, image.height, picture.height);
    for (let x = 0; x < image.width; x += 1) {
      const [left, right] = edges(x, image.width, picture.width);
      const offset = (y * image.width + x) * bytesPerPixel;
      image.data.set(meanOf(picture, { left, top, right, bottom }), offset);
    }
  }
  return image;
}

/**
 * Makes a new PNG from an uploaded PNG or JPEG. Only the pixels are kept, none of the uploaded bytes. It takes up to a second, so it
 * runs in a worker thread.
 * @throws ApiError `refused` with the reason if the file is not acceptable
 */
export async function remakeLogo(file: Buffer): Promise<Buffer> {
  const picture = await decode(file);
  assertSides(picture.width, picture.height);
  for (const height of heights) {
    const logo = PNG.sync.write(scaleDown(picture, height));
    if (logo.length <= largestLogo) return logo;
  }
  throw refused('has too much detail: use a plainer one');
}
