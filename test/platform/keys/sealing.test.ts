import { describe, expect, it } from 'vitest';
import { createSealing } from '../../../server/platform/keys/sealing.ts';

const key = (byte: number) => new Uint8Array(32).fill(byte);

describe('sealing of secrets for the database', () => {
  it('encrypts a value so that it can be opened again, and the sealed text does not contain the value', async () => {
    const sealing = createSealing([key(1)]);
    const sealed = await sealing.seal('whsec_secret');
    expect(await sealing.open(sealed)).toBe('whsec_secret');
    expect(Buffer.from(sealed.split('.')[3] ?? '', 'base64url').toString()).not.toContain('secret');
    expect(sealed).not.toContain('secret');
    expect(await sealing.seal('whsec_secret')).not.toBe(sealed);
  });

  it('produces a compact JWE whose header contains a 12-character fingerprint of the master key', async () => {
    const sealed = await createSealing([key(1)]).seal('x');
    const header = JSON.parse(Buffer.from(sealed.split('.')[0] ?? '', 'base64url').toString());
    expect(header).toEqual({ alg: 'dir', enc: 'A256GCM', kid: expect.stringMatching(/^[A-Za-z0-9_-]{12}$/) });
    expect(sealed).not.toContain(Buffer.from(key(1)).toString('base64url'));
  });

  it('seals with the first of several keys, and opens with all of them', async () => {
    const old = await createSealing([key(1)]).seal('old');
    const both = createSealing([key(2), key(1)]);
    expect(await both.open(old)).toBe('old');
    const fresh = await both.seal('new');
    expect(await createSealing([key(2)]).open(fresh)).toBe('new');
    await expect(createSealing([key(2)]).open(old)).rejects.toThrow('SVC_MASTER_KEY does not list');
    await expect(createSealing([key(1)]).open(fresh)).rejects.toThrow('SVC_MASTER_KEY does not list');
  });

  it('throws for an altered value, and for text that was never sealed', async () => {
    const sealing = createSealing([key(1)]);
    const parts = (await sealing.seal('a longer secret text')).split('.');
    const flipped = `${parts[3]?.startsWith('A') ? 'B' : 'A'}${parts[3]?.slice(1)}`;
    await expect(sealing.open([...parts.slice(0, 3), flipped, parts[4]].join('.'))).rejects.toThrow();
    await expect(sealing.open('nonsense')).rejects.toThrow();
  });
});
