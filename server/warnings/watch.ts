import type { Sweep } from '../platform/database/event-draft.ts';
import type { Logger } from '../platform/telemetry/logging.ts';
import type { Tell } from './tell.ts';
import { type Condition, nextWarning, type Warning, warningIdOf } from './warning.ts';
import type { WarningStore } from './warning-store.ts';

interface Dependencies {
  store: WarningStore;
  /** Functions that find the present problems. If one fails, its warnings stay as they are until the next check. */
  sources: readonly (() => Promise<Condition[]>)[];
  /** The kind of warning of each source, in the same order. */
  kinds: readonly Warning['kind'][];
  tell: Tell;
  clock: { now(): number };
  logger: Pick<Logger, 'warn'>;
}

/** How long to wait between two checks by any process, in milliseconds. */
export const lookEveryMs = 60_000;
const toldAtOnce = 100;

/** Makes the sweep that raises warnings, ends them and sends both. */
export function createWarningWatch({ store, sources, kinds, tell, clock, logger }: Dependencies): Sweep {
  async function check(now: Date): Promise<void> {
    const answers = await Promise.allSettled(sources.map((read) => read()));
    const failed = new Set<Warning['kind'] | undefined>();
    for (const [index, answer] of answers.entries()) {
      if (answer.status === 'fulfilled') continue;
      failed.add(kinds[index]);
      logger.warn({ err: answer.reason }, 'a source of warnings could not be read');
    }
    const conditions = answers.flatMap((answer) => (answer.status === 'fulfilled' ? answer.value : []));
    const byId = new Map(conditions.map((condition) => [warningIdOf(condition), condition]));
    const open = (await store.open()).filter(({ kind }) => !failed.has(kind));
    const others = [...byId.keys()].filter((id) => !open.some(({ _id }) => _id === id));
    const known = new Map(
      [...open, ...(await store.findAll(others))].map((warning) => [warning._id, warning]),
    );
    for (const id of new Set([...known.keys(), ...byId.keys()])) {
      const before = known.get(id);
      const next = nextWarning(before, byId.get(id), now);
      if (next === 'unchanged') continue;
      if (next === 'gone') await (before && store.remove(before));
      else await store.put(next, before);
    }
  }

  return {
    name: 'warnings',
    async sweep() {
      const now = clock.now();
      if (!(await store.takeTurn(new Date(now), new Date(now - lookEveryMs)))) return;
      await check(new Date(now));
      for (const warning of await store.untold(toldAtOnce)) {
        await tell(warning).catch((err: unknown) =>
          logger.warn({ err, warning: warning._id }, 'a warning could not be sent; it is tried again'),
        );
      }
    },
  };
}
