import type { FlowRow } from './flows/rows.ts';
import type { Measurement } from './measure.ts';
import type { Row } from './rounds.ts';
import { names } from './subject-names.ts';
import type { WebhookFigures } from './webhooks/rows.ts';

/** Microseconds of processor time of server and database, ours beside that of oidc-provider on MongoDB. */
export interface Share {
  title: string;
  ours: number;
  peer: number;
}

const cost = ({ serverCpu, databaseCpu }: Pick<Measurement, 'serverCpu' | 'databaseCpu'>) =>
  serverCpu + databaseCpu;

function shareOf({ title, results }: Row): Share[] {
  const [ours, peer] = [results.get(names.ours), results.get(names.oidcMongo)];
  return ours && peer ? [{ title, ours: cost(ours), peer: cost(peer) }] : [];
}

/**
 * The cost of exchanges, flows and webhooks as a share of the MongoDB peer's. The peer sends no webhooks, so an event
 * is compared with its exchange at 64 callers.
 */
export function sharesOf(
  rows: readonly Row[],
  flows: readonly FlowRow[],
  webhooks: WebhookFigures | undefined,
): Share[] {
  const exchange = rows.find(({ id }) => id === 'hot-64')?.results.get(names.oidcMongo);
  const events = (webhooks?.rows ?? []).flatMap(({ title, cpu }) =>
    cpu && exchange
      ? [{ title: `an event: ${title}`, ours: cpu.server + cpu.database, peer: cost(exchange) }]
      : [],
  );
  const ofFlows = flows.flatMap(shareOf).map((share) => ({ ...share, title: `flows, ${share.title}` }));
  return [...rows.flatMap(shareOf), ...ofFlows, ...events];
}
