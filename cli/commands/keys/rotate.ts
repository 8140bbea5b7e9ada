import { Args } from '@oclif/core';
import { CarefulCommand } from '../../careful-command.ts';
import { outFile } from '../../flags.ts';

export default class KeysRotate extends CarefulCommand<typeof KeysRotate> {
  static override summary = 'Rotate the secret of an API key. The old one becomes invalid immediately.';
  static override description = 'The id, the sessions, the clients and the webhook URL of the key stay.';
  static override examples = ['<%= config.bin %> keys rotate key_…'];
  static override args = { key: Args.string({ description: 'id of the API key', required: true }) };
  static override flags = { 'out-file': outFile };

  async run() {
    const api = await this.api();
    const { id, mode, last4 } = await api.keys.show.query({ keyId: this.args.key });
    const consequence = `${id} gets a new secret. Requests with the old one (…${last4}) get 401 from that moment on.`;
    return this.confirmed({ id, consequence, live: mode === 'live' }, () =>
      this.withSecret('apiKey', () => api.keys.rotate.mutate({ keyId: id })),
    );
  }
}
