import { Args, Flags } from '@oclif/core';
import { given, modeFilter } from '../../flags/flags.ts';
import { AdminCommand } from '../../program/base-command.ts';

const percent = (share: number | null): string =>
  share === null ? '-' : `${Math.round(share * 1000) / 10} %`;

export default class WebhooksHealth extends AdminCommand<typeof WebhooksHealth> {
  static override summary =
    'Show how webhook endpoints do: share of success, since when they fail, their queue.';
  static override description =
    'Without a key or a partner: the endpoints with failed or waiting deliveries, the worst first. The figures are of the attempts of at most 500 deliveries within a day.';
  static override examples = [
    '<%= config.bin %> webhooks health',
    '<%= config.bin %> webhooks health key_…',
    '<%= config.bin %> webhooks health --partner ptr_…',
  ];
  static override args = { key: Args.string({ description: 'id of the API key' }) };
  static override flags = {
    partner: Flags.string({ description: 'only of this partner', exclusive: ['key'] }),
    mode: modeFilter,
    limit: Flags.integer({ description: 'maximum number of endpoints', default: 10, min: 1, max: 50 }),
  };

  async run() {
    const { partner, mode, limit } = this.flags;
    const { key } = this.args;
    const api = await this.api();
    const found = await api.webhooks.health.query({
      ...given({ keyId: key, partnerId: partner, mode }),
      limit,
    });
    const [only] = found;
    if (key !== undefined && only) {
      const { answers, successShare, ...rest } = only;
      this.one({ ...rest, successShare: percent(successShare) });
      this.many(answers, ['answer', 'count', 'firstAt', 'lastAt']);
    } else {
      this.many(
        found.map((one) => ({ ...one, successShare: percent(one.successShare) })),
        ['keyId', 'partnerId', 'mode', 'state', 'successShare', 'failingSince', 'queued', 'p95Ms', 'cause'],
        ['cause', 'p95Ms', 'partnerId'],
      );
    }
    return found;
  }
}
