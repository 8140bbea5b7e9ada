import { waitReasons } from '../../../contracts/delivery-reasons.ts';
import { adviseOnDelivery, attemptColumns, renderAnswers, renderUrls } from '../../deliveries/views.ts';
import { idArg } from '../../flags/ids.ts';
import { AdminCommand } from '../../program/base-command.ts';

export default class DeliveriesShow extends AdminCommand<typeof DeliveriesShow> {
  static override summary = 'Show a delivery, every attempt, and what the receiver answered.';
  static override description =
    'The beginning of the answer is kept for a week, without secrets. It says what the partner has to mend.';
  static override examples = ['<%= config.bin %> deliveries show dlv_…'];
  static override args = {
    delivery: idArg('delivery')({ description: 'id of the delivery', required: true }),
  };

  async run() {
    const delivery = await this.api.deliveries.show.query({ deliveryId: this.args.delivery });
    const { attempts, ...rest } = delivery;
    const waiting = rest.waiting === null ? null : `${rest.waiting}: ${waitReasons[rest.waiting]}`;
    this.showRecord({ ...rest, waiting });
    this.showTable(attempts, attemptColumns, { dropIfNarrow: ['trigger', 'durationMs'] });
    for (const line of [...renderUrls(attempts), ...renderAnswers(attempts)]) this.log(line);
    const advice = adviseOnDelivery(delivery);
    if (advice !== undefined && !this.jsonEnabled()) this.writeNotice(advice);
    return delivery;
  }
}
