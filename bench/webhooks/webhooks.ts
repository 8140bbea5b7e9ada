import { startOurs } from '../contenders/ours.ts';
import type { DatabaseServer } from '../database.ts';
import type { Load } from '../load/load.ts';
import { type Count, lagsOf } from './counting.ts';
import { type Behaviour, pathOf, startEndpoints } from './endpoints.ts';
import { createPasses, type Pass } from './passes.ts';

/** A line of the table. Events per second; milliseconds from due to arrived at the receiver. */
export interface WebhookRow {
  id: 'idle' | 'alone' | 'beside' | 'all' | 'flood' | 'drain';
  title: string;
  events: number;
  /** Undefined where events were not accepted as they came. */
  accepted: number | undefined;
  /** Those answered with 2xx, from the first exchange, or from when they were due, to the last arrival. */
  delivered: number;
  p50: number;
  p95: number;
  p99: number;
}

export interface WebhookFigures {
  rows: WebhookRow[];
  /** Of all passes together. */
  counted: Count;
}

/** How much is sent: events, events per second and endpoint, and for how long. */
interface Volume {
  endpoints: number;
  warmUp: number;
  idle: number;
  rate: number;
  seconds: number;
  flood: number;
  drain: number;
  /** Milliseconds for writing what falls due. */
  ahead: number;
}

const whole: Volume = {
  endpoints: 100,
  warmUp: 1000,
  idle: 80,
  rate: 1.5,
  seconds: 6,
  flood: 2000,
  drain: 5000,
  ahead: 6000,
};
const small: Volume = {
  endpoints: 10,
  warmUp: 20,
  idle: 5,
  rate: 2,
  seconds: 1,
  flood: 40,
  drain: 50,
  ahead: 1000,
};

/** Of attempts 2 and 3, so that a run is short. */
const retryDelays = '1s,1s';
const callers = 64;
const idlePerSecond = 10;

/** Of a hundred endpoints twenty fail, ten are slow and one hangs. */
function behaviourOf(n: number): Behaviour {
  if (n === 3) return 'hangs';
  if (n % 10 === 2) return 'is slow';
  return n % 10 < 2 ? 'fails' : 'accepts';
}

/** The line of those events of a pass that went to these partners. */
function rowOf(
  { id, title, partners }: Pick<WebhookRow, 'id' | 'title'> & { partners: readonly number[] },
  { accepted, startedAt, seconds, arrivals, due }: Pass,
): WebhookRow {
  const paths = new Set(partners.map(pathOf));
  const came = arrivals.filter(({ path }) => paths.has(path));
  const delivered = came.filter(({ acknowledged }) => acknowledged);
  const last = delivered.reduce((latest, { at }) => Math.max(latest, at), startedAt);
  const events = [...accepted].reduce((sum, [path, each]) => (paths.has(path) ? sum + each : sum), 0);
  return {
    id,
    title,
    events,
    accepted: seconds === undefined ? undefined : events / seconds,
    delivered: delivered.length / ((last - startedAt) / 1000),
    ...lagsOf(came, due),
  };
}

const sum = (counts: readonly Count[]): Count =>
  counts.reduce((all, { events, lost, duplicates }) => ({
    events: all.events + events,
    lost: all.lost + lost,
    duplicates: all.duplicates + duplicates,
  }));

interface Surroundings {
  database: DatabaseServer;
  load: Load;
  smoke: boolean;
  progress: (text: string) => void;
}

/** Events from the exchange that owes them to the endpoint that counts them: one server process, with its sender. */
export async function measureWebhooks({
  database,
  load,
  smoke,
  progress,
}: Surroundings): Promise<WebhookFigures> {
  const volume = smoke ? small : whole;
  const endpoints = await startEndpoints();
  const ours = await startOurs({
    ...{ database, load, name: 'webhooks', processes: 1, crowd: volume.endpoints },
    webhook: endpoints.url,
    environment: { SVC_LOCALHOST_WEBHOOKS: 'on', SVC_WEBHOOK_RETRY_DELAYS: retryDelays },
  });
  const { owners, contenders } = ours;
  const [contender] = contenders;
  if (!contender) throw new Error('no server to send webhooks');
  const passes = createPasses({
    db: database.db('webhooks'),
    load,
    contender,
    owners,
    endpoints,
    behaviourOf,
  });
  const all = [...owners.keys()];
  const healthy = all.filter((n) => behaviourOf(n) === 'accepts');
  const paced = (partners: readonly number[]) => {
    const perSecond = volume.rate * partners.length;
    return { partners, events: Math.round(perSecond * volume.seconds), callers, perSecond };
  };
  const rows: WebhookRow[] = [];
  const counts: Count[] = [];

  async function pass(
    run: Promise<Pass>,
    lines: readonly (readonly [WebhookRow['id'], string, readonly number[]])[],
  ) {
    const result = await run;
    counts.push(result.counted);
    for (const [id, title, partners] of lines) {
      const row = rowOf({ id, title, partners }, result);
      rows.push(row);
      progress(`webhooks  ${id}  ${Math.round(row.delivered)}/s, p99 ${Math.round(row.p99)} ms`);
    }
  }

  await pass(passes.exchange({ partners: healthy, events: volume.warmUp, callers }), []);
  await pass(
    passes.exchange({ partners: healthy, events: volume.idle, callers: 1, perSecond: idlePerSecond }),
    [['idle', 'one at a time, nothing else', healthy]],
  );
  await pass(passes.exchange(paced(healthy)), [['alone', 'healthy endpoints alone', healthy]]);
  await pass(passes.exchange(paced(all)), [
    ['beside', 'the same beside the others', healthy],
    ['all', 'all: 20 % fail, 10 % are slow, one hangs', all],
  ]);
  await pass(passes.exchange({ partners: all, events: volume.flood, callers }), [
    ['flood', `all, ${callers} callers without a pause`, all],
  ]);
  await pass(passes.drain({ events: volume.drain, ahead: volume.ahead }), [
    ['drain', 'all healthy, due at once', all],
  ]);
  await Promise.all([ours.stop(), endpoints.stop()]);
  const counted = sum(counts);
  // Of a smoke run nobody reads the figures.
  if (smoke && counted.lost + counted.duplicates > 0) {
    throw new Error(`webhooks: ${counted.lost} lost, ${counted.duplicates} duplicated of ${counted.events}`);
  }
  return { rows, counted };
}
