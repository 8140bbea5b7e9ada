import * as Flags from '@oclif/core/flags';
import type { ServiceStatus } from '../../contracts/service-status.ts';
import { createSend } from '../connection/http.ts';
import { CommandError, innermost } from '../errors/failure.ts';
import { describeDifferences, remedyOf } from '../output/differing-settings.ts';
import { formatShare, localTime } from '../output/format.ts';
import { AdminCommand } from '../program/base-command.ts';

const columns = [
  'host',
  'pid',
  'build',
  'roles',
  'ready',
  'reasons',
  'clockOffsetMs',
  'masterKeys',
  'schema',
  'startedAt',
  'lastSeenAt',
] as const;

/** The time for the public page to answer, in milliseconds. */
const historyTimeoutMs = 10_000;

export default class Status extends AdminCommand<typeof Status> {
  static override summary =
    'Show the state of the service: versions, database, waiting deliveries, processes.';
  static override description =
    'Answers also while the database is away: why, since when, and what was there before.';
  static override examples = ['<%= config.bin %> status', '<%= config.bin %> status --history'];
  static override flags = {
    history: Flags.boolean({
      description:
        'the availability, the incidents and the days of the public page /status instead; its webhooks are those of live mode',
    }),
  };

  async run() {
    const { url } = this.connection;
    const status = await this.api.status.query();
    if (this.flags.history) return this.#showHistory(status.baseUrl);
    const shown = { ...status, cli: this.config.version, url };
    const { processes: presentProcesses, missingRoles, differingSettings, away, ...fields } = shown;
    // What the server read last, if its database is away now.
    const { last, ...outage } = away ?? {};
    if (away) this.showRecord({ ...fields, away: outage, queue: last?.queue ?? null });
    else this.showRecord(fields);
    if (last && !this.jsonEnabled())
      this.writeNotice(`The database is away: queue and processes are of ${localTime(last.at)}.`);
    const processes = presentProcesses ?? last?.processes ?? [];
    if (processes.length > 0) {
      this.log();
      this.showTable(processes, columns, { dropIfNarrow: ['schema', 'startedAt', 'masterKeys'] });
    }
    if (!this.jsonEnabled()) {
      for (const { role, since } of missingRoles ?? [])
        this.writeNotice(`No process has the role ${role}${since ? ` since ${localTime(since)}` : ''}.`);
      for (const difference of describeDifferences(status)) this.writeNotice(`${difference}.`);
      const remedy = remedyOf(differingSettings);
      if (remedy) this.writeNotice(`Next: ${remedy}.`);
    }
    return shown;
  }

  /** Shows what the public page `/status` reports. @param baseUrl address of the public listener */
  async #showHistory(baseUrl: string): Promise<ServiceStatus> {
    const history = await readHistory(`${baseUrl}/status.json`, this.connection.ca);
    const { spans, incidents, days } = history;
    for (const { hours, available, errors, requests } of spans)
      this.log(
        `Last ${hours} hours: available ${formatShare(available)}, ${errors} errors of ${requests} requests`,
      );
    this.log();
    if (incidents.length > 0) this.showTable(incidents, ['kind', 'from', 'until', 'minutes']);
    else this.log(`No incidents since ${history.recordedSince ? localTime(history.recordedSince) : '-'}`);
    this.log();
    const withShares = days.map(({ available, ...day }) => ({ ...day, available: formatShare(available) }));
    this.showTable(withShares, ['day', 'available', 'requests', 'errors', 'webhooks', 'webhooksTaken']);
    return history;
  }
}

/** @throws CommandError if the public listener does not answer */
async function readHistory(url: string, ca: string | undefined): Promise<ServiceStatus> {
  try {
    const answer = await createSend(ca)(url, { timeoutMs: historyTimeoutMs });
    if (answer.ok) return (await answer.json()) as ServiceStatus;
    throw new Error(`it answered ${answer.status}`);
  } catch (error) {
    const message = `${url} cannot be read: ${innermost(error)}`;
    throw new CommandError({ code: 'unreachable', message });
  }
}
