import { describe, expect, it } from 'vitest';
import type { DeadlineSignal } from '../../contracts/charge.ts';
import { keysOf, type Reply, type Request, withDates } from '../../server/billing/hand-over/messages.ts';
import { createTakeOver } from '../../server/billing/hand-over/take-over.ts';
import type { LedgerEntry } from '../../server/billing/ledger/ledger-page.ts';
import type { Written } from '../../server/billing/ledger/ledger-writer.ts';
import { open, seal } from '../../server/platform/keys/authenticated-json.ts';

const keys = keysOf(Buffer.alloc(32, 1));
const posting = (id: string) => ({ walletId: 'ptr_1:test', id, kind: 'token' as const, amount: -50 });

/** A writer that inserts no page, with a clock that the test sets. */
function startWriter() {
  const time = { now: 0 };
  const signals: DeadlineSignal[] = [];
  const answers: ((written: Written) => void)[] = [];
  const takeOver = createTakeOver({
    self: 'writer',
    keys,
    clock: { now: () => time.now, trusted: () => true },
    uptime: () => time.now,
    local: {
      write(_posting, { signal }) {
        signals.push(signal);
        return new Promise((resolve) => answers.push(resolve));
      },
    },
  });
  let n = 0;
  const send = (content: Pick<Request, 'postings' | 'abort'>, isClosed = () => false) => {
    n += 1;
    const about = { version: 1 as const, from: 'other', to: 'writer', n, at: time.now };
    return takeOver(seal(keys.request, { ...about, ...content }), isClosed);
  };
  return { time, signals, answers, send, aborted: () => signals.map(({ aborted }) => aborted) };
}

const three = ['one', 'two', 'three'].map((id) => ({ posting: posting(id), withinMs: 1_000 }));

describe('a ledger entry that another process handed over', () => {
  it('is cancelled if its sender cancels it, while the other entries of the same request stay pending', async () => {
    const { aborted, send } = startWriter();
    void send({ postings: three });
    expect(aborted()).toEqual([false, false, false]);
    await send({ postings: [], abort: { n: 1, positions: [1] } });
    expect(aborted()).toEqual([false, true, false]);
    await send({ postings: [], abort: { n: 1, positions: [1, 2] } });
    expect(aborted()).toEqual([false, true, true]);
  });

  it('stays pending if the sender cancels an entry of another request', async () => {
    const { aborted, send } = startWriter();
    void send({ postings: three.slice(0, 1) });
    void send({ postings: three.slice(1, 2) });
    await send({ postings: [], abort: { n: 2, positions: [0] } });
    expect(aborted()).toEqual([false, true]);
  });

  it("is cancelled at its deadline of 1,000 ms, or when the sender's connection closes", () => {
    const { aborted, send, time } = startWriter();
    let isClosed = false;
    void send({ postings: three.slice(0, 1) }, () => isClosed);
    void send({ postings: three.slice(1, 2) });
    isClosed = true;
    expect(aborted()).toEqual([true, false]);
    time.now = 999;
    expect(aborted()).toEqual([true, false]);
    time.now = 1_000;
    expect(aborted()).toEqual([true, true]);
  });
});

describe('a reply to a hand-over', () => {
  const at = new Date('2026-11-24T12:00:00.000Z');
  const audit = {
    operatorId: 'opr_1',
    operatorName: 'Operator',
    action: 'wallets.fund',
    requestId: 'req_1',
    address: '127.0.0.1',
    id: 'act_1',
    at,
    target: 'ptr_1',
  };
  const entry = {
    ...{ ...posting('txn_1'), balanceAfter: 50, at },
    memo: { audit },
    grant: { salt: 'salt', expiresAt: at },
  } as unknown as LedgerEntry;

  it('returns the dates of a ledger entry as Date objects after encryption and decryption', () => {
    const answers = [{ outcome: 'used' as const, entry }];
    const reply = open<Reply>(keys.reply, seal(keys.reply, { to: 'other', n: 1, answers }));
    const [answer] = reply?.answers ?? [];
    expect(answer?.outcome === 'used' && withDates(answer.entry)).toEqual(entry);
  });
});
