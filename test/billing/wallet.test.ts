import { MongoNetworkError } from 'mongodb';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createWallet, type WalletPort } from '../../server/billing/wallet.ts';
import type { Posting } from '../../server/billing/wallet-model.ts';
import { createWalletStore, type WalletStore } from '../../server/billing/wallet-store.ts';
import { type FreshDatabase, freshDatabase } from '../harness/database.ts';

let database: FreshDatabase;
let store: WalletStore;
let wallet: WalletPort;
let applied = 0;
let made = 0;

beforeAll(async () => {
  database = await freshDatabase({ keep: true });
  store = createWalletStore(database.db);
  const counting = {
    ...store,
    apply: (...args: Parameters<WalletStore['apply']>) => {
      applied += 1;
      return store.apply(...args);
    },
  };
  wallet = createWallet({ wallets: counting });
});
afterAll(() => database.drop());

const now = Date.now();
const soon = () => performance.now() + 1_000;

function posting(id: string, changed: Partial<Posting> = {}): Posting {
  const at = new Date(now);
  return {
    id,
    kind: 'token',
    amount: -50,
    counted: true,
    basis: 0,
    at,
    deadline: at,
    memo: null,
    ...changed,
  };
}

const funding = (id: string, amount: number) => posting(id, { kind: 'funding', amount, counted: false });

async function newWallet(balance = 0): Promise<string> {
  made += 1;
  const id = `ptr_${made}:test`;
  await store.open(id);
  if (balance > 0) await wallet.post(id, funding(`txn_${made}_opening`, balance), soon());
  return id;
}

/** The document as it is stored, byte for byte. */
async function bytesOf(id: string): Promise<string> {
  const wallets = database.db.collection<{ _id: string }>('wallets');
  const raw = (await wallets.findOne({ _id: id }, { raw: true })) as unknown as Uint8Array;
  return Buffer.from(raw).toString('hex');
}

const nothing = { perMinute: 0, perHour: 0 };
const plenty = { perMinute: 1_000, perHour: 1_000 };
const entry = { operatorId: 'o', operatorName: 'o', action: 'a', requestId: 'r', address: 'x', target: 't' };

describe('refused charges', () => {
  it.each([
    ['an empty wallet', 'insufficient', undefined],
    ['a spend cap', 'capped', nothing],
  ])('write nothing, by the hundred: %s', async (_, outcome, limits) => {
    const id = await newWallet(limits ? 5_000 : 0);
    if (limits) await store.setCaps(id, limits, { ...entry, id: 'e', at: new Date(now) });
    const before = await bytesOf(id);
    const verdicts = await Promise.all(
      Array.from({ length: 400 }, (_, n) => wallet.post(id, posting(`txn_${made}_${n}`), soon())),
    );
    expect(new Set(verdicts.map((verdict) => verdict.outcome))).toEqual(new Set([outcome]));
    expect(await bytesOf(id)).toBe(before);
  });

  it('write nothing for a stale basis or a repeated id either', async () => {
    const id = await newWallet(5_000);
    await wallet.post(id, posting('txn_twice'), soon());
    const before = await bytesOf(id);
    const stale = posting('txn_stale', { basis: -257 });
    expect(await wallet.post(id, stale, soon())).toEqual({ outcome: 'stale' });
    expect(await wallet.post(id, posting('txn_twice'), soon())).toMatchObject({ outcome: 'held' });
    expect(await bytesOf(id)).toBe(before);
  });
});

describe('posts that arrive together', () => {
  it('go out in few updates, and each gets its own verdict', async () => {
    const [rich, poor] = [await newWallet(10_000), await newWallet(0)];
    await store.setCaps(rich, plenty, { ...entry, id: 'e', at: new Date(now) });
    const before = applied;
    const verdicts = await Promise.all(
      Array.from({ length: 200 }, (_, n) => wallet.post(n % 2 ? rich : poor, posting(`txn_g_${n}`), soon())),
    );
    expect(applied - before).toBeLessThan(10);
    expect(verdicts.filter(({ outcome }) => outcome === 'insufficient')).toHaveLength(100);
    const holds = verdicts.flatMap((verdict) => (verdict.outcome === 'held' ? [verdict.hold] : []));
    expect(holds.map(({ id }) => id)).toEqual(ids(200).filter((_, n) => n % 2));
    expect(holds.map(({ seq }) => seq).toSorted((a, b) => a - b)).toEqual(holds.map((_, n) => n + 2));
  });

  it('move money once for one id', async () => {
    const id = await newWallet(5_000);
    const same = Array.from({ length: 50 }, () => wallet.post(id, posting('txn_same'), soon()));
    expect(new Set((await Promise.all(same)).map((verdict) => JSON.stringify(verdict))).size).toBe(1);
    expect((await store.find(id))?.balance).toBe(4_950);
  });

  const ids = (count: number) => Array.from({ length: count }, (_, n) => `txn_g_${n}`);
});

describe('released ids', () => {
  it('leave with the next update, and are still known to be settled', async () => {
    const id = await newWallet(5_000);
    await wallet.post(id, posting('txn_r1'), soon());
    wallet.release(id, ['txn_r1']);
    await wallet.post(id, posting('txn_r2'), soon());
    const found = await store.find(id);
    expect(found?.holds.map((hold) => hold.id)).not.toContain('txn_r1');
    expect(found?.recentlySettled).toEqual(['txn_r1']);
    expect(await wallet.basis(id)).toBe(1);
    expect(await wallet.post(id, posting('txn_r1'), soon())).toEqual({ outcome: 'settled' });
    expect((await store.find(id))?.balance).toBe(4_900);
  });

  it('leave by themselves, and at once where the process ends', async () => {
    const [one, two] = [await newWallet(5_000), await newWallet(5_000)];
    for (const id of [one, two]) {
      await wallet.post(id, posting(`txn_l_${id}`), soon());
      wallet.release(id, [`txn_l_${id}`]);
    }
    await expect
      .poll(async () => (await store.find(one))?.recentlySettled.length, { timeout: 5_000 })
      .toBe(1);
    await wallet.drain();
    expect((await store.find(two))?.recentlySettled.length).toBe(1);
  });

  it('wait while the update that took them fails', async () => {
    const id = await newWallet(5_000);
    let broken = true;
    const shaky = createWallet({
      wallets: {
        ...store,
        apply: async (...args: Parameters<WalletStore['apply']>) => {
          if (broken) throw new MongoNetworkError('connection closed');
          return store.apply(...args);
        },
      },
    });
    await wallet.post(id, posting('txn_w1'), soon());
    shaky.release(id, ['txn_w1']);
    await expect(shaky.post(id, posting('txn_w2'), performance.now() + 30)).rejects.toThrow('closed');
    broken = false;
    await shaky.post(id, posting('txn_w2'), soon());
    expect((await store.find(id))?.recentlySettled).toEqual(['txn_w1']);
  });
});

describe('a wallet of an earlier build, with an array for its ring', () => {
  it('remembers what was settled and goes on, and so do those in its batch', async () => {
    const [id, other] = [await newWallet(5_000), await newWallet(5_000)];
    const wallets = database.db.collection<{ _id: string }>('wallets');
    await wallets.updateOne({ _id: id }, { $set: { recentlySettled: ['txn_o1', 'rev_txn_o2'], settled: 2 } });
    expect((await store.find(id))?.recentlySettled).toEqual(['txn_o1', 'rev_txn_o2']);
    const [again, fresh, elsewhere] = await Promise.all([
      wallet.post(id, posting('txn_o1'), soon()),
      wallet.post(id, posting('txn_o2'), soon()),
      wallet.post(other, posting('txn_o3'), soon()),
    ]);
    expect([again.outcome, fresh.outcome, elsewhere.outcome]).toEqual(['settled', 'held', 'held']);
    wallet.release(id, ['txn_o2']);
    await wallet.post(id, posting('txn_o4'), soon());
    expect((await store.find(id))?.recentlySettled).toEqual(['txn_o1', 'rev_txn_o2', 'txn_o2']);
  });
});

describe('a wallet that was never opened', () => {
  it('is not found', async () => {
    await expect(wallet.basis('ptr_none:test')).rejects.toMatchObject({ code: 'not_found' });
    await expect(wallet.post('ptr_none:test', posting('txn_n'), soon())).rejects.toMatchObject({
      code: 'not_found',
    });
  });

  it('is opened once, however often it is asked for', async () => {
    const id = await newWallet(5_000);
    const before = await bytesOf(id);
    await store.open(id);
    expect(await bytesOf(id)).toBe(before);
  });
});
