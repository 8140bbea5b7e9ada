import { Args } from '@oclif/core';
import { AdminCommand } from '../../base-command.ts';
import { deliveryFields } from '../../deliveries.ts';
import { dueAt, newTime } from '../../flags.ts';

export default class DeliveriesReschedule extends AdminCommand<typeof DeliveriesReschedule> {
  static override summary = 'Reschedule the next attempt of a delivery.';
  static override description = 'If it fails, the next attempts follow with the usual delays.';
  static override examples = [
    '<%= config.bin %> deliveries reschedule dlv_… --in 30m',
    '<%= config.bin %> deliveries reschedule dlv_… --at 2026-07-01T09:00',
    '<%= config.bin %> deliveries reschedule dlv_… --in 0s',
  ];
  static override args = { delivery: Args.string({ description: 'id of the delivery', required: true }) };
  static override flags = newTime;

  async run() {
    const api = await this.api();
    const wanted = { deliveryId: this.args.delivery, ...dueAt(this.flags) };
    const delivery = await api.deliveries.reschedule.mutate(wanted);
    this.one(delivery, deliveryFields);
    return delivery;
  }
}
