import type { Outcome } from './clients.ts';
import { chargesOf, type Entry, type LedgerSnapshot, ledgerFaults, missingCents } from './ledger-snapshot.ts';

/** The result of one run with exchanges. Lost cents, double debits and orphans should be 0. */
export interface MoneyFindings {
  lostCents: number;
  /** The number of extra charges of a code, and of extra tokens of a charge. */
  doubleDebits: number;
  /** The number of tokens without a charge, and of charges without a token although all clients got an answer. */
  orphans: number;
  /** Other faults as text. */
  other: string[];
  /** The number of codes with a valid charge and a lost token. The response to the client's retry names that charge. */
  lostAnswers: number;
  /** The number of ledger entries without the opening entry. */
  entries: number;
  /** The number of tokens that reached clients. */
  answers: number;
}

/** The expected numbers of a run. If a run does not reach them, it has tested nothing. */
export interface Expected {
  /** The cents that operators have funded. */
  funded: number;
  /** The number of charges; undefined if the hour of the spend cap has changed. */
  charges: number | undefined;
  /** The number of entries of each kind that operators have caused. */
  manual: Record<string, number>;
  /** The least number of tokens. */
  answers: number;
}

const counted = <T>(items: readonly T[], is: (item: T) => boolean): number => items.filter(is).length;

/** Returns the id of the charge of a token, which is the `jti` of the token. */
export function accessIdOf(token: string): unknown {
  const payload = Buffer.from(token.split('.')[1] ?? '', 'base64url').toString();
  return (JSON.parse(payload) as { jti?: unknown }).jti;
}

/** Describes charges with a wrong number of events: one for a returning user, none for any other user. */
function eventFaults(snapshot: LedgerSnapshot): string[] {
  const { events } = snapshot;
  const due = chargesOf(snapshot).filter(({ grant }) => grant?.returning);
  const wrong = due.filter(({ grant }) => counted(events, (id) => id === grant?.sessionId) !== 1);
  return wrong.length === 0 && events.length === due.length
    ? []
    : [`${events.length} events for ${due.length} charges of returning users`];
}

type CodeResult = 'token' | 'lost answer' | 'refused' | 'double' | 'orphan';

/**
 * Checks the result of one code over all its clients. There are three correct cases: one client holds the token of the
 * only charge; one got no answer, and all retries are refused with that charge; or nothing was charged, and all are
 * refused with payment_required.
 */
function resultOfCode(outcomes: readonly Outcome[], charges: readonly Entry[]): CodeResult {
  const tokens = outcomes.flatMap(({ token }) => (token === undefined ? [] : [token]));
  const refusals = outcomes.flatMap(({ refusal }) => refusal ?? []);
  const [token] = tokens;
  const [charge] = charges;
  if (charges.length > 1 || tokens.length > 1) return 'double';
  if (token !== undefined) return accessIdOf(token) === charge?.id ? 'token' : 'orphan';
  if (charge) {
    const named = refusals.every(({ description }) => description.endsWith(`charge ${charge.id}`));
    return named && outcomes.some(({ unanswered }) => unanswered > 0) ? 'lost answer' : 'orphan';
  }
  const isLimited = refusals.length > 0 && refusals.every(({ status }) => status === 402 || status === 429);
  return isLimited ? 'refused' : 'orphan';
}

/** Describes wrong refusals. A charged code must be refused as used, even if the balance is low or a cap is reached. */
function refusalFaults(outcomes: readonly Outcome[], charged: ReadonlySet<string>): string[] {
  return outcomes.flatMap(({ code, refusal }) =>
    refusal && refusal.status !== 400 && charged.has(code.sessionId)
      ? [`a code that was charged is refused with ${refusal.status}`]
      : [],
  );
}

function amountFaults(snapshot: LedgerSnapshot, answers: number, expected: Expected): string[] {
  const { entries } = snapshot;
  const charges = chargesOf(snapshot).length;
  const kinds = Object.entries(expected.manual).map(([kind, due]) => ({
    kind,
    due,
    found: counted(entries, (entry) => entry.kind === kind),
  }));
  return [
    ...kinds.flatMap(({ kind, due, found }) =>
      found === due ? [] : [`${found} entries of kind ${kind} instead of ${due}`],
    ),
    ...(expected.charges === undefined || expected.charges === charges
      ? []
      : [`${charges} charges instead of ${expected.charges}`]),
    ...(answers >= expected.answers ? [] : [`only ${answers} tokens, at least ${expected.answers} are due`]),
  ];
}

/** Checks a run by the clients' answers and the database. */
export function checkMoney(
  snapshot: LedgerSnapshot,
  outcomes: readonly Outcome[],
  expected: Expected,
): MoneyFindings {
  const charges = chargesOf(snapshot);
  const codes = new Map<string, Outcome[]>();
  for (const outcome of outcomes) {
    const { sessionId } = outcome.code;
    codes.set(sessionId, [...(codes.get(sessionId) ?? []), outcome]);
  }
  const codeResults = [...codes].map(([sessionId, own]) =>
    resultOfCode(
      own,
      charges.filter(({ grant }) => grant?.sessionId === sessionId),
    ),
  );
  const count = (codeResult: CodeResult) => counted(codeResults, (each) => each === codeResult);
  const answers = counted(outcomes, ({ token }) => token !== undefined);
  const unknown = counted(charges, ({ grant }) => !codes.has(grant?.sessionId ?? ''));
  return {
    lostCents: missingCents(snapshot, expected.funded),
    doubleDebits: count('double'),
    orphans: count('orphan') + unknown,
    other: [
      ...ledgerFaults(snapshot),
      ...eventFaults(snapshot),
      ...amountFaults(snapshot, answers, expected),
      ...refusalFaults(outcomes, new Set(charges.map(({ grant }) => grant?.sessionId ?? ''))),
      ...outcomes.flatMap(({ faults }) => faults),
    ],
    lostAnswers: count('lost answer'),
    entries: snapshot.entries.length - 1,
    answers,
  };
}
