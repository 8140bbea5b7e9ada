import { describe, expect, it } from 'vitest';
import { ApiError } from '../../server/platform/errors.ts';
import { within } from '../harness/time-limits.ts';
import { gate } from './faulty-server.ts';
import { auditOf, type Fleet, type Member, orderOf, startFleet, walletId } from './fleet.ts';

const count = (from: number, to: number) => Array.from({ length: to - from }, (_, n) => from + n);
const token = ({ billing }: Member, cause: string, wanted = {}) =>
  billing.charges.charge(orderOf(cause, wanted), ({ id }) => id);
const codeOf = (call: Promise<unknown>) =>
  call.then(
    () => 'charged',
    (error: unknown) => (error instanceof ApiError ? error.code : error),
  );
const sum = (fleet: Fleet, way: string) =>
  fleet.members.reduce((total, { ways }) => total + (ways[way] ?? 0), 0);
const chargesOf = async (fleet: Fleet) => (await fleet.ledger()).charges.map(({ id }) => id);
/** Starts two processes. `writer` writes the wallet, and `other` hands its postings over. */
async function pair() {
  const fleet = await startFleet(2);
  const { writer, others } = await fleet.roles();
  return { fleet, writer, other: others[0] as Member };
}

describe('one wallet with eight processes', () => {
  it('is written by one process: of 160 charges, the other seven send theirs to this process', async () => {
    const fleet = await startFleet(8);
    const { writer } = await fleet.roles();
    const answers = await Promise.all(
      count(0, 160).map((n) => token(fleet.members[n % 8] as Member, `code ${n}`)),
    );
    expect(new Set(answers.map((charged) => charged.outcome === 'charged' && charged.answer)).size).toBe(160);
    const { charges, state } = await fleet.ledger();
    expect([charges.length, state.balance]).toEqual([168, 100_000 - 168 * 50]);
    expect(sum(fleet, 'own')).toBe(21);
    expect(writer.ways['own']).toBe(21);
    expect(sum(fleet, 'answered')).toBe(147);
    expect(sum(fleet, 'requests')).toBeLessThan(147);
  });

  it('pays for exactly as many charges as its balance and its spend caps allow', async () => {
    const fleet = await startFleet(8);
    const { manualEntries } = (fleet.members[3] as Member).billing;
    const cap = async (perMinute: number, id: string) =>
      manualEntries.setCaps(walletId, { perMinute }, auditOf(id));
    const all = (from: number) =>
      Promise.all(
        count(from, from + 80).map((n) => codeOf(token(fleet.members[n % 8] as Member, `code ${n}`))),
      );
    await cap(37, 'cap');
    const capped = await all(0);
    expect(capped.filter((code) => code === 'charged')).toHaveLength(37);
    expect(capped.filter((code) => code === 'rate_limited')).toHaveLength(43);
    await cap(100_000, 'no cap');
    const left = (await fleet.ledger()).state.balance;
    await manualEntries.adjust(walletId, 11 * 50 - left, {
      reference: 'all but 11',
      audit: auditOf('adjust'),
    });
    const short = await all(100);
    expect(short.filter((code) => code === 'charged')).toHaveLength(11);
    expect(short.filter((code) => code === 'payment_required')).toHaveLength(69);
    expect((await fleet.ledger()).state.balance).toBe(0);
  });

  it('charges a code once, and names this charge to every other caller', async () => {
    const fleet = await startFleet(8);
    const answers = await Promise.all(
      fleet.members.flatMap((each) => [token(each, 'one'), token(each, 'one')]),
    );
    const charged = answers.flatMap((each) => (each.outcome === 'charged' ? [each.answer] : []));
    const past = answers.flatMap((each) => (each.outcome === 'used' ? [each.past] : []));
    expect([charged.length, past.length]).toEqual([1, 15]);
    for (const { id, at, access } of past) {
      expect(id).toBe(charged[0]);
      expect([at, access?.expiresAt]).toEqual([expect.any(Date), expect.any(Date)]);
      expect(access?.claims).toEqual({ age_18_plus: true });
    }
    expect(await chargesOf(fleet)).toEqual(charged);
  });

  it('applies a manual entry once, and reports `repeated` to callers that send it again', async () => {
    const fleet = await startFleet(8);
    const fund = ({ billing }: Member, n: number) =>
      billing.manualEntries.fund(walletId, 5_000, { reference: 'same', audit: auditOf(`fund ${n}`) });
    const moved = await Promise.all(fleet.members.map(fund));
    expect(moved.filter(({ repeated }) => !repeated)).toHaveLength(1);
    expect(new Set(moved.map(({ entry }) => entry.id)).size).toBe(1);
    const { entries, pages } = await fleet.ledger();
    expect(entries.filter(({ memo }) => memo?.reference === 'same')).toHaveLength(1);
    const [acts] = pages.flatMap((page) => page.entries).flatMap(({ memo }) => memo?.audit ?? []);
    expect(acts?.at).toEqual(expect.any(Date));
  });
});

describe('a hand-over whose reply is lost', () => {
  it('returns the charge as new to the caller, and not as an already used code', async () => {
    const { fleet, writer, other } = await pair();
    writer.faults.after = () => 'lose';
    const charged = await token(other, 'code');
    expect(charged.outcome).toBe('charged');
    expect(other.ways['lost']).toBe(1);
    expect(await chargesOf(fleet)).toHaveLength(3);
    expect(await token(writer, 'code')).toMatchObject({ outcome: 'used' });
  });

  it('returns the funding as new to the operator, and only a second call as repeated', async () => {
    const { writer, other } = await pair();
    writer.faults.after = () => 'lose';
    const memo = { reference: 'lost', audit: auditOf('lost') };
    expect((await other.billing.manualEntries.fund(walletId, 5_000, memo)).repeated).toBe(false);
    expect(
      (await other.billing.manualEntries.fund(walletId, 5_000, { ...memo, audit: auditOf('again') }))
        .repeated,
    ).toBe(true);
  });

  it('makes the sender write later charges itself, until the writer answers a probe', async () => {
    const { fleet, writer, other } = await pair();
    writer.faults.after = () => 'lose';
    await token(other, 'code');
    await token(other, 'next');
    expect(other.ways).toMatchObject({ lost: 1, answered: 1, own: 1 });
    await fleet.refresh();
    expect(other.ways).toMatchObject({ answering: 0, silent: 1 });
    delete writer.faults.after;
    await fleet.refresh();
    expect(other.ways).toMatchObject({ answering: 1, silent: 0 });
    await token(other, 'after');
    expect(other.ways).toMatchObject({ lost: 1, answered: 2 });
  });

  it('causes payment_required if the writer handles the charge too late, although money has arrived by then', async () => {
    const { fleet, writer, other } = await pair();
    const { balance } = (await fleet.ledger()).state;
    await writer.billing.manualEntries.adjust(walletId, -balance, {
      reference: 'empty',
      audit: auditOf('empty'),
    });
    // The writer gets the posting, but handles it only after the money has arrived.
    const seen = gate();
    writer.faults.before = () => seen.passed;
    const answer = codeOf(token(other, 'code'));
    await expect.poll(() => other.ways['lost'], { timeout: within(3_000) }).toBe(1);
    await writer.billing.manualEntries.fund(walletId, 5_000, { reference: 'late', audit: auditOf('late') });
    seen.open();
    expect(await answer).toBe('payment_required');
    const { charges, pages } = await fleet.ledger();
    expect(charges).toHaveLength(2);
    const fences = pages.flatMap(({ entries }) => entries.filter(({ kind }) => kind === 'fence'));
    expect(fences).toHaveLength(1);
  });
});

describe('a writer that hangs', () => {
  it('does not prevent charges: 20 callers are charged by their own process, and once only', async () => {
    const { fleet, writer, other } = await pair();
    const stopped = gate();
    writer.faults.before = () => stopped.passed;
    const answers = await Promise.all(count(0, 20).map((n) => token(other, `code ${n}`)));
    expect(answers.every(({ outcome }) => outcome === 'charged')).toBe(true);
    stopped.open();
    await new Promise((resolve) => setTimeout(resolve, 100));
    expect(await chargesOf(fleet)).toHaveLength(22);
  });
});

describe('a handed-over charge whose caller no longer waits', () => {
  it("is removed by the writer after the caller's abort: the caller gets 503 and no charge", async () => {
    const { fleet, writer, other } = await pair();
    const insert = gate();
    const caller = new AbortController();
    // The writer is busy, so new postings wait for its next page.
    const blocked = blockWrites(fleet, insert.passed);
    const first = token(writer, 'first');
    const second = codeOf(token(other, 'second', { signal: caller.signal }));
    await expect.poll(() => writer.messages.length).toBe(1);
    caller.abort();
    await expect.poll(() => writer.messages.length).toBe(2);
    insert.open();
    await first;
    expect(await second).toBe('service_unavailable');
    blocked();
    expect(await chargesOf(fleet)).toHaveLength(3);
  });
});

describe('a charge whose caller waits only 300 ms more', () => {
  it("is written by the caller's own process, and not handed over", async () => {
    const { other } = await pair();
    const signal = { aborted: false, reason: undefined, endsAt: performance.now() + 300 };
    expect((await token(other, 'code', { signal })).outcome).toBe('charged');
    expect(other.ways).toMatchObject({ own: 1 });
  });
});

/** Delays every insert of pages until `passed`. Returns a function that ends the delay. */
function blockWrites(fleet: Fleet, passed: Promise<void>): () => void {
  const original = fleet.db.command.bind(fleet.db);
  fleet.db.command = (async (command: never, options: never) => {
    if ('insert' in command) await passed;
    return original(command, options);
  }) as typeof fleet.db.command;
  return () => {
    fleet.db.command = original;
  };
}
