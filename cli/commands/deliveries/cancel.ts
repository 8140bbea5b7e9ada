import { Args } from '@oclif/core';
import { AdminCommand } from '../../base-command.ts';
import { deliveryFields } from '../../deliveries.ts';

export default class DeliveriesCancel extends AdminCommand<typeof DeliveriesCancel> {
  static override summary = 'Stop a delivery: attempts still to come are not made.';
  static override description = 'The event is kept, and `deliveries resend` sends it again.';
  static override examples = ['<%= config.bin %> deliveries cancel dlv_…'];
  static override args = { delivery: Args.string({ description: 'id of the delivery', required: true }) };

  async run() {
    const api = await this.api();
    const delivery = await api.deliveries.cancel.mutate({ deliveryId: this.args.delivery });
    this.one(delivery, deliveryFields);
    return delivery;
  }
}
