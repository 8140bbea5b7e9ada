import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { testIdentityWalletSources } from '../../contracts/identity-wallet-sources.ts';
import { startTestServer, type TestServer } from '../harness/server.ts';
import { askIdentityWallet, digitalRequestsIn } from './asking.ts';

let service: TestServer;
beforeAll(async () => {
  service = await startTestServer();
});
afterAll(() => service.stop());

const iso = { protocol: 'org-iso-mdoc' };
const toWallet = (body: object) =>
  fetch(`${service.baseUrl}/verify/test-wallet/credential`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify(body),
  });

/** Leads from the partner's link to the answer that the test identity wallet gives in place of the browser's API. */
async function ask(source: string, instruction: object = {}) {
  const asked = await askIdentityWallet(service, source, { scope: 'age_18_plus' });
  const answer = await toWallet({ requests: digitalRequestsIn(asked.page.html), ...instruction });
  const { protocol, data } = (await answer.json()) as { protocol: string; data: object };
  expect([answer.status, protocol]).toEqual([200, 'org-iso-mdoc']);
  return { ...asked, end: await asked.post(data, iso) };
}

describe.each(testIdentityWalletSources.map(({ name }) => name))(
  'the test identity wallet at %s, by annex C',
  (source) => {
    it('answers with an attestation that is accepted', async () => {
      const { end, show } = await ask(source);
      expect(end.returned).toHaveProperty('code');
      expect(await show()).toMatchObject({ status: 'complete', source });
    });

    it.each([
      ['expired', 'attestation expired'],
      ['not-yet-valid', 'attestation not yet valid'],
      ['unknown-issuer', 'unknown issuer'],
      ['revoked', 'attestation revoked'],
      ['wrong-nonce', 'holder proof wrong'],
      ['wrong-audience', 'holder proof wrong'],
      ['replay', 'holder proof wrong'],
      ['too-much', 'more than was asked for'],
    ])('answers with a faulty attestation, which is refused: %s', async (act, refusal) => {
      const { end, show } = await ask(source, { act });
      expect(end.returned).toMatchObject({ error: 'verification_failed' });
      expect((await show()).timeline.at(-1)?.note).toMatch(new RegExp(`^document_rejected: ${refusal}`));
    });
  },
);

describe('a request that the test identity wallet cannot answer', () => {
  it.each([
    ['of no protocol', []],
    ['of another protocol', [{ protocol: 'openid4vp-v1-signed', data: { request: 'x' } }]],
    ['without its parts', [{ ...iso, data: {} }]],
    ['that is no CBOR', [{ ...iso, data: { deviceRequest: '____', encryptionInfo: '____' } }]],
    ['that asks for nothing', [{ ...iso, data: { deviceRequest: 'oA', encryptionInfo: 'gA' } }]],
  ])('is a 400: %s', async (_what, requests) => {
    expect((await toWallet({ requests })).status).toBe(400);
  });
});
