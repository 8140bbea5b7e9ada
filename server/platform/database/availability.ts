import type { MongoClient, TopologyDescription } from 'mongodb';

/** Why the database cannot be used, and since when this process knows. */
export interface DatabaseFault {
  reason: string;
  since: Date;
}

/** What is known without asking the database: undefined where nothing is wrong. */
export type ReadDatabaseFault = () => DatabaseFault | undefined;

function reasonAgainst({ servers }: TopologyDescription): string | undefined {
  const all = [...servers.values()];
  if (all.some(({ isWritable }) => isWritable)) return undefined;
  const errors = all.flatMap(({ address, error }) => (error ? [`${address}: ${error.message}`] : []));
  return errors.join('; ') || 'no member is primary';
}

/**
 * Watches the connections of a client, which ask each server every 2 s how it is. A server that refuses connections is noticed
 * at once, one that does not answer within 4 s.
 * @param now milliseconds since the epoch
 */
export function watchAvailability(client: MongoClient, now: () => number): ReadDatabaseFault {
  let fault: DatabaseFault | undefined;
  client.on('topologyDescriptionChanged', ({ newDescription }) => {
    const reason = reasonAgainst(newDescription);
    fault = reason === undefined ? undefined : { reason, since: fault?.since ?? new Date(now()) };
  });
  return () => fault;
}
