import { generateKeyPairSync } from 'node:crypto';
import { exportJWK } from 'jose';
import { describe, expect, it } from 'vitest';
import { createAccessTokens } from '../../../server/api/oauth/access-token.ts';
import { manualClock } from '../../harness/server.ts';

const lifetime = 3_600_000;
const pair = generateKeyPairSync('ec', { namedCurve: 'P-256' });
const publicKeys = [{ ...(await exportJWK(pair.publicKey)), kid: 'one', alg: 'ES256' }];
const clock = manualClock(Date.parse('2026-11-21T10:00:00.400Z'));
const keyring = { signing: { kid: 'one', privateKey: pair.privateKey }, publicKeys };

/** Two processes of one installation. The second one verifies tokens that the first one has signed. */
const processes = () => {
  const settings = { keyring, issuer: 'https://verify.example', clock } as never;
  return [createAccessTokens(settings), createAccessTokens(settings)] as const;
};

const issue = () => ({
  id: `txn_${'a'.repeat(22)}`,
  sessionId: `ses_${'c'.repeat(22)}`,
  sub: 'sub',
  clientId: `cli_${'b'.repeat(22)}`,
  scope: 'age_18_plus',
  at: new Date(clock.now()),
  expiresAt: new Date(clock.now() + lifetime),
});

describe('an access token', () => {
  it('is verified, also a second time, by the process that signed it and by another process', async () => {
    const [signer, other] = processes();
    const issued = issue();
    const token = signer.sign(issued);
    const expected = { id: issued.id, clientId: issued.clientId };
    expect(await signer.verify(token)).toMatchObject(expected);
    expect(await other.verify(token)).toMatchObject(expected);
    expect(await other.verify(token)).toMatchObject(expected);
  });

  it('expires in the same second in all processes', async () => {
    const [signer, other] = processes();
    const token = signer.sign(issue());
    await other.verify(token);
    const [, foreign] = processes();
    const all = () =>
      Promise.all([signer, other, foreign].map(async ({ verify }) => (await verify(token))?.isExpired));
    clock.advance(lifetime - 401);
    expect(await all()).toEqual([false, false, false]);
    clock.advance(1);
    expect(await all()).toEqual([true, true, true]);
  });

  it('does not pass the check of its signature if one letter differs', async () => {
    const [signer] = processes();
    const token = signer.sign(issue());
    const at = token.length - 10;
    const forged = `${token.slice(0, at)}${token[at] === 'A' ? 'B' : 'A'}${token.slice(at + 1)}`;
    expect(await signer.verify(forged)).toBeUndefined();
    expect(await signer.verify(token)).toBeDefined();
  });
});
