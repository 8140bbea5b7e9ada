import { brotliCompressSync, deflateSync, gzipSync } from 'node:zlib';
import { expect, it } from 'vitest';
import { firstBytes } from '../../../server/webhooks/egress/request.ts';

const text = 'Signature header missing. '.repeat(10_000);

it.each([
  [undefined, Buffer.from(text)],
  ['identity', Buffer.from(text)],
  ['gzip', gzipSync(text)],
  [' X-GZIP', gzipSync(text)],
  ['deflate', deflateSync(text)],
  ['br', brotliCompressSync(text)],
])('the first bytes of a response with the encoding %s are decompressed', async (encoding, body) => {
  const answer = { status: 400, body, ...(encoding === undefined ? {} : { encoding }) };
  for (const count of [1, 200, 100_000])
    expect((await firstBytes(answer, count)).toString()).toBe(text.slice(0, count));
});

it('a response that is cut off leaves the bytes that have arrived', async () => {
  const body = gzipSync(text);
  const answer = { status: 400, encoding: 'gzip', body: body.subarray(0, body.length - 20) };
  expect((await firstBytes(answer, 26)).toString()).toBe(text.slice(0, 26));
});

it('a response with an unknown encoding leaves nothing', async () => {
  const answer = { status: 400, encoding: 'compress', body: Buffer.from(text) };
  expect(await firstBytes(answer, 26)).toHaveLength(0);
});
