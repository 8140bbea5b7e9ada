import { startOurs } from '../contenders/ours.ts';
import type { DatabaseServer } from '../database.ts';
import type { Load } from '../load/load.ts';
import type { Count } from './counting.ts';
import { retryDelay } from './deliveries.ts';
import { type Behaviour, startEndpoints } from './endpoints.ts';
import { createPasses, type Pass } from './passes.ts';
import { type Line, rowOf, type WebhookFigures, type WebhookRow } from './rows.ts';

/** The amount of load: events, events per second and endpoint, and seconds. */
interface Volume {
  endpoints: number;
  warmUp: number;
  idle: number;
  rate: number;
  seconds: number;
  flood: number;
  /** Events that become due together. */
  due: number;
  /** Milliseconds to write the due deliveries. */
  ahead: number;
}

const whole: Volume = {
  endpoints: 100,
  warmUp: 600,
  idle: 60,
  rate: 0.75,
  seconds: 6,
  flood: 1500,
  due: 5000,
  ahead: 4000,
};
const small: Volume = {
  endpoints: 10,
  warmUp: 20,
  idle: 5,
  rate: 2,
  seconds: 1,
  flood: 40,
  due: 50,
  ahead: 1000,
};

const callers = 64;
const idlePerSecond = 10;

/** Of a hundred endpoints, twenty fail, ten are slow and one does not answer. */
function behaviourOf(n: number): Behaviour {
  if (n === 3) return 'hangs';
  if (n % 10 === 2) return 'is slow';
  return n % 10 < 2 ? 'fails' : 'accepts';
}

const sum = (counts: readonly Count[]): Count =>
  counts.reduce((all, { events, lost, duplicates }) => ({
    events: all.events + events,
    lost: all.lost + lost,
    duplicates: all.duplicates + duplicates,
  }));

/** The passes in order, and the lines of each. */
function plan(volume: Volume, { exchange, drain }: ReturnType<typeof createPasses>) {
  const all = Array.from({ length: volume.endpoints }, (_, n) => n);
  const healthy = all.filter((n) => behaviourOf(n) === 'accepts');
  const one = { callers: 1, perSecond: idlePerSecond };
  const paced = (partners: readonly number[]) => {
    const perSecond = volume.rate * partners.length;
    return { partners, events: Math.round(perSecond * volume.seconds), callers, perSecond };
  };
  const line = (id: WebhookRow['id'], title: string, partners = all): Line => ({ id, title, partners });
  return [
    { run: () => exchange({ partners: healthy, events: volume.warmUp, callers }), lines: [] },
    {
      run: () => exchange({ partners: healthy, events: volume.idle, ...one }),
      lines: [line('idle', 'single events, nothing else')],
    },
    { run: () => exchange(paced(healthy)), lines: [line('alone', 'healthy endpoints alone')] },
    {
      run: () => exchange(paced(all)),
      lines: [
        line('beside', 'healthy endpoints beside the others', healthy),
        line('all', 'all: 20 % fail, 10 % are slow, one hangs'),
      ],
    },
    {
      run: () => exchange({ partners: all, events: volume.flood, callers }),
      lines: [line('flood', `all, as fast as ${callers} callers are answered`)],
    },
    {
      run: () => drain({ events: volume.due, ahead: volume.ahead }),
      lines: [line('drain', 'all healthy, due at once')],
    },
  ] satisfies { run: () => Promise<Pass>; lines: Line[] }[];
}

interface Context {
  database: DatabaseServer;
  load: Load;
  smoke: boolean;
  progress: (text: string) => void;
}

/**
 * Events from their exchange to the endpoint that counts them, with one server process that also sends.
 * @throws if a smoke run, which is only a check, loses or repeats an event
 */
export async function measureWebhooks(context: Context): Promise<WebhookFigures> {
  const { database, load, smoke, progress } = context;
  const volume = smoke ? small : whole;
  const endpoints = await startEndpoints();
  const ours = await startOurs({
    ...{ database, load, name: 'webhooks', processes: [1], partnerCount: volume.endpoints },
    webhook: endpoints.url,
    environment: {
      SVC_LOCALHOST_WEBHOOKS: 'on',
      SVC_WEBHOOK_RETRY_DELAYS: `${retryDelay}ms,${retryDelay}ms`,
    },
  });
  const { owners, contenders } = ours;
  const [contender] = contenders;
  if (!contender) throw new Error('no server to send webhooks');
  const passes = createPasses({
    db: database.db('webhooks'),
    databasePid: database.pid,
    load,
    contender,
    owners,
    endpoints,
    behaviourOf,
  });
  const rows: WebhookRow[] = [];
  const counts: Count[] = [];
  for (const { run, lines } of plan(volume, passes)) {
    const pass = await run();
    counts.push(pass.counted);
    for (const row of lines.map((line) => rowOf(line, pass))) {
      rows.push(row);
      progress(`webhooks  ${row.id}  ${Math.round(row.delivered)}/s, p99 ${Math.round(row.p99)} ms`);
    }
  }
  await Promise.all([ours.stop(), endpoints.stop()]);
  const counted = sum(counts);
  if (smoke && counted.lost + counted.duplicates > 0) {
    throw new Error(`webhooks: ${counted.lost} lost, ${counted.duplicates} duplicated of ${counted.events}`);
  }
  return { rows, counted };
}
