import { Args } from '@oclif/core';
import { adviseDelivery } from '../../../contracts/receiver-advice.ts';
import { exits } from '../../errors/failure.ts';
import { AdminCommand } from '../../program/base-command.ts';

export default class WebhooksTest extends AdminCommand<typeof WebhooksTest> {
  static override summary =
    'Send one sample event to the webhook URL of an API key. Exit 1 if it does not arrive.';
  static override examples = ['<%= config.bin %> webhooks test key_…'];
  static override args = { key: Args.string({ description: 'id of the API key', required: true }) };

  async run() {
    const api = await this.api();
    const { url } = await api.webhooks.show.query({ keyId: this.args.key });
    const delivery = await api.webhooks.test.mutate({ keyId: this.args.key });
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
      // Undefined if the delivery was skipped, because nothing was sent.
      const advice = adviseDelivery(delivery);
      this.writeNotice(
        advice === undefined
          ? `\`svcadmin deliveries show ${delivery.id}\` says what to do.`
          : `${advice}, then: svcadmin webhooks test ${this.args.key}`,
      );
    }
    return { url, ...delivery };
  }
}
