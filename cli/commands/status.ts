import { localTime } from '../output/format.ts';
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

export default class Status extends AdminCommand<typeof Status> {
  static override summary =
    'Show the state of the service: versions, database, waiting deliveries, processes.';
  static override description =
    'Answers also while the database is away: why, since when, and what was there before.';
  static override examples = ['<%= config.bin %> status'];

  async run() {
    const { url } = this.connection;
    const status = await this.api.status.query();
    const shown = { ...status, cli: this.config.version, url };
    const { processes: presentProcesses, missingRoles, away, ...fields } = shown;
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
    if (!this.jsonEnabled())
      for (const { role, since } of missingRoles ?? [])
        this.writeNotice(`No process has the role ${role}${since ? ` since ${localTime(since)}` : ''}.`);
    return shown;
  }
}
