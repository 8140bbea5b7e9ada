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

/** Runs a flow in which the test identity wallet answers in place of the Digital Credentials API. */
async function ask(source: string, instruction: object = {}) {
  const asked = await askIdentityWallet(service, source, { scope: 'age_18_plus' });
  const answer = await toWallet({ requests: digitalRequestsIn(asked.page.html), ...instruction });
  const { protocol, data } = (await answer.json()) as { protocol: string; data: object };
  expect([answer.status, protocol]).toEqual([200, 'org-iso-mdoc']);
  return { ...asked, end: await asked.post(data, iso) };
}

describe.each(testIdentityWalletSources.map(({ name }) => name))(
  'the test identity wallet of %s in Annex C format',
  (source) => {
    it('presents an attestation that is accepted, and the session becomes complete', async () => {
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
    ])(
      'presents the fault "%s", and the session fails as document_rejected with the note "%s"',
      async (act, refusal) => {
        const { end, show } = await ask(source, { act });
        expect(end.returned).toMatchObject({ error: 'verification_failed' });
        expect((await show()).timeline.at(-1)?.note).toMatch(new RegExp(`^document_rejected: ${refusal}`));
      },
    );
  },
);

describe('a request that the test identity wallet cannot answer', () => {
  it.each([
    ['without a protocol', []],
    ['in another protocol', [{ protocol: 'openid4vp-v1-signed', data: { request: 'x' } }]],
    ['without data', [{ ...iso, data: {} }]],
    ['that is not CBOR', [{ ...iso, data: { deviceRequest: '____', encryptionInfo: '____' } }]],
    ['that asks for nothing', [{ ...iso, data: { deviceRequest: 'oA', encryptionInfo: 'gA' } }]],
  ])('is answered with 400 if it is a request %s', async (_what, requests) => {
    expect((await toWallet({ requests })).status).toBe(400);
  });
});
