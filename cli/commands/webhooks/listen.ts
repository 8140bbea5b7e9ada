import * as Flags from '@oclif/core/flags';
import { relayEvents, requireTarget } from '../../deliveries/relay.ts';
import { idArg } from '../../flags/ids.ts';
import { AdminCommand } from '../../program/base-command.ts';

export default class WebhooksListen extends AdminCommand<typeof WebhooksListen> {
  static override summary =
    'Relay the events of a test key to this machine, with valid signatures, until interrupted.';
  static override description =
    'The deliveries to the URL of the key continue; this is a copy. Shows the signing secret, and why the receiver refused.';
  static override examples = [
    '<%= config.bin %> webhooks listen key_… --forward-to http://localhost:4000/hooks',
  ];
  static override args = { key: idArg('apiKey')({ description: 'id of the API key', required: true }) };
  static override flags = {
    'forward-to': Flags.string({ description: 'URL of the local receiver', required: true }),
  };

  async run(): Promise<void> {
    const target = this.flags['forward-to'];
    requireTarget(target);
    await relayEvents({
      api: this.api,
      keyId: this.args.key,
      target,
      isJson: this.jsonEnabled(),
      notice: (text) => this.writeNotice(text),
      // Every error ends the command. Only `svc listen` tries again, after the member has used the passkey.
      onError: (error) => Promise.reject(error as Error),
    });
  }
}
