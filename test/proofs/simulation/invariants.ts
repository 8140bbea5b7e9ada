import type { LedgerEntry } from '../../../server/billing/ledger/ledger-page.ts';
import { chainOf, chargeIdOf } from './chain.ts';
import { createFold } from './fold.ts';
import type { Exchange, Harness } from './harness.ts';
import { refusalFaults } from './refusal-truth.ts';

/** Each check returns faults as text, which names the request, the code or the page. */

type Entries = ReadonlyMap<string, LedgerEntry & { pageId: string }>;

export const entryKey = (walletId: string, id: string) => `${walletId} ${id}`;

export function entriesOf(harness: Harness): Entries {
  const entries = new Map<string, LedgerEntry & { pageId: string }>();
  for (const walletId of harness.walletIds) {
    for (const { page } of chainOf(harness, walletId)) {
      for (const entry of page.entries)
        entries.set(entryKey(walletId, entry.id), { ...entry, pageId: page._id });
    }
  }
  return entries;
}

/** Checks every page, its links, and its state against an independent sum of its entries. */
function chainFaults(harness: Harness): string[] {
  return harness.walletIds.flatMap((walletId) => {
    const fold = createFold();
    return chainOf(harness, walletId).flatMap(({ page }) => fold.add(page));
  });
}

/** Answers after which the request must not have charged anything. */
const uncharged: readonly Exchange['outcome'][] = ['over', 'used', 'insufficient', 'minute', 'hour'];
/** The database was unreachable, even for a fence, so the next exchange finds the charge. */
const undecided: readonly Exchange['outcome'][] = ['unavailable', 'error'];

/** Whether an answer denies a charge that its own request has made. */
function deniesItsCharge(harness: Harness, outcome: Exchange['outcome'], pageId: string): boolean {
  if (uncharged.includes(outcome)) return true;
  // A process does not know the page on which another one has placed its posting.
  const walletId = pageId.slice(0, pageId.lastIndexOf('/'));
  const isFenced = harness.fenced.has(pageId) || harness.fencedWallets.has(walletId);
  return undecided.includes(outcome) && !isFenced;
}

/** A granted request has its entry, and a finally refused one has none. */
function answerFaults(harness: Harness, entries: Entries): string[] {
  const faults: string[] = [];
  const tokens = new Map<string, Exchange>();
  for (const exchange of harness.exchanges) {
    const { request, code, outcome, granted } = exchange;
    const entry = entries.get(entryKey(code.walletId, chargeIdOf(code)));
    const about = `${request} about ${code.walletId} ${code.cause} was answered "${outcome}"`;
    if (!exchange.ended) faults.push(`${about} and never ends`);
    if (outcome === 'used' && !entry) faults.push(`${about}, but no entry stands`);
    if (entry?.grant?.scope === request && deniesItsCharge(harness, outcome, entry.pageId))
      faults.push(`${about}, but was charged in ${entry.pageId}`);
    if (!granted) continue;
    if (!entry) faults.push(`${about}, but no entry stands`);
    else if (entry.grant?.scope !== granted.request || entry.at.getTime() !== granted.at.getTime())
      faults.push(`${about} with another access than that of its entry`);
    if (granted.replayed) continue;
    const key = entryKey(code.walletId, granted.id);
    if (granted.request !== request) faults.push(`${about} with the access of ${granted.request}`);
    if (tokens.has(key)) faults.push(`${about}, and so was ${tokens.get(key)?.request}`);
    tokens.set(key, exchange);
  }
  return faults;
}

/** Every confirmed command of an operator is in the ledger. */
function commandFaults(harness: Harness, entries: Entries): string[] {
  return harness.commands.flatMap(({ walletId, kind, amount, outcome, entry, ended }) => {
    const about = `a command to ${kind} ${amount} in ${walletId} was answered "${outcome}"`;
    const faults: string[] = ended ? [] : [`${about} and never ends`];
    if (!entry) return faults;
    const stands = entries.get(entryKey(entry.walletId, entry.id));
    if (stands?.amount !== entry.amount || stands.seq !== entry.seq)
      faults.push(`${about} with ${entry.id}, which does not stand so`);
    return faults;
  });
}

/** Each returning user's charge has its event, each manual entry its audit entry, and nothing else has one. */
function outboxFaults(harness: Harness, entries: Entries): string[] {
  const { events, auditLog, walletIds } = harness;
  const faults: string[] = [];
  const due = [...entries.values()].filter(({ kind, grant }) => kind === 'token' && grant?.returning);
  const expected = new Set(due.map(({ id }) => id));
  for (const id of expected) if (!events.has(id)) faults.push(`${id} has no event`);
  for (const id of events.keys()) if (!expected.has(id)) faults.push(`${id} has an event and no entry`);
  const audited = new Set([...entries.values()].flatMap(({ memo }) => memo?.audit?.id ?? []));
  for (const id of audited) if (!auditLog.has(id)) faults.push(`${id} is not in the audit log`);
  for (const id of auditLog.keys()) if (!audited.has(id)) faults.push(`${id} is audited and has no entry`);
  for (const walletId of walletIds) {
    const marked = chainOf(harness, walletId).filter(
      ({ page, publishedBy }) => page.unpublished && !publishedBy,
    );
    faults.push(...marked.map(({ page }) => `${page._id} is never published`));
  }
  return faults;
}

/** Checks for the time after all work has ended. */
export function faultsAtRest(harness: Harness): string[] {
  const entries = entriesOf(harness);
  return [
    ...chainFaults(harness),
    ...answerFaults(harness, entries),
    ...refusalFaults(harness),
    ...commandFaults(harness, entries),
    ...outboxFaults(harness, entries),
  ];
}
