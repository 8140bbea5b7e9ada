import { AdminCommand } from '../../program/base-command.ts';
import { createDeviceEndpoints } from '../device-flow.ts';

export default class Whoami extends AdminCommand<typeof Whoami> {
  static override summary = 'Show who is signed in, with which role, and until when.';
  static override description =
    'Secrets, addresses and members can be changed until `changesUntil`; the portal prolongs it.';
  static override examples = ['<%= config.bin %> whoami'];

  async run() {
    const { url, urlFrom, tokenFrom, token, ca } = this.connection;
    const login = await createDeviceEndpoints({ url, ca }).show(token);
    return this.showRecord({ ...login, url, urlFrom, tokenFrom });
  }
}
