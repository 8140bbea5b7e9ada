import { idArg } from '../../flags/ids.ts';
import { AdminCommand } from '../../program/base-command.ts';

export default class KeysShow extends AdminCommand<typeof KeysShow> {
  static override summary = 'Show an API key, without its secret.';
  static override examples = ['<%= config.bin %> keys show key_…'];
  static override args = { key: idArg('apiKey')({ description: 'id of the API key', required: true }) };

  async run() {
    return this.showRecord(await this.api.keys.show.query({ keyId: this.args.key }));
  }
}
