import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createPartner, type TestPartner } from '../../harness/partner.ts';
import { createReceiver } from '../../harness/receiver.ts';
import { refusal, startTestServer, type TestServer } from '../../harness/server.ts';
import { within } from '../../harness/time-limits.ts';
import { createPortalBrowser, type SignedInMember, signedIn } from './signed-in.ts';

let server: TestServer;
let noisy: TestPartner;
let member: SignedInMember;
beforeAll(async () => {
  server = await startTestServer({ env: { SVC_PORTAL: 'on', SVC_LOCALHOST_WEBHOOKS: 'on' } });
  noisy = await createPartner(server);
  member = await signedIn(server, noisy.partnerId, 'owner', 'noisy');
});
afterAll(() => server.stop());

describe('a partner whose receiver hangs', () => {
  it('may have 8 tests waiting, and they take no place from other requests of the portal', async () => {
    const held: (() => void)[] = [];
    let hangs = true;
    const receiver = await createReceiver((_count, _request, response) => {
      const answer = () => void response.writeHead(204).end();
      if (hangs) held.push(answer);
      else answer();
    });
    const { keyId } = noisy;
    await server.admin.webhooks.set.mutate({ keyId, url: receiver.url });
    await member.csrf();
    const calls = Array.from({ length: 64 }, () => member.api.webhooks.test.mutate({ keyId }));
    const refusals = calls.map(refusal);
    let ended = 0;
    for (const call of refusals) void call.then(() => (ended += 1));
    await expect.poll(() => [held.length, ended], { timeout: within(5_000) }).toEqual([5, 56]);
    expect((await createPortalBrowser(server).open('/sign-in')).status).toBe(200);
    expect((await member.browser.open('/clients')).status).toBe(200);
    hangs = false;
    for (const answer of held) answer();
    const codes = await Promise.all(refusals);
    expect(codes.filter((code) => code === 'no refusal')).toHaveLength(8);
    const refused = codes.filter((code) => code !== 'no refusal');
    expect(refused.filter((code) => code !== 'rate_limited' && code !== 'service_unavailable')).toEqual([]);
  });
});
