import { AdminCommand } from '../program/base-command.ts';

export default class Version extends AdminCommand<typeof Version> {
  static override summary = 'Show the version of svcadmin; `status` shows that of the server.';
  static override examples = ['<%= config.bin %> version'];

  async run() {
    const { version, userAgent } = this.config;
    this.log(userAgent);
    return { version, node: process.version };
  }
}
