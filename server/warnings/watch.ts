import type { Sweep } from '../platform/database/event-draft.ts';
import type { Logger } from '../platform/telemetry/logging.ts';
import type { SendWarning } from './send.ts';
import { type Condition, nextWarning, type Warning, warningIdOf } from './warning.ts';
import type { WarningStore } from './warning-store.ts';

interface Dependencies {
  store: WarningStore;
  /** Functions that find the present problems. If one fails, the warnings of its kind stay unchanged until the next check. */
  sources: readonly (() => Promise<Condition[]>)[];
  /** The kind of warning of each source, in the same order. */
  kinds: readonly Warning['kind'][];
  sendWarning: SendWarning;
  clock: { now(): number };
  logger: Pick<Logger, 'warn'>;
}

/** The time between two checks, whichever process makes them, in milliseconds. */
export const checkEveryMs = 60_000;
const mostSentPerSweep = 100;

/** Makes the sweep that raises warnings, ends them, and sends both changes to the partners. */
export function createWarningWatch({
  store,
  sources,
  kinds,
  sendWarning,
  clock,
  logger,
}: Dependencies): Sweep {
  /** Returns the present problems by warning id, and the kinds of warnings whose source could not be read. */
  async function readConditions() {
    const results = await Promise.allSettled(sources.map((read) => read()));
    const conditions = new Map<string, Condition>();
    const failedKinds = new Set<Warning['kind'] | undefined>();
    for (const [index, result] of results.entries()) {
      if (result.status === 'fulfilled') {
        for (const condition of result.value) conditions.set(warningIdOf(condition), condition);
      } else {
        failedKinds.add(kinds[index]);
        logger.warn({ err: result.reason }, 'a source of warnings could not be read');
      }
    }
    return { conditions, failedKinds };
  }

  /** Brings the stored warnings up to date with the present problems. */
  async function updateWarnings(now: Date): Promise<void> {
    const { conditions, failedKinds } = await readConditions();
    const open = (await store.findOpen()).filter(({ kind }) => !failedKinds.has(kind));
    const openIds = new Set(open.map(({ _id }) => _id));
    const others = await store.findAll([...conditions.keys()].filter((id) => !openIds.has(id)));
    const stored = new Map([...open, ...others].map((warning) => [warning._id, warning]));
    for (const id of new Set([...stored.keys(), ...conditions.keys()])) {
      const present = stored.get(id);
      const next = nextWarning(present, conditions.get(id), now);
      if (next === 'unchanged') continue;
      if (next !== 'gone') await store.put(next, present);
      else if (present) await store.remove(present);
    }
  }

  async function sendUnsent(): Promise<void> {
    for (const warning of await store.findUnsent(mostSentPerSweep)) {
      await sendWarning(warning).catch((err: unknown) =>
        logger.warn({ err, warning: warning._id }, 'a warning could not be sent; it is tried again'),
      );
    }
  }

  return {
    name: 'warnings',
    async sweep() {
      const now = new Date(clock.now());
      const lastCheckUntil = new Date(now.getTime() - checkEveryMs);
      if (!(await store.takeTurn({ now, lastCheckUntil }))) return;
      await updateWarnings(now);
      await sendUnsent();
    },
  };
}
