import * as Args from '@oclif/core/args';
import { type EventName, eventNames } from '../../../contracts/event-names.ts';
import { idFlag } from '../../flags/ids.ts';
import { AdminCommand } from '../../program/base-command.ts';

export default class WebhooksTrigger extends AdminCommand<typeof WebhooksTrigger> {
  static override summary = 'Send a sample event of a test key, with all retries.';
  static override examples = ['<%= config.bin %> webhooks trigger vae.resolved --key key_…'];
  static override args = {
    event: Args.string({ description: 'name of the event', options: eventNames, required: true }),
  };
  static override flags = { key: idFlag('apiKey')({ description: 'id of the API key', required: true }) };

  async run() {
    const event = this.args.event as EventName;
    const delivery = await this.api.webhooks.trigger.mutate({ keyId: this.flags.key, event });
    this.showRecord(delivery, ['id', 'event', 'eventId', 'status', 'keyId']);
    return delivery;
  }
}
