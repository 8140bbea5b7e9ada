import { setTimeout as sleep } from 'node:timers/promises';
import type { Command, Interfaces } from '@oclif/core';
import * as Flags from '@oclif/core/flags';
import type { BulkView, StartBulk, StartedBulk } from '../../contracts/admin/bulk.ts';
import type { NewTime } from '../../contracts/admin/deliveries.ts';
import { fastestRate, usualRate } from '../../contracts/bulk-rate.ts';
import { retentionMs } from '../../contracts/retention.ts';
import { CarefulCommand } from '../careful/careful-command.ts';
import type { Confirm } from '../careful/confirmation.ts';
import { count, nounFor } from '../careful/previews.ts';
import type { AdminApi } from '../connection/client.ts';
import { usageError } from '../errors/failure.ts';
import { parseSeconds } from '../flags/durations.ts';
import type { eventFilters } from '../flags/filters.ts';
import { localTimeIn, requireFromBeforeTo } from '../flags/flags.ts';
import { requireRecords } from '../list/known-records.ts';
import { describeDeleted, describeOnly } from '../list/totals.ts';
import { localTime } from '../output/format.ts';
import { createProgress, type Progress } from './progress.ts';
import { deliveryFields } from './views.ts';

/** The fields of a bulk job that are shown. */
export const bulkFields = [
  'id',
  'action',
  'status',
  'total',
  'done',
  'leftOut',
  'rate',
  'filter',
  'to',
  'expectedEndAt',
  'operatorName',
  'createdAt',
  'endedAt',
] as const satisfies readonly (keyof BulkView)[];

/** The time between two reads of the progress, in milliseconds. */
const pollEveryMs = 1_000;

/** A flag for a rate, such as `20/s` or `20`. */
export const rate = Flags.custom<number>({
  helpValue: '20/s',
  async parse(text) {
    const perSecond = /^\d{1,3}(\/s)?$/.test(text) ? Number.parseInt(text, 10) : 0;
    if (perSecond >= 1 && perSecond <= fastestRate) return perSecond;
    throw usageError(`${text} is not a rate from 1/s to ${fastestRate}/s`);
  },
});

export const bulkFlags = {
  rate: rate({ description: `with a filter: deliveries of one key in a second (default ${usualRate}/s)` }),
  detach: Flags.boolean({ description: 'with a filter: do not wait for the end of the job' }),
};

/** A flag of the commands that send events again. */
export const to = Flags.string({
  description:
    'to this URL instead of the webhook URL of the key, signed with its secret; of a live key only to the same host',
  helpValue: 'URL',
});

/** Whether a job changes pending deliveries. The other jobs send events again. */
const isChange = ({ action }: Pick<BulkView, 'action'>): boolean =>
  action === 'cancel' || action === 'reschedule';

/** What a job does to each delivery. These words end the question to the person, as in `each is sent again`. */
const effects = {
  resend: 'is sent again',
  replay: 'is sent again, also what arrived',
  cancel: 'is cancelled, and ends as skipped',
  reschedule: 'gets another time',
} as const satisfies Record<BulkView['action'], string>;

/** Shows the progress of a job until it ends or the person interrupts. @returns the last state of the job */
export async function followJob(api: AdminApi, job: BulkView, progress: Progress): Promise<BulkView> {
  const interrupted = new AbortController();
  const interrupt = () => interrupted.abort();
  const isInterrupted = (): boolean => interrupted.signal.aborted;
  process.once('SIGINT', interrupt);
  let lastState = job;
  try {
    for (;;) {
      progress.show(lastState);
      if (lastState.status !== 'running' || isInterrupted()) return lastState;
      await sleep(pollEveryMs, undefined, { signal: interrupted.signal }).catch(() => undefined);
      if (!isInterrupted()) lastState = await api.bulk.show.query({ bulkId: job.id });
    }
  } finally {
    process.off('SIGINT', interrupt);
    progress.end(lastState);
  }
}

type FilterFlags = Partial<Interfaces.InferredFlags<typeof eventFilters>>;

const conditionsOf = ({ partner, key, mode, event, since, until }: FilterFlags): StartBulk['filter'] => ({
  partnerId: partner,
  keyId: key,
  mode,
  event,
  since,
  until,
});

/** Whether any flag that selects deliveries is given. */
export const hasFilter = (flags: FilterFlags): boolean =>
  Object.values(conditionsOf(flags)).some((condition) => condition !== undefined);

/** Converts the flags that select deliveries to the filter of the contract. @throws if the period ends before it begins */
export function filterOf(flags: FilterFlags): StartBulk['filter'] {
  requireFromBeforeTo(flags.since, flags.until);
  return conditionsOf(flags);
}

/** A command for one or many deliveries. For many, it shows their number, and after confirmation starts a job of the server. */
export abstract class BulkCommand<T extends typeof Command> extends CarefulCommand<T> {
  protected async startBulk(
    wanted: Parameters<AdminApi['bulk']['start']['mutate']>[0],
    { confirm }: { confirm: Confirm },
  ) {
    const preview = await this.api.bulk.start.mutate({ ...wanted, dryRun: true });
    const { filter, total, live } = preview;
    for (const sentence of describeDeleted(filter.since, retentionMs.event)) this.writeNotice(sentence);
    if (total === 0) {
      await requireRecords(() => this.api, { partner: filter.partnerId, key: filter.keyId });
      const { partnerId: partner, keyId: key, ...others } = wanted.filter;
      if (!this.jsonEnabled()) {
        this.writeNotice(`Nothing found${describeOnly({ partner, key, ...others })}.`);
        if (!isChange(wanted))
          this.writeNotice('Events whose delivery is pending or in flight are left out.');
      }
      return preview;
    }
    const consequence = describeJob(wanted, preview);
    // The person types what limits the job: a key or a partner. Without these, the person types the number of deliveries.
    const id = filter.keyId ?? filter.partnerId ?? String(total);
    return this.runConfirmed({ id, consequence, isLive: live > 0, confirm }, async () => {
      // Without --until, the period of the job ends now, and not at the count. An end that differs in each call would hide from
      // the server that a command is repeated.
      const started = await this.api.bulk.start.mutate({ ...wanted, secondsBack: this.#secondsBack() });
      const { job, repeated } = started;
      if (!job) return started;
      if (repeated) this.writeNotice(`The same command had started ${job.id}, which still runs.`);
      else this.writeNotice(`Bulk job ${job.id} has started.`);
      const isDetached = (this.flags as { detach?: boolean }).detach === true;
      const lastState = isDetached ? job : await followJob(this.api, job, createProgress(process.stderr));
      this.showBulk(lastState);
      return lastState;
    });
  }

  /** The ends of the period that the person typed as durations. Their times differ in each call of the same command. */
  #secondsBack() {
    const [since, until] = ['since', 'until'].map((flag) => parseSeconds(this.typed[flag] ?? ''));
    return since === undefined && until === undefined ? undefined : { since, until };
  }

  /** Gives the next attempt of a named delivery, or of those that a filter finds, another time. */
  protected async reschedule(
    time: NewTime,
    {
      delivery,
      rate: perSecond,
      ...flags
    }: FilterFlags & { delivery: string | undefined; rate?: number | undefined },
  ) {
    // Equal means both or none, and exactly one is needed.
    if ((delivery !== undefined) === hasFilter(flags))
      throw usageError('Name a delivery, or give a filter such as --key');
    if (delivery !== undefined) return this.rescheduleOne(delivery, time);
    const wanted = { action: 'reschedule' as const, filter: filterOf(flags), ...time, rate: perSecond };
    return this.startBulk(wanted, { confirm: 'always' });
  }

  private async rescheduleOne(deliveryId: string, time: NewTime) {
    const reschedule = async () => {
      const delivery = await this.api.deliveries.reschedule.mutate({ deliveryId, ...time });
      this.showRecord(delivery, deliveryFields);
      return delivery;
    };
    // Another time for one delivery needs no confirmation, so only --dry-run shows what would be done.
    if (!this.isDryRun) return reschedule();
    const { id, nextAttemptAt } = await this.api.deliveries.show.query({ deliveryId });
    await this.tryOut(reschedule);
    const oldTime = nextAttemptAt === null ? 'now' : localTime(nextAttemptAt);
    const newTime = time.at === undefined ? localTimeIn(time.inSeconds ?? 0) : localTime(time.at);
    return this.showDryRun(id, `The next attempt of ${id} is due at ${newTime} instead of ${oldTime}.`);
  }

  private showBulk(job: BulkView): void {
    this.showRecord(job, bulkFields);
    if (job.status === 'running' && !this.jsonEnabled())
      this.writeNotice(
        `It goes on without you: svcadmin bulk show ${job.id} --follow, or svcadmin bulk cancel ${job.id}`,
      );
  }
}

/** Describes a job for the person who confirms it. */
function describeJob(
  wanted: { action: BulkView['action']; rate?: number | undefined; to?: string | undefined } & NewTime,
  { total, exact, live, keys }: StartedBulk,
) {
  const { action, rate: perSecond = usualRate } = wanted;
  const target = wanted.to === undefined ? '' : ` to ${wanted.to}`;
  const from = wanted.at === undefined ? '' : `, from ${localTime(wanted.at)} on`;
  const noun = isChange(wanted) ? 'pending delivery' : 'event';
  const upTo = exact ? '' : 'at most ';
  const pace = action === 'cancel' ? '' : `, ${perSecond} a second for each key`;
  return `Of ${count(keys, 'API key')}, ${upTo}${total} ${nounFor(total, noun)} (${live} live): each ${effects[action]}${target}${from}${pace}.`;
}
