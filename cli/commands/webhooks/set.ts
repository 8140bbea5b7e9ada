import { Args, Flags } from '@oclif/core';
import { AdminCommand } from '../../base-command.ts';
import { outFile } from '../../flags.ts';

export default class WebhooksSet extends AdminCommand<typeof WebhooksSet> {
  static override summary = 'Send the events of an API key to a URL. Makes a new signing secret, shown once.';
  static override description =
    'The server is found by SVCADMIN_URL, a profile or --server: here, --url is where events go.';
  static override examples = ['<%= config.bin %> webhooks set key_… --url https://partner.example/hooks'];
  static override args = { key: Args.string({ description: 'id of the API key', required: true }) };
  static override flags = {
    url: Flags.string({
      description: 'where events go: https, for a test key also http://localhost',
      required: true,
    }),
    server: Flags.string({
      description: 'address of the admin listener (SVCADMIN_URL)',
      helpGroup: 'GLOBAL',
    }),
    'out-file': outFile,
  };

  protected override get serverFlag(): string | undefined {
    return this.flags.server;
  }

  async run() {
    const api = await this.api();
    return this.withSecret('signingSecret', () =>
      api.webhooks.set.mutate({ keyId: this.args.key, url: this.flags.url }),
    );
  }
}
