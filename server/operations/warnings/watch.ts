import type { WarningKind } from '../../../contracts/admin/warnings.ts';
import type { Sweep } from '../../platform/database/event-draft.ts';
import type { Logger } from '../../platform/telemetry/logging.ts';
import type { Addressees, WarningSender } from './send.ts';
import { type Condition, nextWarning, type UnsentWarning, type Warning, warningIdOf } from './warning.ts';
import { checkedRead, type WarningStore } from './warning-store.ts';

/** A kind of warning, and the function that finds its present problems. */
export interface WarningSource {
  kind: WarningKind;
  find: () => Promise<Condition[]>;
}

interface Dependencies {
  store: WarningStore;
  /** One source for each kind. If one fails, the warnings of its kind stay unchanged until the next check. */
  sources: readonly WarningSource[];
  sender: WarningSender;
  clock: { now(): number };
  logger: Pick<Logger, 'warn'>;
}

/** The time between two checks, whichever process makes them, in milliseconds. */
export const checkEveryMs = 60_000;
const mostSentPerSweep = 100;
/**
 * After this time, in milliseconds, a check begins no further e-mails. All sweeps of a process run one after another, so a mail
 * server that does not answer would delay the others.
 */
const longestMailingMs = 10_000;

/** Makes the sweep that raises warnings, ends them, and sends both changes to the partners. */
export function createWarningWatch({ store, sources, sender, clock, logger }: Dependencies): Sweep {
  /** Returns the present problems by warning id, and the kinds of warnings whose source could not be read. */
  async function readConditions() {
    const conditions = new Map<string, Condition>();
    const failedKinds = new Set<WarningKind>();
    const readSource = async ({ kind, find }: WarningSource): Promise<void> => {
      try {
        for (const condition of await find()) conditions.set(warningIdOf(condition), condition);
      } catch (err) {
        failedKinds.add(kind);
        logger.warn({ err }, 'a source of warnings could not be read');
      }
    };
    await Promise.all(sources.map(readSource));
    return { conditions, failedKinds };
  }

  /** Brings the stored warnings up to date with the present problems. */
  async function updateWarnings(now: Date): Promise<void> {
    const { conditions, failedKinds } = await readConditions();
    const open = (await store.findOpen()).filter(({ kind }) => !failedKinds.has(kind));
    // A problem may have a warning that is over. It is not among the open ones, but a new warning must replace it.
    const openIds = new Set(open.map(({ _id }) => _id));
    const others = await store.findAll([...conditions.keys()].filter((id) => !openIds.has(id)));
    const stored = new Map([...open, ...others].map((warning) => [warning._id, warning]));
    for (const id of new Set([...stored.keys(), ...conditions.keys()])) {
      const warning = stored.get(id);
      const next = nextWarning(warning, conditions.get(id), now);
      if (typeof next !== 'string') await store.put(next, warning);
      else if (next === 'gone' && warning) await store.remove(warning);
    }
  }

  /** Logs why a warning could not be sent. A later check tries again. */
  const logFailure =
    ({ _id: warning }: Warning) =>
    (err: unknown): undefined => {
      logger.warn({ err, warning }, 'a warning could not be sent; it is tried again');
    };

  /** The next check begins with the partner after this one. Empty if it begins with the first one. */
  let lastPartnerId = '';

  /** Sends the warnings whose state is unsent. All notices go first, because e-mails may take long. */
  async function sendUnsent(): Promise<void> {
    const unsent = await store.findUnsent(mostSentPerSweep, lastPartnerId);
    const toMail: { warning: UnsentWarning; addressees: Addressees }[] = [];
    for (const warning of unsent) {
      const addressees = await sender.publishNotices(warning).catch(logFailure(warning));
      if (addressees && addressees.addresses.length > 0) toMail.push({ warning, addressees });
    }
    const mailUntil = clock.now() + longestMailingMs;
    for (const { warning, addressees } of toMail) {
      // The next check continues after `lastPartnerId`, so that a slow recipient does not delay the same others each time.
      if (clock.now() >= mailUntil) return;
      await sender.sendMails(warning, addressees).catch(logFailure(warning));
      lastPartnerId = warning.partnerId;
    }
    // Behind a full page there may be more warnings. Otherwise the next check begins with the first one again.
    lastPartnerId = unsent.length < mostSentPerSweep ? '' : (unsent.at(-1)?.partnerId ?? '');
  }

  return {
    name: 'warnings',
    look: () => ({
      reads: [checkedRead(new Date(clock.now() - checkEveryMs))],
      isDue: (found) => found.flat().length === 0,
    }),
    /** Checks once a minute. Sweeps are more frequent, and all processes run them, so most sweeps do nothing here. */
    async sweep() {
      const now = new Date(clock.now());
      const lastCheckUntil = new Date(now.getTime() - checkEveryMs);
      if (!(await store.takeTurn({ now, lastCheckUntil }))) return;
      await updateWarnings(now);
      await sendUnsent();
    },
  };
}
