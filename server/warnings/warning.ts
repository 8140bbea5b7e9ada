import type { WarningKind } from '../../contracts/admin/warnings.ts';
import type { Mode } from '../../contracts/identifiers.ts';

/** Something that is so now, and that a partner should know. */
export interface Condition {
  kind: WarningKind;
  partnerId: string;
  mode: Mode;
  /** The API key, client, integration, or the mode of the wallet. */
  about: string;
  /** For the partner's developers. */
  text: string;
  /** Milliseconds for which it has to hold before it is a warning. */
  afterMs: number;
}

/** A warning of one thing. The next one of the same thing takes its place. */
export interface Warning extends Omit<Condition, 'afterMs'> {
  /** Kind, partner and thing: two processes cannot raise it twice. */
  _id: string;
  /** Since when it has been so without a break. */
  since: Date;
  lastSeenAt: Date;
  /** Until it is over. */
  open?: true;
  raisedAt?: Date;
  overAt?: Date;
  /** The state that has still to be sent. */
  untold?: 'raised' | 'over';
  /** Hashes of the addresses that have got an e-mail about this state. */
  mailed: string[];
  revision: number;
  /** When it is deleted, once it is over. */
  purgeAt?: Date;
}

const hour = 3_600_000;
/** How long a thing must be well before its warning is over: one that comes and goes is one warning. */
export const quietMs: Readonly<Record<WarningKind, number>> = {
  low_balance: hour,
  endpoint_failing: hour / 4,
  secret_expiring: 0,
  cap_reached: hour,
};
/** Milliseconds for which a warning is kept once it is over. */
export const warningRetentionMs = 30 * 24 * hour;

export const warningIdOf = ({ kind, partnerId, mode, about }: Omit<Condition, 'afterMs' | 'text'>): string =>
  [kind, partnerId, mode, about].join('|');

/** A thing that was well, and is not any more. */
function begun({ afterMs, ...condition }: Condition, now: Date, revision: number): Warning {
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

/** A thing that is still not well. */
function seenAgain(warning: Warning, { afterMs, text }: Condition, now: Date): Warning {
  const seen = { ...warning, text, lastSeenAt: now, revision: warning.revision + 1 };
  if (seen.raisedAt || now.getTime() - seen.since.getTime() < afterMs) return seen;
  return { ...seen, raisedAt: now, untold: 'raised' };
}

/** A thing that is well now. */
function unseen(warning: Warning, now: Date): Warning | 'unchanged' | 'gone' {
  if (!warning.raisedAt) return 'gone';
  if (warning.overAt || now.getTime() - warning.lastSeenAt.getTime() < quietMs[warning.kind])
    return 'unchanged';
  const { untold: before, open: _open, ...rest } = warning;
  // One that was never sent needs no word that it is over.
  const untold = before === 'raised' ? {} : { untold: 'over' as const };
  const purgeAt = new Date(now.getTime() + warningRetentionMs);
  return { ...rest, ...untold, overAt: now, purgeAt, mailed: [], revision: warning.revision + 1 };
}

/**
 * What becomes of a warning.
 * @param known the warning so far
 * @param condition undefined where the thing is well
 */
export function nextWarning(
  known: Warning | undefined,
  condition: Condition | undefined,
  now: Date,
): Warning | 'unchanged' | 'gone' {
  if (!condition) return known ? unseen(known, now) : 'unchanged';
  if (!known) return begun(condition, now, 1);
  if (!known.overAt) return seenAgain(known, condition, now);
  // The notice that it was over has to be sent first.
  return known.untold ? 'unchanged' : begun(condition, now, known.revision + 1);
}
