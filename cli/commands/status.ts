import { localTime } from '../output/format.ts';
import { AdminCommand } from '../program/base-command.ts';

export default class Status extends AdminCommand<typeof Status> {
  static override summary =
    'Show the state of the service: versions, database, waiting deliveries, processes.';
  static override description =
    'Answers also while the database is away: why, since when, and what was there before.';
  static override examples = ['<%= config.bin %> status'];

  async run() {
    const { url } = this.connection;
    const status = await (await this.api()).status.query();
    const shown = { ...status, cli: this.config.version, url };
    const { processes: presentProcesses, away, ...fields } = shown;
    // What the server last read from a database that is away now.
    const lastKnown = away?.last;
    if (away) {
      const { last: _last, ...outage } = away;
      this.showRecord({ ...fields, away: outage, queue: lastKnown?.queue ?? null });
    } else this.showRecord(fields);
    if (lastKnown && !this.jsonEnabled())
      this.writeNotice(`The database is away: queue and processes are of ${localTime(lastKnown.at)}.`);
    const processes = presentProcesses ?? lastKnown?.processes ?? [];
    if (processes.length > 0) {
      this.log();
      const columns = ['host', 'pid', 'build', 'roles', 'schema', 'startedAt', 'lastSeenAt'] as const;
      this.showTable(processes, columns);
    }
    return shown;
  }
}
