import { AdminCommand } from '../program/base-command.ts';

export default class Whoami extends AdminCommand<typeof Whoami> {
  static override summary = 'Show your operator, and how the server was found.';
  static override examples = ['<%= config.bin %> whoami'];

  async run() {
    const { url, urlFrom, tokenFrom } = this.connection;
    const identity = await this.api.operators.whoami.query();
    return this.showRecord({ ...identity, url, urlFrom, tokenFrom });
  }
}
