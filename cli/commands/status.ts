import { AdminCommand } from '../base-command.ts';

export default class Status extends AdminCommand<typeof Status> {
  static override summary =
    'Show the state of the service: versions, database, waiting deliveries, processes.';
  static override examples = ['<%= config.bin %> status'];

  async run() {
    const { url } = this.connection;
    const { processes, ...status } = await (await this.api()).status.query();
    this.one({ ...status, cli: this.config.version, url });
    if (processes && processes.length > 0) {
      this.log();
      const columns = ['host', 'pid', 'build', 'roles', 'schema', 'startedAt', 'lastSeenAt'] as const;
      this.many(processes, columns);
    }
    return { ...status, cli: this.config.version, url, processes };
  }
}
