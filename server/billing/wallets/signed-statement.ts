import {
  type SignedStatement,
  statementType,
  type WalletReference,
} from '../../../contracts/admin/wallets.ts';
import { ApiError } from '../../platform/errors.ts';
import { createLongSigner } from '../../platform/keys/jws.ts';
import { walletIdOf } from '../ledger/ledger-page.ts';
import type { WalletsContext } from './context.ts';
import type { Statement } from './statement.ts';
import { viewEntry } from './views.ts';

/** The most entries of a signed statement. A statement with so many entries has about 4 MB. */
const mostSignedEntries = 10_000;

/** The period that was asked for, as RFC 3339 in UTC, and the zone whose days it counts. */
interface Period {
  from?: string | undefined;
  to?: string | undefined;
  timezone: string;
}

function requireFewEntries({ entries, untilSeq }: Statement): void {
  const [first] = entries;
  if (first?.seq === undefined || untilSeq - first.seq < mostSignedEntries) return;
  throw new ApiError('bad_input', {
    description: `A signed statement has at most ${mostSignedEntries} entries; choose a shorter period`,
  });
}

/**
 * Shows entries without their clients, sessions and enrollments. These are erased after a time, but a signed statement must stay
 * the same.
 */
const entriesJson = (walletId: string, { entries }: Statement): string =>
  entries.map((entry) => JSON.stringify(viewEntry({ ...entry, walletId }))).join();

/** Makes the function that signs statements with the service's current signing key. */
export function createStatementSigner({ keyring, baseUrl: issuer, clock, stores }: WalletsContext) {
  const { turn } = stores.ledger;
  const beginJws = createLongSigner(keyring, statementType);
  /**
   * Signs a whole statement, which is given in parts.
   * @returns a compact JWS that partners verify with the published keys, and the pages of the ledger that it covers
   * @throws ApiError `bad_input` if it has too many entries
   */
  return async ({ partnerId, mode }: WalletReference, parts: AsyncIterable<Statement>, period: Period) => {
    const { from = null, to = null, timezone } = period;
    const walletId = walletIdOf(partnerId, mode);
    const jws = beginJws();
    let firstPage = 0;
    let last: Statement | undefined;
    for await (const part of parts) {
      if (last) jws.add(',');
      else {
        requireFewEntries(part);
        const { opening, untilSeq } = part;
        ({ firstPage } = part);
        const first: Omit<SignedStatement, 'entries' | 'closing' | 'ledger'> = {
          iss: issuer,
          iat: Math.floor(clock.now() / 1000),
          ...{ from, to, timezone, partnerId, mode, currency: 'USD', opening, untilSeq },
        };
        jws.add(`${JSON.stringify(first).slice(0, -1)},"entries":[`);
      }
      jws.add(entriesJson(walletId, part));
      last = part;
    }
    const { closing = 0, lastPage = { n: 0, digest: '' } } = last ?? {};
    const rest: Pick<SignedStatement, 'closing' | 'ledger'> = {
      closing,
      ledger: { page: lastPage.n, digest: lastPage.digest },
    };
    jws.add(`],${JSON.stringify(rest).slice(1)}`);
    await turn();
    const text = jws.end();
    await turn();
    return { jws: text, firstPage, lastPage };
  };
}
