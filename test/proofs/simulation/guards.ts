import { type Edit, editedCore } from './billing-core.ts';
import type { Variant } from './harness.ts';
import { type Plan, slowReplies } from './plan.ts';

/** One safeguard of the protocol, and the change that removes it. */
interface Guard {
  title: string;
  /** The edits of the product's source that remove the safeguard. */
  edits?: readonly Edit[];
  /** The change of the database, for a guard that the database provides. */
  database?: Pick<Variant, 'withoutEntryIndex' | 'localReads'>;
  plan?: Partial<Plan>;
  /** The seeds with which the simulation detects the removal. */
  budget: number;
}

const edit = (file: string, find: string, replace: string): Edit => ({ file, find, replace });

const handOver = 'hand-over/hand-over.ts';
const takeOver = 'hand-over/take-over.ts';

const calm: Partial<Plan> = {
  funds: 10_000,
  caps: { perMinute: 5_000, perHour: 50_000 },
  electionLag: 0,
  processPauses: 0,
  clockSteps: 0,
};

/** Pages are lost, the database is unreachable for longer than the retries, and clients repeat their requests after it. */
const longOutages: Partial<Plan> = {
  ...calm,
  span: 8_000,
  processes: 1,
  codes: 16,
  tries: 4,
  failovers: 4,
  outage: 6_000,
  stalls: 0,
  conditions: { latency: 5, faults: 0.3, mostly: 'request lost', lateness: 500, crashRate: 0 },
};

/** Pages arrive seconds after their insert was abandoned. */
const lateMessages: Partial<Plan> = {
  ...calm,
  span: 4_000,
  processes: 1,
  codes: 2,
  tries: 1,
  commands: 0,
  failovers: 0,
  stalls: 0,
  conditions: { latency: 5, faults: 0.6, mostly: 'arrives late', lateness: 8_000, crashRate: 0 },
};

/** Unconfirmed pages are often lost, and processes crash. */
const failovers: Partial<Plan> = {
  ...calm,
  span: 1_000,
  processes: 4,
  codes: 10,
  failovers: 3,
  outage: 1_000,
  confirmation: 50,
  conditions: { latency: 5, faults: 0.03, mostly: undefined, lateness: 500, crashRate: 0.02 },
};

/** Codes are repeated at several processes, which crash while the server confirms late. */
const repeatsBeforeCrashes: Partial<Plan> = {
  ...calm,
  deployment: 'single server',
  span: 400,
  processes: 4,
  codes: 10,
  tries: 4,
  pause: 50,
  failovers: 3,
  outage: 200,
  confirmation: 200,
  conditions: { latency: 2, faults: 0, mostly: undefined, lateness: 500, crashRate: 0.05 },
};

/** Reads of heads take seconds. */
const slowHeads: Partial<Plan> = {
  ...calm,
  span: 2_500,
  processes: 1,
  wallets: 2,
  codes: 8,
  failovers: 2,
  outage: 3_500,
  conditions: { latency: 50, faults: 0.3, mostly: 'slow reply', lateness: 500, crashRate: 0 },
};

/** Money is short and arrives late, and most messages between processes are lost, late or doubled. */
const lostHandOvers: Partial<Plan> = {
  ...calm,
  span: 2_000,
  processes: 4,
  wallets: 1,
  codes: 9,
  tries: 4,
  commands: 7,
  funds: 50,
  handOvers: 1,
  messageFaults: 0.6,
  refreshes: 40,
  processPauses: 4,
  conditions: { latency: 2, faults: 0, mostly: undefined, lateness: 1_500, crashRate: 0 },
};

/** Money is short, as above, and the writer is busy, so that an abandoned posting waits there until money has arrived. */
const busyWriters: Partial<Plan> = {
  ...lostHandOvers,
  span: 1_500,
  commands: 14,
  funds: 0,
  messageFaults: 0.8,
  processPauses: 0,
  conditions: { latency: 60, faults: 0.3, mostly: 'slow reply', lateness: 500, crashRate: 0 },
};

export const guards: readonly Guard[] = [
  {
    title: 'after a lost hand-over, a caller is refused only behind a fence',
    edits: [
      edit(
        handOver,
        "await local.write({ walletId: posting.walletId, id: fenceId, kind: 'fence', amount: 0 }, { signal });",
        '',
      ),
    ],
    plan: busyWriters,
    budget: 300,
  },
  {
    title: 'a fence stands only after the other process drops what it has',
    edits: [edit(handOver, 'await pause(Math.max(0, until - uptime()));', '')],
    plan: busyWriters,
    budget: 300,
  },
  {
    title: 'a lost hand-over counts as lost, not as never sent',
    edits: [
      edit(handOver, 'return items.map(() => lost);', "return items.map(() => ({ outcome: 'not_sent' }));"),
    ],
    plan: lostHandOvers,
    budget: 300,
  },
  {
    title: 'the writer drops a posting whose time is over',
    edits: [edit(takeOver, 'uptime() >= sentAt + withinMs || ', '')],
    plan: lostHandOvers,
    budget: 300,
  },
  {
    title: 'a message that waited in a buffer leaves less time',
    edits: [edit(takeOver, 'uptime() - Math.max(0, clock.now() - at)', 'uptime()')],
    plan: lostHandOvers,
    budget: 300,
  },
  {
    title: 'after a lost hand-over, its own entry is recognised',
    edits: [edit(handOver, 'entry.grant?.salt === grant.salt', 'false')],
    plan: lostHandOvers,
    budget: 300,
  },
  {
    title: 'an entry is its own only with the same salt',
    edits: [edit(handOver, 'entry.grant?.salt === grant.salt', 'true')],
    plan: lostHandOvers,
    budget: 300,
  },
  {
    title: 'an unconfirmed page does not become a head',
    edits: [
      edit(
        'ledger-writer.ts',
        'return fail(drafted, result);',
        'heads.set(drafted.page, sentAt); return fail(drafted, result);',
      ),
    ],
    plan: longOutages,
    budget: 100,
  },
  {
    title: 'a refusal needs a head that is newer than the request',
    edits: [edit('ledger-writer.ts', 'posting.arrivedAt <= head.asOf', 'true')],
    budget: 100,
  },
  {
    title: 'a head that was read is as old as the request for it',
    edits: [edit('heads.ts', 'return this.set(page, asOf);', 'return this.set(page, uptime());')],
    plan: slowReplies,
    budget: 100,
  },
  {
    title: 'the head of an own page is as old as its first insert',
    edits: [edit('ledger-writer.ts', 'heads.set(page, sentAt);', 'heads.set(page, uptime());')],
    plan: slowReplies,
    budget: 100,
  },
  {
    title: 'a refusal beside a page waits until the page stands',
    edits: [
      edit(
        'ledger-writer.ts',
        'const inserting = insertPages(drafts);',
        'for (const { refused } of drafts) void refuse(refused); const inserting = insertPages(drafts);',
      ),
    ],
    budget: 100,
  },
  {
    title: 'postings with the same id go in different pages',
    edits: [edit('page-builder.ts', 'ids.has(posting.id) || ', '')],
    budget: 100,
  },
  {
    title: 'after a lost reply, an existing page is its own only with the same attempt',
    edits: [edit('page-insert.ts', 'existing.attempt === page.attempt ?', 'existing ?')],
    budget: 100,
  },
  {
    title: 'after a lost reply, its own page is recognised',
    edits: [edit('page-insert.ts', 'existing.attempt === page.attempt ?', '!existing ?')],
    budget: 100,
  },
  {
    title: 'a page is given up only after a fence stands in its place',
    edits: [
      edit(
        'page-insert.ts',
        'isLastTry = uptime() >= resendUntil;',
        "isLastTry = uptime() >= resendUntil; if (isLastTry) return pages.map(({ result }) => (result === 'unknown' ? 'fenced' : result));",
      ),
    ],
    plan: lateMessages,
    budget: 100,
  },
  {
    title: 'a caller is answered 503 only after a fence was sent',
    edits: [
      edit(
        'page-insert.ts',
        'isLastTry = uptime() >= resendUntil;',
        "isLastTry = uptime() >= resendUntil; if (isLastTry) return pages.map(({ result }) => (result === 'unknown' ? (cause as Error) : result));",
      ),
    ],
    plan: lateMessages,
    budget: 100,
  },
  {
    title: 'the last page that is sent is a fence',
    edits: [edit('page-insert.ts', 'isFence ? fencePage(page, head) : page', 'page')],
    plan: lateMessages,
    budget: 100,
  },
  {
    title: 'a fence is not taken for the page',
    edits: [edit('page-insert.ts', "isFence ? 'fenced' : 'inserted'", "'inserted'")],
    plan: longOutages,
    budget: 100,
  },
  {
    title: 'an id that stands already is not taken for written',
    edits: [
      edit(
        'ledger-writer.ts',
        "if (result === 'inserted') return",
        "if (result === 'inserted' || result === 'entry exists') return",
      ),
    ],
    budget: 100,
  },
  {
    title: 'the index refuses an entry id that stands already',
    database: { withoutEntryIndex: true },
    budget: 100,
  },
  {
    title: 'reads and heads show confirmed pages only',
    database: { localReads: true },
    plan: { ...failovers, deployment: 'replica set' },
    budget: 100,
  },
  {
    title: 'a head of a single server is durable',
    database: { localReads: true },
    plan: { ...failovers, deployment: 'single server' },
    budget: 100,
  },
  {
    title: 'an answer to a repeat relies on a durable entry',
    edits: [
      edit('charge.ts', 'store.findDurableEntry(', 'store.findEntry('),
      edit('ledger-writer.ts', 'store.findDurableEntry(', 'store.findEntry('),
    ],
    plan: repeatsBeforeCrashes,
    budget: 100,
  },
  {
    title: 'the time of a page never goes back',
    edits: [edit('page-builder.ts', 'Math.max(now, head.at.getTime())', 'now')],
    budget: 100,
  },
  {
    title: 'a used id is looked for before a refusal',
    edits: [
      edit(
        'ledger-writer.ts',
        "existing.has(entryKeyOf(posting)) ? { outcome: 'used' } : refusal",
        'refusal',
      ),
    ],
    budget: 100,
  },
  {
    title: 'a posting whose signal is aborted leaves the queue',
    edits: [
      edit(
        'ledger-writer.ts',
        'if (signal.aborted) ticket.reject(unavailable(signal.reason));',
        'if (signal.aborted) { ticket.reject(unavailable(signal.reason)); toWrite.push(ticket); }',
      ),
    ],
    budget: 100,
  },
  {
    title: 'postings are looked at again after the heads are read',
    edits: [
      edit(
        'ledger-writer.ts',
        'draftPage(head, stillToWrite(queued), clock.now())',
        'draftPage(head, queued, clock.now())',
      ),
    ],
    plan: slowHeads,
    budget: 100,
  },
  {
    title: 'a caller is answered after its page stands',
    edits: [
      edit(
        'ledger-writer.ts',
        'posting.onPlaced?.(entry);',
        "posting.onPlaced?.(entry); posting.resolve({ outcome: 'written', entry });",
      ),
    ],
    budget: 100,
  },
  {
    title: 'the memory of used ids is kept by wallet',
    edits: [
      edit('ledger-writer.ts', 'used.has(entryKeyOf(ticket))', 'used.has(ticket.id)'),
      edit('ledger-writer.ts', 'used.set(entryKeyOf(posting), true)', 'used.set(posting.id, true)'),
      edit('ledger-writer.ts', 'used.set(key, true)', "used.set(key.slice(key.lastIndexOf('/') + 1), true)"),
    ],
    budget: 100,
  },
  {
    title: 'a page keeps its outbox mark until its events are stored',
    edits: [
      edit(
        'publishing.ts',
        'await publish(entries.flatMap(eventsOf));',
        'await store.markPublished(pages); await publish(entries.flatMap(eventsOf));',
      ),
    ],
    budget: 100,
  },
];

export const withoutGuard = ({ edits = [], database = {}, plan = {} }: Guard): Variant => ({
  core: editedCore(edits),
  ...database,
  plan,
});
