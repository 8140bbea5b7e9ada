import { CompactEncrypt, importJWK, type JWK } from 'jose';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { TestServer } from '../harness/server.ts';
import { askIdentityWallet, postFields } from './asking.ts';
import { startWithIdentityWallets } from './attested.ts';
import { otherIdentityWallet } from './other-wallet.ts';

let service: TestServer;
beforeAll(async () => {
  service = await startWithIdentityWallets();
});
afterAll(() => service.stop());

/** JSON that is nested deeply enough to overflow the stack of `JSON.stringify`, and short enough for a form. */
const nested = `${'['.repeat(8_000)}${']'.repeat(8_000)}`;
const deep = 'nested deeper than 16 levels';
const encoded = (text: string) => Buffer.from(text).toString('base64url');

async function encrypt(text: string, key: Record<string, string>): Promise<string> {
  return new CompactEncrypt(Buffer.from(text))
    .setProtectedHeader({ alg: 'ECDH-ES', enc: 'A128GCM' })
    .encrypt(await importJWK(key as JWK, 'ECDH-ES'));
}

describe('the form for Digital Credentials API answers', () => {
  it.each([
    ['is not JSON', 'age', 'no JSON'],
    ['is nested too deeply', 'age', nested],
    ['has a vp_token that is nested too deeply', 'age', `{"vp_token":{"proof_of_age":[${nested}]}}`],
    ['has another member that is nested too deeply', 'age', `{"vp_token":{},"state":${nested}}`],
    ['is a string', 'age', '"text"'],
    ['is empty', 'age', '{}'],
    ['has a list for a vp_token', 'age', '{"vp_token":[]}'],
    ['has a number for an error', 'age', '{"error":1}'],
    ['must be encrypted and is not', 'pid-sd-jwt', '{"vp_token":{"pid_sd_jwt":["x~y"]}}'],
    ['cannot be decrypted', 'pid-sd-jwt', '{"response":"a.b.c.d.e"}'],
    ['has a header that is nested too deeply', 'pid-sd-jwt', `{"response":"${encoded(nested)}.b.c.d.e"}`],
  ])('answers 400 if the answer %s, and the request stays open', async (_what, source, data) => {
    const { request, post, show } = await askIdentityWallet(service, source);
    const before = await show();
    const page = await post(data);
    expect(page.status).toBe(400);
    expect(page.html).not.toContain('64 KiB');
    expect(await show()).toEqual(before);
    const end = await post(await otherIdentityWallet.pick(request, service.baseUrl));
    expect(end.returned).toHaveProperty('code');
  });
});

describe('the response URI of a wallet request', () => {
  it.each([
    ['is not JSON', { vp_token: 'no JSON' }, 'vp_token is not JSON'],
    ['is nested too deeply', { vp_token: nested }, `vp_token is ${deep}`],
    ['is a list', { vp_token: '[]' }, 'vp_token is not an object'],
    ['is missing', {}, 'it has no vp_token in JSON'],
  ])('answers 400 and names the fault if the vp_token %s', async (_what, fields, fault) => {
    const { asked, show, link } = await askIdentityWallet(service, 'age');
    const before = await show();
    const { response_uri: uri } = await asked();
    const answer = await postFields(uri, fields);
    expect(answer.status).toBe(400);
    expect(await answer.json()).toEqual({ success: false, error: `The answer cannot be read: ${fault}` });
    expect(await show()).toEqual(before);
    expect((await otherIdentityWallet.open(link)).status).toBe(200);
  });

  it('answers 400 to nested JSON in place of a form', async () => {
    const { asked, show } = await askIdentityWallet(service, 'age');
    const { response_uri: uri } = await asked();
    const headers = { 'content-type': 'application/json' };
    const body = `{"vp_token":${'['.repeat(30)}${']'.repeat(30)}}`;
    const answer = await fetch(uri, { method: 'POST', headers, body });
    expect(await answer.json()).toMatchObject({ error: expect.stringContaining('no vp_token') as string });
    expect(answer.status).toBe(400);
    expect((await show()).failure).toBeNull();
  });

  it('answers 400 and names the fault if an answer is not encrypted for the request, or is unreadable', async () => {
    const { asked, show, link } = await askIdentityWallet(service, 'pid-sd-jwt');
    const { response_uri: uri, client_metadata: metadata } = await asked();
    const [key = {}] = metadata.jwks?.keys ?? [];
    expect(key).not.toHaveProperty('d');
    const other = (await (await askIdentityWallet(service, 'pid-sd-jwt')).asked()).client_metadata;
    const right = '{"vp_token":{"pid_sd_jwt":["x~y"]}}';
    const faults = [
      [{ vp_token: right }, 'it is not encrypted'],
      [{ response: `${await encrypt(right, key)}x` }, 'it cannot be decrypted'],
      [{ response: await encrypt(right, other.jwks?.keys[0] ?? {}) }, 'it cannot be decrypted'],
      [{ response: await encrypt(nested, key) }, `the decrypted answer is ${deep}`],
      [{ response: await encrypt('{"vp_token":"text"}', key) }, 'vp_token is not an object'],
    ] as const;
    for (const [fields, fault] of faults) {
      const answer = await postFields(uri, fields as Record<string, string>);
      expect(await answer.json(), fault).toMatchObject({ error: `The answer cannot be read: ${fault}` });
      expect(answer.status).toBe(400);
    }
    expect((await postFields(uri, { response: 'x'.repeat(70_000) })).status).toBe(400);
    expect((await show()).failure).toBeNull();
    expect((await otherIdentityWallet.open(link)).status).toBe(200);
  });
});
