import { type Edit, editedCore } from './edited-core.ts';
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
  /** The seed that found the removal last, which is tried before the others. */
  foundBy?: number;
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
    title: 'after a lost hand-over, a caller is refused only after a fence entry is written',
    edits: [
      edit(
        handOver,
        "await local.write({ walletId: posting.walletId, id: fenceId, kind: 'fence', amount: 0 }, { signal });",
        '',
      ),
    ],
    plan: busyWriters,
    budget: 300,
    foundBy: 154,
  },
  {
    title: 'a fence entry is written only after the other process has dropped the postings that it got',
    edits: [edit(handOver, 'await pause(Math.max(0, until - uptime()));', '')],
    plan: busyWriters,
    budget: 300,
  },
  {
    title: 'a hand-over without a reply counts as perhaps written, not as never sent',
    edits: [
      edit(handOver, 'return items.map(() => lost);', "return items.map(() => ({ outcome: 'not_sent' }));"),
    ],
    plan: lostHandOvers,
    budget: 300,
    foundBy: 46,
  },
  {
    title: 'the writer drops a posting whose deadline has passed',
    edits: [edit(takeOver, 'uptime() >= sentAt + withinMs || ', '')],
    plan: lostHandOvers,
    budget: 300,
    foundBy: 30,
  },
  {
    title: 'the time that a message waited in a buffer counts against the deadline of its postings',
    edits: [edit(takeOver, 'uptime() - Math.max(0, clock.now() - at)', 'uptime()')],
    plan: lostHandOvers,
    budget: 300,
    foundBy: 109,
  },
  {
    title: 'after a lost hand-over, a process recognises the entry that the writer made for it',
    edits: [edit(handOver, 'entry.grant?.salt === grant.salt', 'false')],
    plan: lostHandOvers,
    budget: 300,
    foundBy: 16,
  },
  {
    title: 'a process takes an entry as made for it only if the salt is the same',
    edits: [edit(handOver, 'entry.grant?.salt === grant.salt', 'true')],
    plan: lostHandOvers,
    budget: 300,
  },
  {
    title: 'a page whose insert is not confirmed is not used as the last page of the wallet',
    edits: [
      edit(
        'ledger/ledger-writer.ts',
        'return fail(drafted, result);',
        'heads.set(drafted.page, sentAt); return fail(drafted, result);',
      ),
    ],
    plan: longOutages,
    budget: 100,
  },
  {
    title: 'a request is refused only by a last page that was read after the request arrived',
    edits: [edit('ledger/ledger-writer.ts', 'posting.arrivedAt <= head.asOf', 'true')],
    budget: 100,
  },
  {
    title: 'the age of a last page that was read counts from the start of the read',
    edits: [edit('ledger/heads.ts', 'return this.set(page, asOf);', 'return this.set(page, uptime());')],
    plan: slowReplies,
    budget: 100,
  },
  {
    title: 'the age of a last page that this process wrote counts from its first insert',
    edits: [edit('ledger/ledger-writer.ts', 'heads.set(page, sentAt);', 'heads.set(page, uptime());')],
    plan: slowReplies,
    budget: 100,
  },
  {
    title: 'a refusal that depends on a page in progress is sent only after the page is written',
    edits: [
      edit(
        'ledger/ledger-writer.ts',
        'const inserting = insertPages(drafts);',
        'for (const { refused } of drafts) void refuse(refused); const inserting = insertPages(drafts);',
      ),
    ],
    budget: 100,
  },
  {
    title: 'two postings with the same id are never put into one page',
    edits: [edit('ledger/page-builder.ts', 'ids.has(posting.id) || ', '')],
    budget: 100,
  },
  {
    title:
      'after a lost reply, a process takes an existing page as its own only if the attempt id is the same',
    edits: [edit('ledger/page-insert.ts', 'existing.attempt === page.attempt ?', 'existing ?')],
    budget: 100,
  },
  {
    title: 'after a lost reply, a process recognises the page that it has written',
    edits: [edit('ledger/page-insert.ts', 'existing.attempt === page.attempt ?', '!existing ?')],
    budget: 100,
  },
  {
    title: 'a page is abandoned only after a fence is written with its number',
    edits: [
      edit(
        'ledger/page-insert.ts',
        'isLastTry = uptime() >= resendUntil;',
        "isLastTry = uptime() >= resendUntil; if (isLastTry) return pages.map(({ result }) => (result === 'unknown' ? 'fenced' : result));",
      ),
    ],
    plan: lateMessages,
    budget: 100,
  },
  {
    title: 'a caller gets 503 only after a fence was sent with the number of the page',
    edits: [
      edit(
        'ledger/page-insert.ts',
        'isLastTry = uptime() >= resendUntil;',
        "isLastTry = uptime() >= resendUntil; if (isLastTry) return pages.map(({ result }) => (result === 'unknown' ? (cause as Error) : result));",
      ),
    ],
    plan: lateMessages,
    budget: 100,
  },
  {
    title: 'the last try to write a page number sends a fence',
    edits: [edit('ledger/page-insert.ts', 'isFence ? fencePage(page, head) : page', 'page')],
    plan: lateMessages,
    budget: 100,
  },
  {
    title: 'a written fence does not count as the written page',
    edits: [edit('ledger/page-insert.ts', "isFence ? 'fenced' : 'inserted'", "'inserted'")],
    plan: longOutages,
    budget: 100,
  },
  {
    title: 'an entry id that already exists does not count as written now',
    edits: [
      edit(
        'ledger/ledger-writer.ts',
        "if (result === 'inserted') return",
        "if (result === 'inserted' || result === 'entry exists') return",
      ),
    ],
    budget: 100,
  },
  {
    title: 'a unique index refuses an entry id that already exists',
    database: { withoutEntryIndex: true },
    budget: 100,
  },
  {
    title: 'on a replica set, reads return only pages that a majority has confirmed',
    database: { localReads: true },
    plan: { ...failovers, deployment: 'replica set' },
    budget: 100,
    foundBy: 38,
  },
  {
    title: 'on a single server, the last page is in the journal before it is used',
    database: { localReads: true },
    plan: { ...failovers, deployment: 'single server' },
    budget: 100,
    foundBy: 67,
  },
  {
    title: 'a repeated request is answered only from an entry that cannot be rolled back',
    edits: [
      edit('charge.ts', 'store.findDurableEntry(', 'store.findEntry('),
      edit('ledger/ledger-writer.ts', 'store.findDurableEntry(', 'store.findEntry('),
    ],
    plan: repeatsBeforeCrashes,
    budget: 100,
    foundBy: 44,
  },
  {
    title: 'the time of a page is never before that of the previous page',
    edits: [edit('ledger/page-builder.ts', 'Math.max(now, head.at.getTime())', 'now')],
    budget: 100,
  },
  {
    title: 'before a charge is refused, the ledger is searched for an earlier entry with its id',
    edits: [
      edit(
        'ledger/ledger-writer.ts',
        "existing.has(entryKeyOf(posting)) ? { outcome: 'used' } : refusal",
        'refusal',
      ),
    ],
    budget: 100,
  },
  {
    title: 'a posting leaves the queue when its caller aborts',
    edits: [
      edit(
        'ledger/ledger-writer.ts',
        'if (signal.aborted) ticket.reject(unavailable(signal.reason));',
        'if (signal.aborted) { ticket.reject(unavailable(signal.reason)); toWrite.push(ticket); }',
      ),
    ],
    budget: 100,
  },
  {
    title: 'after the last pages are read, postings that were aborted meanwhile are left out',
    edits: [
      edit(
        'ledger/ledger-writer.ts',
        'draftPage(head, stillToWrite(queued), clock.now())',
        'draftPage(head, queued, clock.now())',
      ),
    ],
    plan: slowHeads,
    budget: 100,
    foundBy: 65,
  },
  {
    title: 'a caller is answered only after its page is written',
    edits: [
      edit(
        'ledger/ledger-writer.ts',
        'posting.onPlaced?.(entry);',
        "posting.onPlaced?.(entry); posting.resolve({ outcome: 'written', entry });",
      ),
    ],
    budget: 100,
  },
  {
    title: 'remembered used ids are separate for each wallet',
    edits: [
      edit('ledger/ledger-writer.ts', 'used.has(entryKeyOf(ticket))', 'used.has(ticket.id)'),
      edit('ledger/ledger-writer.ts', 'used.set(entryKeyOf(posting), true)', 'used.set(posting.id, true)'),
      edit(
        'ledger/ledger-writer.ts',
        'used.set(key, true)',
        "used.set(key.slice(key.lastIndexOf('/') + 1), true)",
      ),
    ],
    budget: 100,
  },
  {
    title: 'a page has its unpublished mark until its events are stored',
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
