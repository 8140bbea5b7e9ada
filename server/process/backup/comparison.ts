import { type LedgerEntry, ownerOfWallet } from '../../billing/ledger/ledger-page.ts';
import { createLedgerStore, type LedgerStore } from '../../billing/ledger/ledger-store.ts';
import type { StoredEntry } from '../../operations/audit/audit-entries.ts';
import { createAuditStore } from '../../operations/audit/audit-store.ts';
import { createPartnerStore } from '../../partners/partner-store.ts';
import { connect, type Database, longestScanMs } from '../../platform/database/connect.ts';
import { withPartnerName } from '../../platform/database/partner-names.ts';

/** Something of the old database that the restored one lacks: a change from the audit log, or a ledger entry. */
export interface Lost {
  partnerId: string | null;
  partnerName: string | null;
  at: string;
  kind: 'change' | 'entry';
  /** The procedure, such as `partners.suspend`, or the kind of the entry. */
  what: string;
  /** The id of the changed record, or of the entry. */
  target: string | null;
  by: string | null;
  before: Record<string, unknown> | null;
  /** The values after the change; amount, balance and reference of an entry. */
  after: Record<string, unknown> | null;
}

type Unnamed = Omit<Lost, 'partnerName'>;

/** Addresses of the two databases. */
interface Addresses {
  old: string;
  restored: string;
  /** Whether they are run by the embedded engine. */
  embedded: { old: boolean; restored: boolean };
}

const comparedAtOnce = 500;
const walletsAtOnce = 500;

/** Finds the last page that two ledgers of a wallet share; -1 if there is none. A digest covers all pages before it. */
async function lastCommonPage(walletId: string, old: LedgerStore, restored: LedgerStore): Promise<number> {
  const [oldHead, restoredHead] = await Promise.all([old.head(walletId), restored.head(walletId)]);
  let low = -1;
  let high = Math.min(oldHead?.n ?? -1, restoredHead?.n ?? -1);
  while (low < high) {
    const middle = Math.ceil((low + high) / 2);
    const [[before], [now]] = await Promise.all([
      old.summaries(walletId, [middle]),
      restored.summaries(walletId, [middle]),
    ]);
    if (before && before.digest === now?.digest) low = middle;
    else high = middle - 1;
  }
  return low;
}

const viewEntry = (walletId: string, { id, kind, amount, balanceAfter, at, memo }: LedgerEntry): Unnamed => ({
  partnerId: ownerOfWallet(walletId).partnerId,
  at: at.toISOString(),
  kind: 'entry',
  what: kind,
  target: id,
  by: memo?.actor ?? null,
  before: null,
  after: {
    wallet: walletId,
    amount,
    balanceAfter,
    ...(memo?.reference !== undefined && { reference: memo.reference }),
    ...(memo?.reason !== undefined && { reason: memo.reason }),
    ...(memo?.caps && { caps: memo.caps }),
  },
});

/** The entries of a wallet that the restored ledger lacks. One that was entered again with its reference has the same id. */
async function lostEntries(walletId: string, old: LedgerStore, restored: LedgerStore): Promise<Unnamed[]> {
  const from = (await lastCommonPage(walletId, old, restored)) + 1;
  const present = new Set<string>();
  const rest = { from, to: Number.MAX_SAFE_INTEGER };
  for await (const { entries } of restored.pages(walletId, rest))
    for (const { id } of entries) present.add(id);
  const lost: Unnamed[] = [];
  for await (const { entries } of old.pages(walletId, rest))
    lost.push(...entries.filter(({ id }) => !present.has(id)).map((entry) => viewEntry(walletId, entry)));
  return lost;
}

async function lostLedger(old: LedgerStore, restored: LedgerStore): Promise<Unnamed[]> {
  const lost: Unnamed[] = [];
  for (let after = ''; ; ) {
    const ids = await old.walletIds({ after, limit: walletsAtOnce });
    for (const id of ids) lost.push(...(await lostEntries(id, old, restored)));
    if (ids.length < walletsAtOnce) return lost;
    after = ids.at(-1) ?? '';
  }
}

const viewChange = (entry: StoredEntry): Unnamed => ({
  partnerId: entry.partnerId ?? null,
  at: entry.at.toISOString(),
  kind: 'change',
  what: entry.action,
  target: entry.target,
  by: entry.operatorName,
  before: entry.before ?? null,
  after: entry.after ?? entry.input ?? null,
});

async function lostChanges(old: Database['db'], restored: Database['db']): Promise<Unnamed[]> {
  const [oldLog, restoredLog] = [createAuditStore(old), createAuditStore(restored)];
  const lost: Unnamed[] = [];
  let read: StoredEntry[] = [];
  async function compare(): Promise<void> {
    const present = await restoredLog.existing(read.map(({ _id }) => _id));
    lost.push(...read.filter(({ _id }) => !present.has(_id)).map(viewChange));
    read = [];
  }
  for await (const entry of oldLog.changes()) if (read.push(entry) >= comparedAtOnce) await compare();
  await compare();
  return lost;
}

/** By partner, those of no partner last, then by time. */
const inOrder = (one: Unnamed, other: Unnamed): number => {
  const key = ({ partnerId, at }: Unnamed) => `${partnerId ?? '~'} ${at}`;
  return key(one) < key(other) ? -1 : 1;
};

/**
 * Lists the changes and ledger entries of an old database that a restored one lacks, by partner. Both are only read.
 * @param addresses of the two databases; processes of the service may use them
 */
export async function compareRestored({ old, restored, embedded }: Addresses): Promise<Lost[]> {
  const open = (uri: string, isEmbedded: boolean) =>
    connect({ uri, embedded: isEmbedded, appName: 'svc-gateway-compare', answerWithinMs: longestScanMs });
  const [first, second] = [await open(old, embedded.old), await open(restored, embedded.restored)];
  try {
    const lost = [
      ...(await lostLedger(createLedgerStore(first.db), createLedgerStore(second.db))),
      ...(await lostChanges(first.db, second.db)),
    ].toSorted(inOrder);
    return await withPartnerName(lost, createPartnerStore(first.db).names);
  } finally {
    await Promise.all([first.client.close(), second.client.close()]);
  }
}
