import { Args } from '@oclif/core';
import { CarefulCommand } from '../../careful-command.ts';
import { deliveryFields } from '../../deliveries.ts';
import { count } from '../../previews.ts';

export default class DeliveriesCancel extends CarefulCommand<typeof DeliveriesCancel> {
  static override summary = 'Cancel a delivery: no further attempts are made.';
  static override description = 'The event is kept, and `deliveries resend` sends it again.';
  static override examples = ['<%= config.bin %> deliveries cancel dlv_…'];
  static override args = { delivery: Args.string({ description: 'id of the delivery', required: true }) };

  async run() {
    const api = await this.api();
    const delivery = await api.deliveries.show.query({ deliveryId: this.args.delivery });
    const { id, event, eventId, keyId, mode, attempts } = delivery;
    const consequence = `The ${mode} event ${event} (${eventId}) is not sent to ${keyId} any more, after ${count(attempts.length, 'attempt')}: ${id} ends as skipped.`;
    return this.confirmed({ id, consequence, live: mode === 'live', care: 'live' }, async () => {
      const cancelled = await api.deliveries.cancel.mutate({ deliveryId: id });
      this.one(cancelled, deliveryFields);
      return cancelled;
    });
  }
}
