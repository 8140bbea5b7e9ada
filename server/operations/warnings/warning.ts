import type { WarningKind } from '../../../contracts/admin/warnings.ts';
import type { Mode } from '../../../contracts/identifiers.ts';
import { retentionMs } from '../../../contracts/retention.ts';

/** A problem that exists now and that a partner should know of. */
export interface Condition {
  kind: WarningKind;
  partnerId: string;
  mode: Mode;
  /** The subject: the id of an API key, client or integration, or the mode of the wallet. */
  about: string;
  /** The text for the partner's developers. */
  text: string;
  /** How long the problem must last before the warning is raised, in milliseconds. */
  afterMs: number;
}

/** A warning about one problem. A later warning about the same problem replaces it. */
export interface Warning extends Omit<Condition, 'afterMs'> {
  /** Made of kind, partner, mode and subject, so that two processes cannot raise the warning twice. */
  _id: string;
  /** When the problem began. */
  since: Date;
  lastSeenAt: Date;
  /** Set until the warning is over. */
  open?: true;
  raisedAt?: Date;
  overAt?: Date;
  /** The state that is still to be sent to the partner. */
  untold?: 'raised' | 'over';
  /** Hashes of the addresses that have received an e-mail about this state. The addresses are personal data. */
  mailed: string[];
  revision: number;
  /** When the warning is deleted. Set once it is over. */
  purgeAt?: Date;
}

/** A warning whose state is still to be sent. */
export type UnsentWarning = Warning & Required<Pick<Warning, 'untold'>>;

const hour = 3_600_000;
/** How long a problem must be gone before its warning is over, in milliseconds. If it returns earlier, the warning continues. */
export const quietMs: Readonly<Record<WarningKind, number>> = {
  low_balance: hour,
  endpoint_failing: hour / 4,
  secret_expiring: 0,
  cap_reached: hour,
};
/** How long a new warning waits for the e-mails that the earlier one is over, in milliseconds. */
const longestWaitMs = 2 * hour;
/** How long a warning is kept after it is over, in milliseconds. */
export const warningRetentionMs = retentionMs.warning;

export const warningIdOf = ({ kind, partnerId, mode, about }: Omit<Condition, 'afterMs' | 'text'>): string =>
  [kind, partnerId, mode, about].join('|');

/** Returns the warning about a problem that has just begun. */
function beginWarning({ afterMs, ...condition }: Condition, now: Date, revision: number): Warning {
  const isDue = afterMs <= 0;
  return {
    _id: warningIdOf(condition),
    ...condition,
    since: now,
    lastSeenAt: now,
    open: true,
    ...(isDue ? { raisedAt: now, untold: 'raised' as const } : {}),
    mailed: [],
    revision,
  };
}

/** Returns the warning after its problem was seen again. */
function afterSeen(warning: Warning, { afterMs, text }: Condition, now: Date): Warning {
  const seen = { ...warning, text, lastSeenAt: now, revision: warning.revision + 1 };
  const lastedMs = now.getTime() - warning.since.getTime();
  if (warning.raisedAt || lastedMs < afterMs) return seen;
  return { ...seen, raisedAt: now, untold: 'raised' };
}

/** Returns the warning after its problem was not seen. */
function afterUnseen(warning: Warning, now: Date): Warning | 'unchanged' | 'gone' {
  // The problem ended before it had lasted long enough for a warning.
  if (!warning.raisedAt) return 'gone';
  const isOver = warning.overAt !== undefined;
  const unseenMs = now.getTime() - warning.lastSeenAt.getTime();
  if (isOver || unseenMs < quietMs[warning.kind]) return 'unchanged';
  const { open: _open, ...rest } = warning;
  const purgeAt = new Date(now.getTime() + warningRetentionMs);
  // All recipients are told of the end. Of the beginning, a failed e-mail may have told only some of them, and notices the keys.
  return { ...rest, overAt: now, purgeAt, untold: 'over', mailed: [], revision: warning.revision + 1 };
}

/**
 * Returns the next state of a warning, or that it is unchanged or to be removed (`gone`).
 * @param stored the warning so far; undefined if there is none
 * @param condition the problem; undefined if it does not exist now
 */
export function nextWarning(
  stored: Warning | undefined,
  condition: Condition | undefined,
  now: Date,
): Warning | 'unchanged' | 'gone' {
  if (!condition) return stored ? afterUnseen(stored, now) : 'unchanged';
  if (!stored) return beginWarning(condition, now, 1);
  if (!stored.overAt) return afterSeen(stored, condition, now);
  // A new warning replaces the earlier one, so it waits until all were told that the earlier one is over. It does not wait for
  // an address that fails for longer.
  const mayWait = now.getTime() - stored.overAt.getTime() < longestWaitMs;
  return stored.untold && mayWait ? 'unchanged' : beginWarning(condition, now, stored.revision + 1);
}
