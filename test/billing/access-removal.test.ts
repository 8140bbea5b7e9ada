import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { TokenResponse } from '../../contracts/oauth.ts';
import { completeSession } from '../harness/completed-session.ts';
import { createPartner, exchangeCode, post } from '../harness/partner.ts';
import { manualClock, startTestServer, type TestServer } from '../harness/server.ts';
import { soundLedger } from './ledger-snapshot.ts';

const clock = manualClock(Date.UTC(2026, 0, 5, 10, 30));
const day = 86_400_000;
let server: TestServer;
beforeAll(async () => {
  server = await startTestServer({ clock });
});
afterAll(() => server.stop());

describe('the grant in a ledger entry', () => {
  it('is deleted after 30 days, while the entry and the digests of grant and pages stay', async () => {
    const partner = await createPartner(server);
    expect((await exchangeCode(server, partner, await completeSession(server, partner))).status).toBe(200);
    const ledger = () => soundLedger(server.db, `${partner.partnerId}:test`);
    const before = await ledger();

    clock.advance(30 * day - 1_000);
    await server.sweep();
    expect((await ledger()).charges.map(({ grant }) => grant?.clientId)).toEqual([partner.clientId]);

    clock.advance(2_000);
    await server.sweep();
    const after = await ledger();
    expect(after.charges.map(({ grant, grantSeal }) => [grant, grantSeal])).toEqual([
      [undefined, before.charges[0]?.grantSeal],
    ]);
    expect(after.pages.map(({ digest }) => digest)).toEqual(before.pages.map(({ digest }) => digest));
    expect(after.pages.some(({ purgeGrantsAt }) => purgeGrantsAt)).toBe(false);
    const reports = await server.admin.wallets.audit.query({ partnerId: partner.partnerId });
    expect(reports.flatMap(({ findings }) => findings)).toEqual([]);
  });

  it('causes no finding in a wallet audit if its token was revoked and its user was then erased', async () => {
    const partner = await createPartner(server);
    const { partnerId, clientId, clientSecret } = partner;
    const code = await completeSession(server, partner);
    const { access_token: token } = (await (
      await exchangeCode(server, partner, code)
    ).json()) as TokenResponse;
    const fields = { token, client_id: clientId, client_secret: clientSecret };
    expect((await post(`${server.baseUrl}/api/oauth/revoke`, fields)).status).toBe(200);
    const charged = (await soundLedger(server.db, `${partnerId}:test`)).charges;
    const { id: userId } = await server.admin.users.show.query({ user: charged[0]?.grant?.sub ?? '' });
    expect(await server.admin.users.erase.mutate({ userId })).toMatchObject({ accesses: 1 });

    // The first sweep follows the removal of the revocation; the second precedes the removal of grants by a second.
    for (const ms of [3 * 3_600_000, 30 * day - 3 * 3_600_000 - 1_000]) {
      clock.advance(ms);
      await server.sweep();
      const [report] = await server.admin.wallets.audit.query({ partnerId });
      expect(report).toMatchObject({ entries: 3, findings: [] });
    }
  });
});

describe('a revocation', () => {
  it('is stored until after the expiry of the token that it revokes', async () => {
    const partner = await createPartner(server);
    const answer = await exchangeCode(server, partner, await completeSession(server, partner));
    const { access_token: token } = (await answer.json()) as TokenResponse;
    const { clientId: client_id, clientSecret: client_secret } = partner;
    const revoked = await post(`${server.baseUrl}/api/oauth/revoke`, { token, client_id, client_secret });
    expect(revoked.status).toBe(200);
    const { charges } = await soundLedger(server.db, `${partner.partnerId}:test`);
    const { id = '', grant } = charges[0] ?? {};
    const revocations = server.db.collection<{ _id: string; purgeAt: Date }>('revocations');
    const purgeAt = (await revocations.findOne({ _id: id }))?.purgeAt.getTime() ?? 0;
    expect(purgeAt).toBeGreaterThan(grant?.expiresAt.getTime() ?? Number.POSITIVE_INFINITY);
  });
});
