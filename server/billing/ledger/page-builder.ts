import { randomUUID } from 'node:crypto';
import type { AccessTerms, EntryKind } from '../../../contracts/charge.ts';
import { retentionMs } from '../../../contracts/retention.ts';
import type { Head } from './heads.ts';
import {
  digestOf,
  isVerifiedAccess,
  type LedgerEntry,
  type LedgerPage,
  largestPage,
  type Memo,
  pageIdOf,
  pageVersion,
  sealedGrant,
} from './ledger-page.ts';
import {
  admit,
  checkMovement,
  countingOf,
  newWallet,
  type Refusal,
  type WalletState,
} from './wallet-rules.ts';

/** A request to write one entry into a wallet's ledger. The same `id` is written once. */
export interface Posting {
  walletId: string;
  id: string;
  kind: EntryKind;
  /** In cents. Negative if money leaves the wallet. */
  amount: number;
  memo?: Memo | undefined;
  /**
   * The access that a charge grants. `salt` is the salt of the stored grant, by default a random one. A process that has lost the
   * reply to its posting recognises its entry by the salt.
   */
  grant?: { terms: AccessTerms; lifetimeSeconds: number; salt?: string } | undefined;
  /** The trace context of the request, which is kept for the event. */
  traceparent?: string | undefined;
}

/** How long a grant is kept, in milliseconds. This is longer than codes and tokens are valid. */
export const grantRetentionMs = retentionMs.grant;

/** The next page of a wallet. Each posting is placed on the page, refused, or left for a later page. */
export interface Draft<P extends Posting> {
  page: LedgerPage;
  placed: { posting: P; entry: LedgerEntry }[];
  refused: { posting: P; refusal: Refusal }[];
  /** Postings for a later page, because their id is on this page already, or because this page is full. */
  later: P[];
}

/** Returns the terms of the grant of an entry that is written at `at`. */
export const termsAt = ({ terms, lifetimeSeconds }: NonNullable<Posting['grant']>, at: Date) => ({
  ...terms,
  expiresAt: new Date(at.getTime() + lifetimeSeconds * 1_000),
});

/** Makes the ledger entry of a posting. @param state the state of the wallet after the entry */
function entryOf(posting: Posting, state: WalletState, at: Date): LedgerEntry {
  const { id, kind, amount, memo, grant, traceparent } = posting;
  const entry: LedgerEntry = { id, kind, amount, balanceAfter: state.balance, at };
  if (countingOf(kind) !== 'note') entry.seq = state.seq;
  if (memo) entry.memo = memo;
  if (traceparent) entry.traceparent = traceparent;
  return grant ? { ...entry, ...sealedGrant(termsAt(grant, at), grant.salt) } : entry;
}

/** Returns the page after `head`, or page 0 if there is no head. */
function pageAfter(
  head: Head | undefined,
  walletId: string,
  content: Pick<LedgerPage, 'at' | 'entries' | 'state'>,
): LedgerPage {
  const n = head ? head.n + 1 : 0;
  const page = {
    _id: pageIdOf(walletId, n),
    walletId,
    n,
    version: pageVersion,
    attempt: randomUUID(),
    previous: head?.digest ?? '',
    ...content,
  };
  return { ...page, digest: digestOf(page) };
}

/** Returns page 0, which opens an empty wallet. */
export function openingPage(walletId: string, at: Date): LedgerPage {
  const entry = { id: 'opening', kind: 'opening' as const, amount: 0, balanceAfter: 0, at };
  return pageAfter(undefined, walletId, { at, entries: [entry], state: newWallet });
}

/** Returns a fence: a page with the number of `lost` and no postings. While it exists, the database refuses `lost`. */
export function fencePage(lost: LedgerPage, head: Head): LedgerPage {
  const { walletId, at } = lost;
  const id = `fence_${lost.attempt}`;
  const entry = { id, kind: 'fence' as const, amount: 0, balanceAfter: head.state.balance, at };
  return pageAfter(head, walletId, { at, entries: [entry], state: head.state });
}

/**
 * Makes the next page of a wallet from its postings, in their order.
 * @param now milliseconds since the epoch. The time of the page is never earlier than the time of the page before
 */
export function draftPage<P extends Posting>(head: Head, postings: readonly P[], now: number): Draft<P> {
  const time = Math.max(now, head.at.getTime());
  const at = new Date(time);
  const draft: Omit<Draft<P>, 'page'> = { placed: [], refused: [], later: [] };
  const ids = new Set<string>();
  let { state } = head;
  for (const posting of postings) {
    if (ids.has(posting.id) || ids.size === largestPage) {
      draft.later.push(posting);
      continue;
    }
    const movement = { ...posting, caps: posting.memo?.caps };
    const refusal = checkMovement(state, movement, time);
    if (refusal) {
      draft.refused.push({ posting, refusal });
      continue;
    }
    state = admit(state, movement, time);
    ids.add(posting.id);
    draft.placed.push({ posting, entry: entryOf(posting, state, at) });
  }
  // All postings are of one wallet. The caller does not use a page without entries.
  const { walletId = '' } = postings[0] ?? {};
  const page = pageAfter(head, walletId, { at, entries: draft.placed.map(({ entry }) => entry), state });
  // Only these entries have an event or an audit entry.
  if (page.entries.some((entry) => entry.memo?.audit || isVerifiedAccess(entry))) page.unpublished = true;
  if (page.entries.some(({ grant }) => grant)) page.purgeGrantsAt = new Date(time + grantRetentionMs);
  return { page, ...draft };
}
