import type { AccessDocument, Books } from './books.ts';
import { isCharge, ledgerFaults, missingCents, total } from './books.ts';
import type { Outcome } from './buyers.ts';

/** What a run of money came to. All but `lostAnswers` should be nothing. */
export interface MoneyFindings {
  lostCents: number;
  doubleDebits: number;
  orphanTokens: number;
  /** Anything else, in words. */
  other: string[];
  /** Codes whose token was bought and never arrived: their client was told the charge (decisions.md). */
  lostAnswers: number;
}

const counted = <T>(items: readonly T[], is: (item: T) => boolean): number => items.filter(is).length;

/** Charges beyond the one that an access or a tombstone must have, and accesses beyond the one of a code. */
function doubleDebits({ entries, accesses, open }: Books): number {
  const reversed = new Set(entries.filter(({ kind }) => kind === 'reversal').map(({ _id }) => _id));
  const charges = new Set(entries.filter(isCharge).map(({ _id }) => _id));
  const standing = [...charges].filter((id) => !reversed.has(`rev_${id}`));
  const live = accesses.filter(({ state }) => state === 'live');
  const bought = new Set(live.map(({ _id }) => _id));
  const codes = new Set(live.map(({ sessionId }) => sessionId));
  const again = counted(open, ({ id }) => charges.has(id));
  return again + counted(standing, (id) => !bought.has(id)) + (live.length - codes.size);
}

/** Cents of charges that were given back although they bought something. */
function givenAway({ entries, accesses }: Books): number {
  const live = new Set(accesses.filter(({ state }) => state === 'live').map(({ _id }) => `rev_${_id}`));
  return total(entries.filter(({ _id }) => live.has(_id)));
}

/** Every access has one charge that is not reversed; every tombstone one that is. */
function pairingFaults({ entries, accesses }: Books): string[] {
  const count = (id: string) => counted(entries, ({ _id }) => _id === id);
  return accesses.flatMap(({ _id, state }) => {
    const [charges, reversals] = [count(_id), count(`rev_${_id}`)];
    const right = charges === 1 && reversals === (state === 'live' ? 0 : 1);
    return right ? [] : [`${state} access ${_id} has ${charges} charges and ${reversals} reversals`];
  });
}

/** A returning user's access is told of once, any other never. */
function eventFaults({ accesses, told }: Books): string[] {
  const due = accesses.filter(({ state, returning }) => state === 'live' && returning);
  const missing = due.filter(({ sessionId }) => counted(told, (id) => id === sessionId) !== 1);
  return missing.length === 0 && told.length === due.length
    ? []
    : [`${told.length} events for ${due.length} accesses of returning users`];
}

/** The access that a token stands for: its `jti`. */
export function accessIdOf(token: string): unknown {
  const payload = Buffer.from(token.split('.')[1] ?? '', 'base64url').toString();
  return (JSON.parse(payload) as { jti?: unknown }).jti;
}

type Fate = 'token' | 'lost answer' | 'orphan';

/**
 * What became of one code, over all its clients. In order: exactly one of them holds the token of the one access; or
 * one was not answered, and the refusal that it got on asking again names the charge of that access.
 */
function fateOf(outcomes: readonly Outcome[], live: readonly AccessDocument[]): Fate {
  const tokens = outcomes.flatMap(({ token }) => (token === undefined ? [] : [token]));
  const [access, ...others] = live;
  if (!access || others.length > 0 || tokens.length > 1) return 'orphan';
  const [token] = tokens;
  if (token !== undefined) return accessIdOf(token) === access._id ? 'token' : 'orphan';
  const told = outcomes.every(({ refusal }) => refusal?.endsWith(`charge ${access._id}`));
  return told && outcomes.some(({ unanswered }) => unanswered > 0) ? 'lost answer' : 'orphan';
}

/** Judges a run by what its clients hold and what the database says. @param funded cents */
export function judgeMoney(books: Books, outcomes: readonly Outcome[], funded: number): MoneyFindings {
  const codes = new Map<string, Outcome[]>();
  for (const outcome of outcomes) {
    const { sessionId } = outcome.code;
    codes.set(sessionId, [...(codes.get(sessionId) ?? []), outcome]);
  }
  const fates = [...codes].map(([sessionId, its]) =>
    fateOf(
      its,
      books.accesses.filter((access) => access.state === 'live' && access.sessionId === sessionId),
    ),
  );
  return {
    lostCents: missingCents(books, funded) + givenAway(books),
    doubleDebits: doubleDebits(books),
    orphanTokens: counted(fates, (fate) => fate === 'orphan'),
    other: [
      ...ledgerFaults(books),
      ...pairingFaults(books),
      ...eventFaults(books),
      ...outcomes.flatMap(({ faults }) => faults),
    ],
    lostAnswers: counted(fates, (fate) => fate === 'lost answer'),
  };
}
