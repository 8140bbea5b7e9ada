import { type SignedStatement, type StatementView, statementType } from '../../contracts/admin/wallets.ts';
import type { Clock } from '../platform/clock.ts';
import { createSigner } from '../platform/keys/jws.ts';
import type { Keyring } from '../platform/keys/keyring.ts';
import type { Statement } from './statement.ts';

/** Signs a whole statement. Returns a compact JWS that partners verify with the published keys. */
export type SignStatement = (
  statement: StatementView,
  lastPage: Statement['lastPage'],
  period: Period,
) => string;

/** The period that was asked for, as RFC 3339 in UTC, and the zone whose days it counts. */
interface Period {
  from?: string | undefined;
  to?: string | undefined;
  timezone: string;
}

interface Settings {
  keyring: Pick<Keyring, 'signing'>;
  /** The base URL, under which the keys are published. */
  issuer: string;
  clock: Pick<Clock, 'now'>;
}

/** Makes the function that signs statements with the service's current signing key. */
export function createStatementSigner({ keyring, issuer, clock }: Settings): SignStatement {
  const sign = createSigner(keyring, statementType);
  return (statement, { n, digest }, { from, to, timezone }) => {
    const { more: _more, entries, ...whole } = statement;
    // The clients, sessions and enrollments of charges are erased after a time, but a signed statement must stay the same.
    const payload: SignedStatement = {
      iss: issuer,
      iat: Math.floor(clock.now() / 1000),
      from: from ?? null,
      to: to ?? null,
      timezone,
      ...whole,
      entries: entries.map(
        ({ clientId: _client, sessionId: _session, enrollmentId: _enrollment, ...entry }) => entry,
      ),
      ledger: { page: n, digest },
    };
    return sign(payload);
  };
}
