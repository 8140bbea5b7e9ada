import type { Db } from 'mongodb';
import type { Clock } from '../../clock.ts';
import type { WriteProbe } from '../../database/write-probe.ts';
import type { Logger } from '../../telemetry/logging.ts';

/** What can prevent a process from serving, by the labels of the metric `svc_ready`. */
export const obstacles = [
  'stopping',
  'starting',
  'outdated',
  'database',
  'writes',
  'requests',
  'clock',
  'keys',
] as const;

/** Why a process cannot serve: the obstacle, and a sentence for people. */
interface Reason {
  obstacle: (typeof obstacles)[number];
  text: string;
}

interface Dependencies {
  db: Db;
  clock: Pick<Clock, 'trusted'>;
  tryWrite: WriteProbe;
  /** True once the process was asked to end. */
  isStopping: () => boolean;
  /** The step that the process has to finish before it can serve; undefined when the start is complete. */
  starting: () => string | undefined;
  /** Why this build must not use the database; undefined if it may. */
  outdated: () => string | undefined;
  /** True while all places for requests are taken and no request ends (`Capacity.isStuck`). */
  isStuck: () => boolean;
  /** Names of master keys that values in the database are sealed under, and that this process lacks. */
  missingKeys: () => readonly string[];
  logger: Pick<Logger, 'info' | 'warn'>;
}

const stuck: Reason = {
  obstacle: 'requests',
  text: 'all places for requests are taken, and none was given back for 10 s',
};
const wrongClock: Reason = {
  obstacle: 'clock',
  text: 'the clock is more than 2 s off the database, or was not measured lately',
};

const unreadable = (missing: readonly string[]): Reason => ({
  obstacle: 'keys',
  text: `SVC_MASTER_KEY of this process lacks keys that values in the database are sealed under: ${missing.join(', ')}`,
});

/** Tells whether this process can serve requests, and if not, for which reasons. */
export function createReadiness(dependencies: Dependencies) {
  const { db, clock, tryWrite, isStopping, starting, outdated, isStuck, missingKeys, logger } = dependencies;
  let databaseReasons: Reason[] = [];
  let lastLogged = '';

  /** Why the database prevents this process from serving; empty if it does not. */
  async function checkDatabase(): Promise<Reason[]> {
    try {
      await db.command({ ping: 1 });
    } catch {
      return [{ obstacle: 'database', text: 'the database is away' }];
    }
    const fault = await tryWrite();
    if (fault === undefined) return [];
    return [{ obstacle: 'writes', text: `the database takes no writes: ${fault}` }];
  }

  /** The reason that makes all others irrelevant, if there is one. */
  function overridingReason(): Reason | undefined {
    if (isStopping()) return { obstacle: 'stopping', text: 'the process is stopping' };
    const fault = outdated();
    if (fault !== undefined)
      return { obstacle: 'outdated', text: `the build is too old for the database: ${fault}` };
    const step = starting();
    return step === undefined ? undefined : { obstacle: 'starting', text: step };
  }

  /** The reasons why this process cannot serve; empty if it can. For the database, the last check counts. */
  function reasons(): readonly Reason[] {
    const overriding = overridingReason();
    if (overriding) return [overriding];
    const missing = missingKeys();
    return [
      ...databaseReasons,
      ...(isStuck() ? [stuck] : []),
      ...(clock.trusted() ? [] : [wrongClock]),
      ...(missing.length > 0 ? [unreadable(missing)] : []),
    ];
  }

  function logChange(texts: readonly string[]): void {
    if (String(texts) === lastLogged) return;
    lastLogged = String(texts);
    const ready = texts.length === 0;
    // A process that starts or stops is not ready for a while, which is no reason for a warning.
    const isExpected = ready || isStopping() || starting() !== undefined;
    logger[isExpected ? 'info' : 'warn']({ ready, reasons: texts }, 'readiness changed');
  }

  return {
    reasons,

    /**
     * The reasons after a new check of the database. Logs a change.
     * @param hasWritten whether the database has just taken a write, so that it need not be checked
     */
    async check({ hasWritten } = { hasWritten: false }): Promise<readonly Reason[]> {
      if (!overridingReason()) databaseReasons = hasWritten ? [] : await checkDatabase();
      const found = reasons();
      logChange(found.map(({ text }) => text));
      return found;
    },
  };
}
export type Readiness = ReturnType<typeof createReadiness>;
