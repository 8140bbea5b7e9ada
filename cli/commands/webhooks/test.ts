import type { DeliveryView } from '../../../contracts/admin/deliveries.ts';
import { skipReasons } from '../../../contracts/delivery-reasons.ts';
import { adviseDelivery } from '../../../contracts/receiver-advice.ts';
import { exits } from '../../errors/failure.ts';
import { idArg } from '../../flags/ids.ts';
import { AdminCommand } from '../../program/base-command.ts';

export default class WebhooksTest extends AdminCommand<typeof WebhooksTest> {
  static override summary =
    'Send one sample event to the webhook URL of an API key. Exit 1 if it does not arrive.';
  static override examples = ['<%= config.bin %> webhooks test key_…'];
  static override args = { key: idArg('apiKey')({ description: 'id of the API key', required: true }) };

  async run() {
    const { url } = await this.api.webhooks.show.query({ keyId: this.args.key });
    const delivery = await this.api.webhooks.test.mutate({ keyId: this.args.key });
    const { status, error, detail, durationMs } = delivery.attempts.at(-1) ?? {};
    this.showRecord({
      delivery: delivery.id,
      url,
      status: delivery.status,
      answer: status,
      error,
      detail,
      durationMs,
      skipped: delivery.skipped,
    });
    if (delivery.status !== 'delivered') {
      process.exitCode = exits.failure;
      this.writeNotice(describeFailure(delivery));
    }
    return { url, ...delivery };
  }
}

/** Says why a sample was not sent, or what to do after a failed attempt. */
function describeFailure({ id, keyId, status, skipped, attempts }: DeliveryView): string {
  if (skipped !== null) return `The sample was not sent: ${skipReasons[skipped]}.`;
  const advice = adviseDelivery({ status, attempts });
  // Without a failed attempt, the sample still waits.
  return advice === undefined
    ? `\`svcadmin deliveries show ${id}\` says why it waits.`
    : `${advice}, then: svcadmin webhooks test ${keyId}`;
}
