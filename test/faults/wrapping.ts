import { subscribe } from 'node:diagnostics_channel';
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { WalletBatch } from '../../server/billing/wallet-pipeline.ts';
import type { createStores } from '../../server/services.ts';
import type { Parts } from '../../server/webhooks/webhooks.ts';
import type { Fault, Step } from './fault.ts';

type Stores = ReturnType<typeof createStores>;
type At = Fault['at'];

/** `call` with a point before and one after it, for the calls that `is` this step. */
function around<Args extends unknown[], Result>(
  at: At,
  step: Step,
  { call, is = () => true }: { call: (...args: Args) => Promise<Result>; is?: (...args: Args) => boolean },
): (...args: Args) => Promise<Result> {
  return async (...args) => {
    if (!is(...args)) return call(...args);
    await at(`${step}:before`);
    const result = await call(...args);
    await at(`${step}:after`);
    return result;
  };
}

const postings = (batches: readonly WalletBatch[]) => batches.flatMap((batch) => batch.postings);

/** The stores of billing with a point around every step of an exchange, its settlement and its reversal. */
export function wrapBilling({ wallets, accesses, ledger }: Stores['billing'], at: At): Stores['billing'] {
  const released = around(at, 'release', {
    call: wallets.apply,
    is: (batches) => batches.some(({ settled }) => settled.length > 0),
  });
  const charged = around(at, 'charge', {
    call: released,
    is: (batches) => postings(batches).some(({ kind }) => kind === 'token'),
  });
  const apply = around(at, 'reversal', {
    call: charged,
    is: (batches) => postings(batches).some(({ kind }) => kind === 'reversal'),
  });
  const committed = around(at, 'commit', { call: accesses.insert, is: ({ state }) => state === 'live' });
  const insert = around(at, 'tombstone', { call: committed, is: ({ state }) => state === 'void' });
  const appended = around(at, 'ledger', {
    call: ledger.append,
    is: (entries) => entries.some(({ kind }) => kind === 'token'),
  });
  const append = around(at, 'reversal-row', {
    call: appended,
    is: (entries) => entries.some(({ kind }) => kind === 'reversal'),
  });
  return {
    wallets: { ...wallets, apply },
    accesses: { ...accesses, insert },
    ledger: { ...ledger, append },
  };
}

/** The parts of webhooks with a point around every step from the event to the attempt's record. */
export function wrapWebhooks({ events, deliveries, post }: Parts, at: At): Parts {
  const some = (documents: readonly unknown[]) => documents.length > 0;
  return {
    events: { ...events, insert: around(at, 'event', { call: events.insert, is: some }) },
    deliveries: {
      ...deliveries,
      insert: around(at, 'delivery', { call: deliveries.insert, is: some }),
      lease: around(at, 'lease', { call: deliveries.lease }),
      record: around(at, 'record', { call: deliveries.record }),
    },
    post: around(at, 'post', { call: post }),
  };
}

/** A point before and after a token is sent, where Node itself tells of it. */
export function watchAnswers(at: At): void {
  subscribe('http.server.request.start', (message) => {
    const { request, response } = message as { request: IncomingMessage; response: ServerResponse };
    if (request.url !== '/api/oauth/token') return;
    const end = response.end.bind(response) as (...args: unknown[]) => ServerResponse;
    const send = async (args: unknown[]): Promise<void> => {
      if (response.statusCode === 200) await at('answer:before');
      end(...args);
      if (response.statusCode === 200) await at('answer:after');
    };
    response.end = ((...args: unknown[]) => {
      void send(args);
      return response;
    }) as typeof response.end;
  });
}
