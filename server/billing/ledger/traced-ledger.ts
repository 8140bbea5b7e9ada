import type { Tracing } from '../../platform/telemetry/tracing.ts';
import type { BillingStores } from '../store.ts';
import type { LedgerStore } from './ledger-store.ts';

/**
 * Adds a span to each insert of ledger pages. One insert writes the entries of several requests, because a group commit collects
 * them. The span is a child of the first request's span, and is linked to the others.
 */
function tracedLedger(ledger: LedgerStore, tracing: Tracing): LedgerStore {
  return {
    ...ledger,
    insert: (pages) =>
      tracing.span(
        {
          name: 'ledger page insert',
          causes: pages.flatMap(({ entries }) => entries.map(({ traceparent }) => traceparent)),
          attributes: {
            'svc.pages': pages.length,
            'svc.entries': pages.reduce((sum, { entries }) => sum + entries.length, 0),
          },
        },
        () => ledger.insert(pages),
      ),
  };
}

/** Returns the stores of billing, with spans if tracing is on. */
export const tracedStores = (stores: BillingStores, tracing: Tracing | undefined): BillingStores =>
  tracing ? { ...stores, ledger: tracedLedger(stores.ledger, tracing) } : stores;
