import { Args, Flags } from '@oclif/core';
import { CarefulCommand } from '../../careful-command.ts';
import type { AdminApi } from '../../client.ts';
import { usageError } from '../../failure.ts';
import { given, requireOrder } from '../../flags.ts';
import { eventFilters } from '../../flags-events.ts';
import { count } from '../../previews.ts';

type Resent = Awaited<ReturnType<AdminApi['deliveries']['resend']['mutate']>>;

export default class DeliveriesResend extends CarefulCommand<typeof DeliveriesResend> {
  static override summary = 'Resend deliveries: the named ones, or all that a filter finds.';
  static override description =
    'The new attempts have the same event_id, so that receivers can deduplicate. A filter omits events that arrived by another delivery, and asks for confirmation with their number.';
  static override examples = [
    '<%= config.bin %> deliveries resend dlv_…',
    '<%= config.bin %> deliveries resend --key key_… --since 24h --dry-run',
  ];
  static override args = { delivery: Args.string({ description: 'ids of deliveries', multiple: true }) };
  static override flags = {
    ...eventFilters,
    status: Flags.option({ options: ['failed', 'skipped', 'delivered'] as const })({
      description: 'with a filter: deliveries with this status',
      default: 'failed',
    }),
    after: Flags.string({ description: 'with a filter: continue after this delivery' }),
  };

  async run() {
    const deliveryIds = this.args.delivery ?? [];
    const { partner, key, mode, event, since, until, status, after } = this.flags;
    const named = deliveryIds.length > 0;
    if (named === (since !== undefined)) throw usageError('Name deliveries, or give a filter with --since');
    const filter = given({ partnerId: partner, keyId: key, mode, event, since, until, after });
    requireOrder(since, until);
    const api = await this.api();
    const wanted = named ? { deliveryIds } : { filter: { ...filter, since: since ?? '', status } };
    if (named && !this.isDryRun) return this.#show(await api.deliveries.resend.mutate(wanted));
    const found = await api.deliveries.resend.mutate({ ...wanted, dryRun: true });
    if (this.isDryRun || found.deliveries.length === 0) return this.#show(found);
    const { deliveries } = found;
    const keys = new Set(deliveries.map(({ keyId }) => keyId)).size;
    const live = deliveries.filter((delivery) => delivery.mode === 'live').length;
    const total = String(deliveries.length);
    const consequence = `${count(deliveries.length, 'event')} (${live} live) of ${count(keys, 'API key')} are sent again${found.after ? ', and there are more' : ''}.`;
    const id = key ?? partner ?? total;
    return this.confirmed({ id, consequence, live: live > 0, care: 'attended' }, async () =>
      // Exactly the deliveries that were shown: the filter may find others by now.
      this.#show({
        ...(await api.deliveries.resend.mutate({ deliveryIds: deliveries.map((one) => one.id) })),
        after: found.after,
      }),
    );
  }

  #show({ deliveries, dryRun, after }: Resent) {
    this.notice(`${dryRun ? 'Would be sent again' : 'Sent again'}: ${deliveries.length}`);
    this.many(
      deliveries,
      ['id', 'event', 'status', 'keyId', 'nextAttemptAt', 'resendOf'],
      ['keyId', 'resendOf'],
    );
    if (after) this.notice(`There are more: go on with the same filter and --after ${after}`);
    return deliveries;
  }
}
