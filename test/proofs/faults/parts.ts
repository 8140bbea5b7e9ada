import { execFile } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { adminPoints } from './admin-points.ts';
import { runAdmin } from './admin-run.ts';
import { adminToken, type Environment, type EnvironmentSettings } from './environment.ts';
import { erasurePoints } from './erasure-points.ts';
import { runErasure } from './erasure-run.ts';
import { flowPoints } from './flow-points.ts';
import { runFlows } from './flow-run.ts';
import type { Fault } from './injection.ts';
import { moneyPoints, moneyPointsAmong } from './money-points.ts';
import { type MoneyPoint, runMoney } from './money-run.ts';
import { webhookPoints } from './webhook-points.ts';
import { runWebhooks } from './webhook-run.ts';

/** The figures of one run, and other faults as text. */
export type Findings = { other: string[] } & Record<string, number | string[]>;

/** The runs of one point. */
export interface Task {
  name: string;
  /** The number of certain occurrences in a run; default 3. */
  moments?: number | undefined;
  environment: EnvironmentSettings;
  /** @returns undefined if the fault did not occur */
  run(environment: Environment, run: number, hit: number): Promise<Findings | undefined>;
}

/** A group of points that are checked in the same way. A further one needs an entry in `parts` only. */
export interface Part {
  name: string;
  title: string;
  /** Names of figures that must be 0, and of the others, as in the findings. */
  failures: Record<string, string>;
  figures: Record<string, string>;
  tasks: readonly Task[];
  /** Faults of an environment after the last run of a point, as text. */
  check?(environment: Environment): Promise<string[]>;
}

const svcadmin = fileURLToPath(
  new URL(
    import.meta.url.includes('/dist/') ? '../../../../cli/bin/svcadmin.js' : '../../../cli/bin/svcadmin.js',
    import.meta.url,
  ),
);

/** Runs `svcadmin wallets audit` over all wallets of the environment. */
function audit({ adminUrl, dataDir }: Environment): Promise<string[]> {
  const env = {
    PATH: process.env['PATH'],
    HOME: dataDir,
    SVCADMIN_URL: adminUrl,
    SVCADMIN_TOKEN: adminToken,
  };
  return new Promise((resolve) => {
    execFile(process.execPath, [svcadmin, 'wallets', 'audit'], { env }, (error, stdout, stderr) => {
      resolve(error ? [`svcadmin wallets audit exits with ${error.code}: ${stdout}${stderr}`] : []);
    });
  });
}

const isProxied = (fault: Fault): boolean =>
  'interferes' in fault || 'message' in fault || fault.reachedBy !== undefined;

const isParted = (fault: Fault): boolean =>
  'kills' in fault && (fault.kills === 'refusing link' || fault.kills === 'silent link');

const moneyTask = (point: MoneyPoint): Task => ({
  name: point.name,
  moments: point.moments,
  environment: {
    proxied: isProxied(point.fault),
    servers: point.servers ?? 1,
    ...(isParted(point.fault) && { parted: true }),
  },
  run: async (environment, run, hit) => {
    const findings = await runMoney(environment, { point, run, hit });
    return findings && { ...findings };
  },
});

const money: Part = {
  name: 'money',
  title: 'Money',
  failures: { lostCents: 'lost cents', doubleDebits: 'double debits', orphans: 'orphans' },
  figures: {
    faults: 'faults',
    entries: 'entries',
    answers: 'answers',
    lostAnswers: 'lost answers',
  },
  tasks: moneyPoints.map(moneyTask),
  check: audit,
};

const webhooks: Part = {
  name: 'webhooks',
  title: 'Webhooks',
  failures: { lost: 'lost', altered: 'altered', invented: 'invented' },
  figures: { faults: 'faults', events: 'events', repeated: 'repeated' },
  tasks: webhookPoints.map((point) => ({
    name: point.name,
    moments: point.moments,
    environment: { sendsNot: point.sendsNot === true },
    run: async (environment, run, hit) => {
      const findings = await runWebhooks(environment, { point, run, hit });
      return findings && { ...findings };
    },
  })),
};

const flows: Part = {
  name: 'flows',
  title: 'Hosted flows',
  failures: {
    lostCodes: 'lost codes',
    doubled: 'doubled',
    orphans: 'orphans',
    lost: 'lost events',
    altered: 'altered',
    invented: 'invented',
  },
  figures: {
    faults: 'faults',
    flows: 'flows',
    tokens: 'tokens',
    events: 'events',
    lostAnswers: 'lost answers',
  },
  tasks: flowPoints.map((point) => ({
    name: point.name,
    moments: 2,
    environment: { proxied: true, servers: 1 },
    run: (environment, run, hit) => runFlows(environment, { point, run, hit }),
  })),
  check: audit,
};

const erasure: Part = {
  name: 'erasure',
  title: 'Erasure',
  failures: { kept: 'not erased', traces: 'traces', unrecorded: 'unrecorded', doubled: 'recorded twice' },
  figures: { faults: 'faults', erased: 'erased' },
  tasks: erasurePoints.map((point) => ({
    name: point.name,
    moments: 2,
    environment: { proxied: true, servers: 1 },
    run: (environment, run, hit) => runErasure(environment, { point, run, hit }),
  })),
  check: audit,
};

const admin: Part = {
  name: 'admin',
  title: "Operators' commands",
  failures: {
    unrecorded: 'changes without entry',
    invented: 'entries without change',
    undone: 'undone',
    waiting: 'not copied',
  },
  figures: { faults: 'faults', answers: 'answers', changes: 'changes' },
  tasks: adminPoints.map((point) => ({
    name: point.name,
    moments: 3,
    environment: { proxied: true, servers: 1 },
    run: (environment, run, hit) => runAdmin(environment, { point, run, hit }),
  })),
};

/**
 * @param servers selects only points with this number of servers; by default every point, with its own number
 */
export const partsOf = (servers?: number): readonly Part[] =>
  servers === undefined
    ? [money, webhooks, flows, erasure, admin]
    : [{ ...money, tasks: moneyPointsAmong(servers).map(moneyTask) }];
