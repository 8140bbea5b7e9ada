import type { MongoClient, TopologyDescription } from 'mongodb';

/** Why the database cannot be used, and when this process noticed. */
export interface DatabaseFault {
  reason: string;
  since: Date;
}

/** Returns the known fault without a request to the database; undefined if there is none. */
export type ReadDatabaseFault = () => DatabaseFault | undefined;

function unavailableReason({ servers }: TopologyDescription): string | undefined {
  const all = [...servers.values()];
  if (all.some(({ isWritable }) => isWritable)) return undefined;
  const errors = all.flatMap(({ address, error }) => (error ? [`${address}: ${error.message}`] : []));
  return errors.join('; ') || 'no member is primary';
}

/**
 * Watches the client's heartbeats, which each server gets every 2 s. A server that refuses connections is noticed at
 * once, and one that does not respond after 4 s at most.
 * @param now milliseconds since the epoch
 */
export function watchAvailability(client: MongoClient, now: () => number): ReadDatabaseFault {
  let fault: DatabaseFault | undefined;
  client.on('topologyDescriptionChanged', ({ newDescription }) => {
    const reason = unavailableReason(newDescription);
    fault = reason === undefined ? undefined : { reason, since: fault?.since ?? new Date(now()) };
  });
  return () => fault;
}
