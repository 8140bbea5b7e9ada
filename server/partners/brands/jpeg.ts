import { readFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import createDecoder from '@jsquash/jpeg/codec/dec/mozjpeg_dec.js';

export interface Picture {
  width: number;
  height: number;
  /** Red, green, blue and opacity of each pixel, 0 to 255, row by row. */
  data: Uint8Array;
}

/** The part of the compiled decoder that is used here. Its own types need those of a browser. */
type Decoder = (options: {
  noInitialRun: true;
  wasmBinary: Uint8Array;
  print: (line: string) => void;
  printErr: (line: string) => void;
}) => Promise<{ decode: (file: Uint8Array, keepsOrientation: boolean) => Picture | null }>;

/** The decoder returns an instance of this class of browsers, which Node.js does not have. */
class DecodedImage implements Picture {
  readonly data: Uint8Array;
  readonly width: number;
  readonly height: number;
  constructor(data: Uint8Array, width: number, height: number) {
    this.data = data;
    this.width = width;
    this.height = height;
  }
}

const decoderFile = createRequire(import.meta.url).resolve('@jsquash/jpeg/codec/dec/mozjpeg_dec.wasm');

/**
 * Decodes a JPEG in a WebAssembly sandbox.
 * @throws Error if the file is damaged, also if a part of the picture could be read
 */
export async function decodeJpeg(file: Uint8Array): Promise<Picture> {
  Object.assign(globalThis, { ImageData: DecodedImage });
  const faults: string[] = [];
  const decoder = await (createDecoder as unknown as Decoder)({
    noInitialRun: true,
    wasmBinary: await readFile(decoderFile),
    print: () => undefined,
    printErr: (line) => void faults.push(line),
  });
  const picture = decoder.decode(file, false);
  if (!picture || faults.length > 0) throw new Error(faults[0] ?? 'the decoder returned no picture');
  return picture;
}

/** The markers of a frame header, `SOF0` to `SOF15`. Three in this range are of other segments. */
const isFrameHeader = (marker: number): boolean =>
  marker >= 0xc0 && marker <= 0xcf && ![0xc4, 0xc8, 0xcc].includes(marker);

/** Reads the width and height from the frame header, before anything is decoded. Undefined if the file has none. */
export function sidesOfJpeg(file: Buffer): Pick<Picture, 'width' | 'height'> | undefined {
  // Each segment before the first scan is: 0xff, a marker, and the length of what follows, in two bytes.
  for (let at = 2; at + 9 <= file.length && file[at] === 0xff; ) {
    const marker = file[at + 1] ?? 0;
    if (isFrameHeader(marker)) return { height: file.readUInt16BE(at + 5), width: file.readUInt16BE(at + 7) };
    // A marker may be preceded by fill bytes, which have the same value.
    at += marker === 0xff ? 1 : 2 + file.readUInt16BE(at + 2);
  }
  return undefined;
}
