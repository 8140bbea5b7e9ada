import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { testIdentityWalletSources } from '../../contracts/identity-wallet-sources.ts';
import { startTestServer, type TestServer } from '../harness/server.ts';
import { askIdentityWallet, digitalRequestsIn } from './asking.ts';
import { faultsInWords } from './faults.ts';

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

it.each(testIdentityWalletSources.map(({ name }) => name))(
  'a wallet answer of %s by ISO/IEC TS 18013-7 completes the session if its attestation has no fault',
  async (source) => {
    const { end, show } = await ask(source);
    expect(end.returned).toHaveProperty('code');
    expect(await show()).toMatchObject({ status: 'complete', source });
  },
);

// loop.test.ts has the faults that are in the attestation itself.
it.each([
  [faultsInWords['wrong-nonce'], 'holder proof wrong', 'wrong-nonce'],
  [faultsInWords['wrong-audience'], 'holder proof wrong', 'wrong-audience'],
  [faultsInWords.replay, 'holder proof wrong', 'replay'],
  [faultsInWords['too-much'], 'more than was asked for', 'too-much'],
])(
  'a wallet answer by ISO/IEC TS 18013-7 fails the session as document_rejected for %s ("%s")',
  async (_fault, refusal, act) => {
    const { end, show } = await ask('test-wallet-mdl', { act });
    expect(end.returned).toMatchObject({ error: 'verification_failed' });
    expect((await show()).timeline.at(-1)?.note).toMatch(new RegExp(`^document_rejected: ${refusal}`));
  },
);

describe('the test identity wallet', () => {
  it.each([
    ['without a protocol', []],
    ['in another protocol', [{ protocol: 'openid4vp-v1-signed', data: { request: 'x' } }]],
    ['without data', [{ ...iso, data: {} }]],
    ['that is not CBOR', [{ ...iso, data: { deviceRequest: '____', encryptionInfo: '____' } }]],
    ['that asks for nothing', [{ ...iso, data: { deviceRequest: 'oA', encryptionInfo: 'gA' } }]],
  ])('answers 400 to a request %s', async (_what, requests) => {
    expect((await toWallet({ requests })).status).toBe(400);
  });
});
