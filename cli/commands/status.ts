import { AdminCommand } from '../base-command.ts';

export default class Status extends AdminCommand<typeof Status> {
  static override summary = 'Show how the server is: versions, database, deliveries that wait.';
  static override examples = ['<%= config.bin %> status'];

  async run() {
    const { url } = this.connection;
    const status = await (await this.api()).status.query();
    return this.one({ ...status, cli: this.config.version, url });
  }
}
