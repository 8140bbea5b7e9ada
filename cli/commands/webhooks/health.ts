import * as Flags from '@oclif/core/flags';
import { type ListedHealth, latestAnswer } from '../../../contracts/admin/endpoint-health.ts';
import { adviseAnswer, adviseReceiver } from '../../../contracts/receiver-advice.ts';
import { listFlags, modeFilter } from '../../flags/flags.ts';
import { idArg, idFlag } from '../../flags/ids.ts';
import { ListCommand } from '../../list/list-command.ts';
import { formatShare } from '../../output/format.ts';

/** The most endpoints that one call of the server returns. */
const mostEndpointsPerCall = 50;

export default class WebhooksHealth extends ListCommand<typeof WebhooksHealth> {
  static override summary =
    'Show how webhook endpoints do: share of success, since when they fail, their queue.';
  static override description =
    'Without a key or a partner: the endpoints with failed or waiting deliveries, and those that are slow or paused, the worst first. The figures are of the attempts of at most 500 deliveries within a day. An endpoint is `slow` if the last attempt succeeded, but more than one success in twenty took at least half of the time allowed.';
  static override examples = [
    '<%= config.bin %> webhooks health',
    '<%= config.bin %> webhooks health key_…',
    '<%= config.bin %> webhooks health --partner ptr_…',
  ];
  static override args = { key: idArg('apiKey')({ description: 'id of the API key' }) };
  static override flags = {
    partner: idFlag('partner')({ description: 'only of this partner', exclusive: ['key'] }),
    mode: modeFilter,
    limit: Flags.integer({
      description: 'maximum number of endpoints',
      default: 10,
      min: 1,
      max: mostEndpointsPerCall,
    }),
    ...listFlags,
  };

  async run() {
    const { partner, mode, csv, columns } = this.flags;
    const { key } = this.args;
    const found = await this.api.webhooks.health.query({
      keyId: key,
      partnerId: partner,
      mode,
      limit: this.needsAllRows ? mostEndpointsPerCall : this.flags.limit,
    });
    const [endpoint] = found;
    // The flags of lists apply to the endpoint of one key too, as to a list of one row.
    const isList = key === undefined || this.needsAllRows || csv || columns !== undefined;
    if (isList || !endpoint) return this.#showEndpoints(found);
    this.#showEndpoint(endpoint);
    return found;
  }

  #showEndpoints(found: readonly ListedHealth[]) {
    return this.showList({
      page: async () => found,
      fields: async () =>
        Object.keys((await import('../../../contracts/admin/endpoint-health.ts')).ListedHealth.shape),
      columns: [
        'keyId',
        'partnerName',
        'mode',
        'state',
        'lastAnswer',
        'successShare',
        'failingSince',
        'queued',
        'p95Ms',
        'cause',
      ],
      dropIfNarrow: ['cause', 'p95Ms', 'mode', 'queued'],
      show: ({ answers, successShare, ...fields }) => ({
        ...fields,
        lastAnswer: latestAnswer(answers)?.answer ?? null,
        successShare: formatShare(successShare),
      }),
    });
  }

  /** Shows the endpoint of one key with all its answers. If it fails or is slow, adds advice. */
  #showEndpoint({ answers, successShare, lastFault, ...fields }: ListedHealth): void {
    this.showRecord({ ...fields, successShare: formatShare(successShare) });
    this.showTable(answers, ['answer', 'count', 'firstAt', 'lastAt']);
    // A slow receiver gets the advice that it would get after a timeout, before there is one.
    const fault = fields.state === 'slow' ? 'timeout' : fields.failingSince && latestAnswer(answers)?.answer;
    // Servers of earlier versions do not send the last fault, but its class is in the answers.
    const advice = lastFault ? adviseReceiver(lastFault) : fault ? adviseAnswer(fault) : undefined;
    if (advice !== undefined && !this.jsonEnabled())
      this.writeNotice(`${advice}, then: svcadmin webhooks test ${fields.keyId}`);
  }
}
