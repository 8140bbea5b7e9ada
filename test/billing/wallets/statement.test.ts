import { createLocalJWKSet, decodeJwt, jwtVerify } from 'jose';
import { Long } from 'mongodb';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { completeSession } from '../../harness/completed-session.ts';
import { createPartner, exchangeCode, type TestPartner } from '../../harness/partner.ts';
import { manualClock, refusal, startTestServer, type TestServer } from '../../harness/server.ts';
import { readLedger } from '../ledger-snapshot.ts';
import { addFullPages } from './long-wallet.ts';

const clock = manualClock(Date.UTC(2026, 0, 31, 23, 59, 50));
let server: TestServer;
let partner: TestPartner;
/** Entries at 23:59:50, :53, :56, :59, then 00:00:02 of the next day. */
beforeAll(async () => {
  server = await startTestServer({ clock });
  partner = await createPartner(server);
  for (let n = 0; n < 4; n += 1) {
    clock.advance(3_000);
    expect((await exchangeCode(server, partner, await completeSession(server, partner))).status).toBe(200);
  }
});
afterAll(() => server.stop());

const read = (
  range: { from?: string; to?: string; limit?: number; afterSeq?: number; untilSeq?: number } = {},
) => server.admin.wallets.statement.query({ partnerId: partner.partnerId, ...range });
const midnight = '2026-02-01T00:00:00.000Z';

describe('wallets statement', () => {
  it('has entries whose sum leads from the opening to the closing balance, for any range', async () => {
    const whole = await read();
    expect(whole.entries.map(({ seq }) => seq)).toEqual([1, 2, 3, 4, 5]);
    expect([whole.opening, whole.closing]).toEqual([0, 9_800]);
    const times = [
      ...whole.entries.map(({ at }) => at),
      midnight,
      '2026-03-01T00:00:00Z',
      '2020-01-01T00:00:00Z',
    ];
    const readRange = async (from: string, to: string) => {
      const { opening, closing, entries } = await read({ from, to });
      expect(opening + entries.reduce((sum, { amount }) => sum + amount, 0)).toBe(closing);
      const expected = whole.entries.filter(
        ({ at }) => at >= new Date(from).toISOString() && at < new Date(to).toISOString(),
      );
      expect(entries).toEqual(expected);
    };
    const ranges = times.flatMap((from) =>
      times.filter((to) => Date.parse(to) > Date.parse(from)).map((to) => readRange(from, to)),
    );
    await Promise.all(ranges);
  });

  it('starts a month with the closing balance of the previous month', async () => {
    const [before, after] = await Promise.all([read({ to: midnight }), read({ from: midnight })]);
    expect([before.closing, after.opening]).toEqual([9_850, 9_850]);
    expect([before.entries.length, after.entries.length]).toEqual([4, 1]);
  });

  it('has pages, each of which starts with the closing balance of the previous page', async () => {
    const first = await read({ limit: 2 });
    expect(first.more).toBe(true);
    const last = first.entries.at(-1)?.seq ?? 0;
    const second = await read({ limit: 100, afterSeq: last, untilSeq: first.untilSeq });
    expect(second.opening).toBe(first.closing);
    expect(second.entries.map(({ seq }) => seq)).toEqual([3, 4, 5]);
    expect(second.more).toBe(false);
  });

  it('omits entries that move no money', async () => {
    await server.admin.limits.set.mutate({ partnerId: partner.partnerId, mode: 'test', perMinute: 1_000 });
    const { entries, closing } = await read();
    expect([entries.length, closing]).toEqual([5, 9_800]);
  });
});

describe('a statement over several ledger pages', () => {
  it('has parts of any size, each of which starts with the closing balance of the part before', async () => {
    const { partnerId } = await createPartner(server, { funds: 5_000 });
    await addFullPages(server.db, `${partnerId}:test`, { pages: 3, at: clock.now() });
    const part = (page: { limit: number; afterSeq?: number; untilSeq?: number }) =>
      server.admin.wallets.statement.query({ partnerId, ...page });
    for (const limit of [100, 128, 129, 1_000]) {
      const first = await part({ limit });
      const parts = [first];
      while (parts.at(-1)?.more) {
        const { closing, entries } = parts.at(-1) ?? first;
        const next = await part({ limit, afterSeq: entries.at(-1)?.seq ?? 0, untilSeq: first.untilSeq });
        expect(next.opening).toBe(closing);
        parts.push(next);
      }
      expect(parts).toHaveLength(Math.ceil(385 / limit));
      const seqs = parts.flatMap(({ entries }) => entries.map(({ seq }) => seq));
      expect(seqs).toEqual(Array.from({ length: 385 }, (_, n) => n + 1));
      expect([first.opening, parts.at(-1)?.closing]).toEqual([0, 5_384]);
    }
  });

  it('ends where its first part said, even if entries are added before the second part is read', async () => {
    const { partnerId } = await createPartner(server, { funds: 5_000 });
    await addFullPages(server.db, `${partnerId}:test`, { pages: 1, at: clock.now() });
    const wanted = { partnerId, limit: 100 };
    const first = await server.admin.wallets.statement.query(wanted);
    await addFullPages(server.db, `${partnerId}:test`, { pages: 1, at: clock.now() });
    const afterSeq = first.entries.at(-1)?.seq ?? 0;
    const rest = await server.admin.wallets.statement.query({
      ...wanted,
      afterSeq,
      untilSeq: first.untilSeq,
    });
    expect([rest.entries.length, rest.entries.at(-1)?.seq, rest.more]).toEqual([29, 129, false]);
    expect(rest.closing).toBe(5_128);
  });
});

describe('a signed statement', () => {
  const sign = async (range: { from?: string; to?: string } = {}) =>
    (await server.admin.wallets.signedStatement.query({ partnerId: partner.partnerId, ...range })).jws;

  it('is verified by the published keys, and names the ledger page of its last line', async () => {
    const keys = (await (await fetch(`${server.baseUrl}/.well-known/jwks.json`)).json()) as {
      keys: object[];
    };
    const { payload, protectedHeader } = await jwtVerify(
      await sign({ to: midnight }),
      createLocalJWKSet(keys),
    );
    expect(protectedHeader).toMatchObject({ alg: 'ES256', typ: 'svc-statement+jwt' });
    const { more: _more, entries, ...rest } = await read({ to: midnight });
    // The statement does not sign fields that an erasure or the retention may remove.
    const signed = entries.map(({ sessionId: _s, clientId: _c, enrollmentId: _e, ...entry }) => entry);
    const statement = { ...rest, entries: signed };
    expect(payload).toMatchObject({ iss: server.config.baseUrl, ...statement });
    const { pages } = await readLedger(server.db, `${partner.partnerId}:test`);
    const { page, digest } = payload['ledger'] as { page: number; digest: string };
    expect(pages[page]?.digest).toBe(digest);
    expect(pages[page]?.entries.map(({ seq }) => seq)).toContain(4);
  });

  it('has all entries of several parts, and is refused above 10,000 entries', async () => {
    const { partnerId } = await createPartner(server, { funds: 5_000 });
    const walletId = `${partnerId}:test`;
    await addFullPages(server.db, walletId, { pages: 5, at: clock.now() });
    const whole = await server.admin.wallets.statement.query({ partnerId, limit: 1_000 });
    const { jws } = await server.admin.wallets.signedStatement.query({ partnerId });
    const { more: _more, entries, ...rest } = whole;
    const signed = entries.map(({ sessionId: _s, clientId: _c, enrollmentId: _e, ...entry }) => entry);
    expect(decodeJwt(jws)).toMatchObject({ ...rest, entries: signed });
    expect(signed).toHaveLength(641);
    await server.db
      .collection('ledger')
      .updateOne({ walletId, n: 6 }, { $set: { 'state.seq': Long.fromNumber(10_001) } });
    expect(await refusal(server.admin.wallets.signedStatement.query({ partnerId }))).toBe('bad_input');
  });

  it('gets 401 if it is sent to userinfo as an access token', async () => {
    const headers = { authorization: `Bearer ${await sign()}` };
    expect((await fetch(`${server.baseUrl}/api/oauth/userinfo`, { headers })).status).toBe(401);
  });
});
