import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import createEncoder from '@jsquash/jpeg/codec/enc/mozjpeg_enc.js';
import { defaultOptions } from '@jsquash/jpeg/meta.js';

interface Pixels {
  width: number;
  height: number;
  data: Uint8Array;
}
type Encoder = (options: object) => Promise<{
  encode: (data: Uint8Array, width: number, height: number, options: object) => Uint8Array;
}>;

const file = createRequire(import.meta.url).resolve('@jsquash/jpeg/codec/enc/mozjpeg_enc.wasm');

/** Makes a JPEG file, a progressive one by default. */
export async function encodeJpeg({ data, width, height }: Pixels, options: object = {}): Promise<Buffer> {
  const encoder = await (createEncoder as unknown as Encoder)({
    noInitialRun: true,
    wasmBinary: readFileSync(file),
  });
  const encoded = encoder.encode(data, width, height, { ...defaultOptions, quality: 95, ...options });
  return Buffer.from(encoded);
}
