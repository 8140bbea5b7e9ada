import { createHash } from 'node:crypto';
import type { AcknowledgedFinding, LedgerFinding } from '../../../../contracts/admin/wallets.ts';
import { decimal } from '../../../../contracts/amounts.ts';
import { EntryKind } from '../../../../contracts/charge.ts';
import {
  digestOf,
  grantSealOf,
  type LedgerEntry,
  type LedgerPage,
  largestPage,
  pageIdOf,
  pageVersion,
  refundIdOf,
  walletIdOf,
} from '../../ledger/ledger-page.ts';
import {
  admit,
  checkMovement,
  countingOf,
  isBillable,
  newWallet,
  type WalletState,
} from '../../ledger/wallet-rules.ts';

export type MissingGrant = LedgerFinding & { entry: string };

/** Names a finding. @param content the digest of the page as it is, so that another change of the page is a new finding */
export function findingOf(walletId: string, fault: Omit<LedgerFinding, 'id'>, content = ''): LedgerFinding {
  const { page, entry, problem } = fault;
  const digest = createHash('sha256').update(JSON.stringify([walletId, page, entry, problem, content]));
  return { id: `fnd_${digest.digest('base64url').slice(0, 22)}`, ...fault };
}

/** Divides findings into those that an adjustment names, and the others. @param adjustments the adjustments by the findings that they name */
export function divideFindings(
  findings: readonly LedgerFinding[],
  adjustments: ReadonlyMap<string, string>,
): { open: LedgerFinding[]; acknowledged: AcknowledgedFinding[] } {
  const acknowledged = findings.flatMap((finding) => {
    const acknowledgedBy = adjustments.get(finding.id);
    return acknowledgedBy === undefined ? [] : [{ ...finding, acknowledgedBy }];
  });
  return { open: findings.filter(({ id }) => !adjustments.has(id)), acknowledged };
}

/** The last page that was checked. */
export type Checked = Pick<LedgerPage, 'n' | 'digest' | 'at' | 'state'>;

const kinds: ReadonlySet<string> = new Set(EntryKind.options);

function hasRightSign({ kind, amount }: LedgerEntry): boolean {
  switch (countingOf(kind)) {
    case 'charge':
      return amount <= 0;
    case 'note':
      return amount === 0;
    case 'money':
      return kind === 'adjustment' || amount >= 0;
  }
}

/** Returns the faults of an entry's seal. Only its presence is checked, because the digest of the page covers its value. */
function sealFaults({ kind, grant, grantSeal }: LedgerEntry): string[] {
  if (!isBillable(kind)) return grant || grantSeal ? [`a ${kind} grants an access`] : [];
  return grantSeal ? [] : ['a charge without the seal of its grant'];
}

/** Returns the faults of an entry's grant. A missing grant is no fault here, nor a missing seal: they are reported elsewhere. */
function grantFaults({ kind, grant, grantSeal }: LedgerEntry, walletId: string): string[] {
  if (!isBillable(kind) || !grantSeal || !grant) return [];
  return [
    ...(grantSealOf(grant) === grantSeal ? [] : ['the grant does not match its seal']),
    ...(walletIdOf(grant.partnerId, grant.mode) === walletId ? [] : ['the grant belongs to another wallet']),
  ];
}

const windowText = ({ start, used }: WalletState['minute']) => `${used} from ${start.toISOString()}`;

/** Returns the differences between the stored state of a page and the state that follows from the entries. */
function stateFaults(stored: WalletState, computed: WalletState): string[] {
  const faults: string[] = [];
  if (stored.balance !== computed.balance)
    faults.push(
      `the page ends with a balance of ${decimal(stored.balance)}, its entries with ${decimal(computed.balance)}`,
    );
  if (stored.seq !== computed.seq)
    faults.push(`the page ends with seq ${stored.seq}, its entries with ${computed.seq}`);
  for (const bucket of ['minute', 'hour'] as const) {
    const [storedWindow, computedWindow] = [windowText(stored[bucket]), windowText(computed[bucket])];
    if (storedWindow !== computedWindow)
      faults.push(`the ${bucket} window has ${storedWindow}, its entries ${computedWindow}`);
  }
  const { perMinute, perHour } = stored.caps;
  if (perMinute !== computed.caps.perMinute || perHour !== computed.caps.perHour)
    faults.push('the spend caps are not those that its entries set');
  return faults;
}

/**
 * Checks the pages of one wallet in order, from page 0 or from the page after `start`. The caller adds one page at a time.
 * A page that was written before `publishedBefore` must be published.
 */
export function createLedgerChecks(
  walletId: string,
  { start, publishedBefore }: { start?: Checked | undefined; publishedBefore: Date },
) {
  const findings: LedgerFinding[] = [];
  /** Charges whose grant is missing although its retention has not ended. An erasure may have removed it. */
  const missingGrants: MissingGrant[] = [];
  const ids = new Set<string>();
  /** The adjustments that settle findings, by the ids of the findings. */
  const acknowledgements = new Map<string, string>();
  const chargeAmounts = new Map<string, number>();
  let last: Checked | undefined = start;
  let entries = 0;

  function find(page: LedgerPage, fault: Omit<LedgerFinding, 'id' | 'page'>): void {
    findings.push(findingOf(walletId, { page: page.n, ...fault }, digestOf(page)));
  }

  /** Returns the faults of a refund, compared with the charge that it names. */
  function refundFaults({ id, amount, memo }: LedgerEntry): string[] {
    const chargeId = memo?.of ?? '';
    const charged = chargeAmounts.get(chargeId);
    // If the check began at a checkpoint, the charge may be on an earlier page.
    if (charged === undefined)
      return start ? [] : [`a refund of ${chargeId || 'nothing'}, which is no charge before it`];
    return [
      ...(id === refundIdOf(chargeId) ? [] : [`a refund of ${chargeId} under another id`]),
      ...(charged + amount === 0
        ? []
        : [`a refund of ${decimal(amount)} for a charge of ${decimal(-charged)}`]),
    ];
  }

  function entryFaults(
    entry: LedgerEntry,
    page: LedgerPage,
    before: WalletState,
    after: WalletState,
  ): string[] {
    const faults = sealFaults(entry);
    if (!hasRightSign(entry)) faults.push(`a ${entry.kind} of ${decimal(entry.amount)} has the wrong sign`);
    if (![entry.amount, entry.balanceAfter].every(Number.isSafeInteger))
      faults.push('an amount is not a whole number of cents');
    if (ids.has(entry.id)) faults.push('its id stands twice');
    if (entry.at.getTime() !== page.at.getTime()) faults.push('its time is not that of its page');
    const refusal = checkMovement(before, { ...entry, caps: entry.memo?.caps }, page.at.getTime());
    if (refusal) {
      faults.push(
        refusal.outcome === 'capped'
          ? `it exceeds the spend cap of the ${refusal.bucket}`
          : 'the balance falls below zero',
      );
    }
    if (entry.balanceAfter !== after.balance)
      faults.push(`the balance is ${decimal(entry.balanceAfter)}, but follows as ${decimal(after.balance)}`);
    // An entry that moves no money is not part of the statement.
    const expectedSeq = countingOf(entry.kind) === 'note' ? undefined : after.seq;
    if (entry.seq !== expectedSeq)
      faults.push(`its seq is ${entry.seq ?? 'absent'}, but follows as ${expectedSeq ?? 'absent'}`);
    return entry.kind === 'refund' ? [...faults, ...refundFaults(entry)] : faults;
  }

  /** Checks an entry of a page. @returns the state of the wallet after it */
  function checkEntry(entry: LedgerEntry, page: LedgerPage, before: WalletState): WalletState {
    const location = { page: page.n, entry: entry.id, ...(entry.seq !== undefined && { seq: entry.seq }) };
    if (!kinds.has(entry.kind)) {
      find(page, { ...location, problem: `no entry is of kind ${entry.kind}` });
      return before;
    }
    const after = admit(before, { ...entry, caps: entry.memo?.caps }, page.at.getTime());
    for (const problem of entryFaults(entry, page, before, after)) find(page, { ...location, problem });
    for (const problem of grantFaults(entry, walletId))
      find(page, { ...location, problem, mend: 'endAccess' });
    if (entry.kind === 'adjustment')
      for (const id of entry.memo?.acknowledges ?? []) acknowledgements.set(id, entry.id);
    if (isBillable(entry.kind)) {
      chargeAmounts.set(entry.id, entry.amount);
      // Once the retention of the page's grants has ended, it has neither grants nor `purgeGrantsAt`.
      if (page.purgeGrantsAt !== undefined && !entry.grant)
        missingGrants.push({
          ...findingOf(walletId, {
            ...location,
            problem: 'the grant of a charge is missing',
            mend: 'endAccess',
          }),
          entry: entry.id,
        });
    }
    ids.add(entry.id);
    entries += 1;
    return after;
  }

  function pageFaults(page: LedgerPage): string[] {
    const expected = last ? last.n + 1 : 0;
    const faults: string[] = [];
    if (page.n !== expected)
      faults.push(page.n > expected ? `page ${expected} is missing` : 'a page repeats its number');
    if (page._id !== pageIdOf(walletId, page.n) || page.walletId !== walletId)
      faults.push('its id is not that of its wallet and number');
    if (page.version > pageVersion) faults.push(`a newer build has written it: version ${page.version}`);
    if (page.digest !== digestOf(page)) faults.push('its content does not match its digest');
    if (page.previous !== (last?.digest ?? '')) faults.push('it does not continue the page before');
    if (last && page.at < last.at) faults.push('its time is before that of the page before');
    if (page.entries.length === 0 || page.entries.length > largestPage)
      faults.push(`it has ${page.entries.length} entries`);
    if (page.n === 0 && page.entries[0]?.kind !== 'opening')
      faults.push('the ledger does not begin with its opening');
    return faults;
  }

  return {
    findings,
    missingGrants,
    acknowledgements,

    /** Checks the next page, and adds its faults to `findings`. */
    add(page: LedgerPage): void {
      for (const problem of pageFaults(page)) find(page, { problem });
      if (page.unpublished && page.at < publishedBefore) {
        const problem = 'its events were not published: is a sweeper running?';
        find(page, { problem, mend: 'publish' });
      }
      let computed: WalletState = last?.state ?? newWallet;
      for (const entry of page.entries) computed = checkEntry(entry, page, computed);
      for (const problem of stateFaults(page.state, computed)) find(page, { problem });
      last = page;
    },

    /** Returns the last page and the number of checked entries. */
    result: () => ({ last, entries }),
  };
}
