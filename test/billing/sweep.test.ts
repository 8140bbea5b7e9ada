import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { decodeJwt } from 'jose';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { deriveId, sha256 } from '../../server/platform/ids.ts';
import { loadKeyring } from '../../server/platform/keyring.ts';
import { createLogger } from '../../server/platform/logging.ts';
import { createSealing } from '../../server/platform/sealing.ts';
import { startServer } from '../../server/start.ts';
import type { TestPartner, Visit } from '../harness/partner.ts';
import { type FaultyServer, gate, lostConnection, startFaulty } from './faults.ts';

let server: FaultyServer;

beforeAll(async () => {
  server = await startFaulty();
});
afterAll(() => server.stop());

/** A process that died between hold and access: money is held, and nothing was granted. */
async function abandonedHold(): Promise<{ partner: TestPartner; visit: Visit }> {
  const partner = await server.partner();
  const visit = await server.visit(partner);
  const { arrived } = server.haltCommit();
  void server.exchange(partner, visit);
  await arrived;
  return { partner, visit };
}

const chargeHeld = async (partner: TestPartner) =>
  (await server.booksNow(partner)).wallet.holds.find(({ kind }) => kind === 'token');

describe('a hold without an access', () => {
  it('is left alone until its deadline has passed', async () => {
    const { partner, visit } = await abandonedHold();
    server.clock.advance(10_000);
    await server.sweep();
    const { wallet, records } = await server.booksNow(partner);
    expect([wallet.balance, wallet.seq, records.length]).toEqual([9_950, 2, 0]);
    expect((await server.exchange(partner, visit)).status).toBe(200);
    await server.books(partner);
  });

  it('is then reversed once: a tombstone, the charge and its reversal', async () => {
    const { partner } = await abandonedHold();
    server.clock.advance(10_001);
    await server.sweep();
    const { wallet, rows, records, charges, reversals } = await server.books(partner);
    const [charge] = charges;
    expect(wallet.balance).toBe(10_000);
    expect(rows.map(({ kind, amount }) => [kind, amount])).toEqual([
      ['funding', 10_000],
      ['token', -50],
      ['reversal', 50],
    ]);
    expect(reversals[0]).toMatchObject({
      _id: `rev_${charge?._id}`,
      memo: { of: charge?._id, reason: 'no access was committed' },
    });
    expect(records).toMatchObject([{ _id: charge?._id, state: 'void' }]);
  });

  it('leaves the code good, under the next charge', async () => {
    const { partner, visit } = await abandonedHold();
    server.clock.advance(10_001);
    await server.sweep();
    const { status, access_token: token = '' } = await server.exchange(partner, visit);
    expect(status).toBe(200);
    expect(await server.userinfo(token)).toBe(200);
    const { wallet, charges, reversals } = await server.books(partner);
    expect(wallet.balance).toBe(9_950);
    expect([charges.length, reversals.length]).toEqual([2, 1]);
    expect(reversals[0]?.memo?.of).not.toBe(decodeJwt(token).jti);
  });

  it('cannot be refunded besides', async () => {
    const { partner } = await abandonedHold();
    const { id: entryId = '' } = (await chargeHeld(partner)) ?? {};
    const refund = { entryId, reason: 'asked for' };
    await expect(server.admin.wallets.refund.mutate(refund)).rejects.toMatchObject({
      data: { error: 'not_found' },
    });
    server.clock.advance(10_001);
    await server.sweep();
    await server.books(partner);
    await expect(server.admin.wallets.refund.mutate(refund)).rejects.toMatchObject({
      data: { error: 'refused' },
    });
    expect((await server.books(partner)).wallet.balance).toBe(10_000);
  });
});

describe('a sweep that is cut short while it gives money back', () => {
  it.each([
    ['reversal', 'not_found'],
    ['token', 'refused'],
  ] as const)('after the entry of the %s leaves nothing to refund', async (written, error) => {
    const { partner } = await abandonedHold();
    const { id: entryId = '' } = (await chargeHeld(partner)) ?? {};
    server.clock.advance(10_001);
    const kinds = async () => (await server.booksNow(partner)).rows.map(({ kind }) => kind);
    server.at('ledger', {
      async after() {
        if ((await kinds()).includes(written)) lostConnection();
      },
    });
    await server.sweep();
    expect(await kinds()).toContain(written);
    const refund = server.admin.wallets.refund.mutate({ entryId, reason: 'asked for' });
    await expect(refund).rejects.toMatchObject({ data: { error } });
    server.at('ledger');
    server.clock.advance(10_001);
    await server.sweep();
    const { wallet, rows } = await server.books(partner);
    expect([wallet.balance, rows.map(({ kind }) => kind)]).toEqual([
      10_000,
      ['funding', 'token', 'reversal'],
    ]);
  });
});

describe('a request that is slower than the deadline of its hold', () => {
  it('gets no token: the sweep was first, and the money is back', async () => {
    const partner = await server.partner();
    const visit = await server.visit(partner);
    const { arrived, proceed } = server.haltCommit();
    const late = server.exchange(partner, visit);
    await arrived;
    server.clock.advance(10_001);
    await server.sweep();
    proceed();

    expect(await late).toMatchObject({ status: 503, retryAfter: '5' });
    expect((await server.books(partner)).wallet.balance).toBe(10_000);
    expect((await server.exchange(partner, visit)).status).toBe(200);
    expect((await server.books(partner)).wallet.balance).toBe(9_950);
  });
});

/** A returning user's exchange that was answered; its ledger entry is not written until `recover` is called. */
async function unsettledExchange() {
  const partner = await server.partner();
  await server.exchange(partner, await server.visit(partner));
  await server.books(partner);
  const returning = await server.visit(partner);
  const struck = gate();
  server.at('ledger', {
    before() {
      struck.open();
      lostConnection();
    },
  });
  const { status, access_token: token } = await server.exchange(partner, returning);
  await struck.passed;
  expect(status).toBe(200);
  const { partnerId } = partner;
  return {
    partner,
    token,
    resolved: () => server.db.collection('events').countDocuments({ partnerId, type: 'vae.resolved' }),
    recover: () => server.at('ledger'),
  };
}

describe('a hold with an access', () => {
  it('is settled: ledger and event, and the token lives', async () => {
    const { partner, token, resolved, recover } = await unsettledExchange();
    recover();
    expect([(await server.booksNow(partner)).charges.length, await resolved()]).toEqual([1, 0]);

    server.clock.advance(10_001);
    await server.sweep();
    const { charges, reversals } = await server.books(partner);
    expect([charges.length, reversals.length, await resolved()]).toEqual([2, 0, 1]);
    expect(await server.userinfo(token)).toBe(200);
  });

  it('of somebody who was erased since is settled, and nobody is told of them', async () => {
    const { partner, resolved, recover } = await unsettledExchange();
    const { partnerId } = partner;
    const enrollment = await server.db.collection('enrollments').findOne({ partnerId });
    await server.admin.users.erase.mutate({ userId: enrollment?.['userId'] });
    recover();
    server.clock.advance(10_001);
    await server.sweep();
    expect((await server.books(partner)).charges).toHaveLength(2);
    expect(await resolved()).toBe(0);
  });
});

describe('sweeps of several processes', () => {
  it('reverse and settle once, whoever comes first', async () => {
    const cases = await Promise.all([abandonedHold(), server.partner().then((partner) => ({ partner }))]);
    const [{ partner }, { partner: other }] = cases;
    server.at('ledger', { before: lostConnection });
    expect((await server.exchange(other, await server.visit(other))).status).toBe(200);
    server.at('ledger');
    server.clock.advance(10_001);

    const masterKey = readFileSync(join(server.dataDir, 'master-key'), 'utf8').trim();
    const config = {
      ...server.config,
      roles: new Set<'worker'>(['worker']),
      masterKeys: [new Uint8Array(Buffer.from(masterKey, 'base64'))] as [Uint8Array],
    };
    const second = await startServer(config, createLogger('silent'), { clock: () => server.clock });
    await Promise.all([server.sweep(), second.sweep(), server.sweep(), second.sweep()]);
    const rowsOf = async (of: TestPartner) => (await server.books(of)).rows;
    const rows = [await rowsOf(partner), await rowsOf(other)];
    await Promise.all([server.sweep(), second.sweep(), server.sweep()]);
    await second.stop();

    expect(rows.map(({ length }) => length)).toEqual([3, 2]);
    expect([await rowsOf(partner), await rowsOf(other)]).toEqual(rows);
  });
});

describe('a code whose five charges were all reversed', () => {
  it('is dead', async () => {
    const partner = await server.partner();
    const visit = await server.visit(partner);
    const masterKey = readFileSync(join(server.dataDir, 'master-key'), 'utf8').trim();
    const sealing = createSealing([new Uint8Array(Buffer.from(masterKey, 'base64'))]);
    const { id } = await loadKeyring(server.db, sealing);
    const voids = [0, 1, 2, 3, 4].map((n) => ({
      _id: deriveId(id, 'entry', ['charge', sha256(visit.code), n]),
      state: 'void',
    }));
    const accesses = server.db.collection<{ _id: string; state: string }>('accesses');
    await accesses.insertMany(voids);
    expect(await server.exchange(partner, visit)).toMatchObject({ status: 400, error: 'invalid_grant' });
    await accesses.deleteOne({ _id: voids[4]?._id ?? '' });
    expect((await server.exchange(partner, visit)).status).toBe(200);
  });
});
