import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { createMessageReader } from '../../../embedded-database/engine/wire.ts';

const message = (body: Uint8Array): Buffer => {
  const bytes = Buffer.concat([Buffer.alloc(16), body]);
  bytes.writeInt32LE(bytes.length, 0);
  return bytes;
};

const cut = (stream: Buffer, sizes: number[]): Buffer[] => {
  const chunks: Buffer[] = [];
  let at = 0;
  for (const size of sizes) {
    chunks.push(stream.subarray(at, at + size));
    at += size;
  }
  return [...chunks, stream.subarray(at)];
};

describe('createMessageReader', () => {
  it('returns the same messages, wherever the stream is divided into chunks', () => {
    fc.assert(
      fc.property(
        fc.array(fc.uint8Array({ maxLength: 200 }), { maxLength: 8 }),
        fc.array(fc.integer({ min: 0, max: 60 }), { maxLength: 30 }),
        (bodies, sizes) => {
          const sent = bodies.map(message);
          const read = createMessageReader();
          const received = cut(Buffer.concat(sent), sizes).flatMap((chunk) => read(chunk));
          expect(received).toEqual(sent);
        },
      ),
    );
  });

  it.each([-1, 0, 15, 48_000_001])('throws for a message whose header states %i bytes', (length) => {
    const header = Buffer.alloc(16);
    header.writeInt32LE(length, 0);
    expect(() => createMessageReader()(header)).toThrow(/bytes/);
  });
});
