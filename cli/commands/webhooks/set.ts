import * as Flags from '@oclif/core/flags';
import { CarefulCommand } from '../../careful/careful-command.ts';
import { outFile } from '../../flags/flags.ts';
import { idArg } from '../../flags/ids.ts';

interface Change {
  /** The mode and the id of the key, as the sentence names them. */
  keyText: string;
  presentUrl: string | null;
  url: string;
  keepSecret: boolean;
}

export default class WebhooksSet extends CarefulCommand<typeof WebhooksSet> {
  static override summary =
    'Set the webhook URL of an API key. Makes a new signing secret, shown once, unless --keep-secret.';
  static override description =
    'If the key has a URL, asks for confirmation. Here, --url is the webhook URL; name the server by SVCADMIN_URL, a profile or --server.';
  static override examples = [
    '<%= config.bin %> webhooks set key_… --url https://partner.example/hooks',
    '<%= config.bin %> webhooks set key_… --url https://partner.example/v2/hooks --keep-secret',
  ];
  static override args = { key: idArg('apiKey')({ description: 'id of the API key', required: true }) };
  static override flags = {
    url: Flags.string({
      description: 'webhook URL: https, for a test key also http://localhost',
      required: true,
    }),
    'keep-secret': Flags.boolean({ description: 'keep the present signing secret', exclusive: ['out-file'] }),
    server: Flags.string({
      description: 'address of the admin listener (SVCADMIN_URL)',
      helpGroup: 'GLOBAL',
    }),
    'out-file': outFile,
  };

  /** Here, --url is the URL of the webhook, so --server names the server. */
  protected override get connectionFlags() {
    return { ...super.connectionFlags, url: this.flags.server };
  }

  async run() {
    const { url, 'keep-secret': keepSecret } = this.flags;
    const { keyId, mode, url: presentUrl } = await this.api.webhooks.show.query({ keyId: this.args.key });
    const set = async () =>
      keepSecret
        ? this.showRecord(await this.api.webhooks.changeUrl.mutate({ keyId, url }))
        : this.showWithSecret('signingSecret', () => this.api.webhooks.set.mutate({ keyId, url }));
    // A first URL changes nothing for a receiver, so it needs no confirmation. A dry run still describes it.
    if (presentUrl === null && !this.isDryRun) return set();
    const consequence = describeChange({ keyText: `${mode} key ${keyId}`, presentUrl, url, keepSecret });
    return this.runConfirmed(
      { id: keyId, consequence, isLive: mode === 'live', confirm: 'only-at-terminal' },
      set,
    );
  }
}

function describeChange({ keyText, presentUrl, url, keepSecret }: Change): string {
  if (presentUrl === null)
    return keepSecret
      ? `Nothing changes: the ${keyText} has no URL, and no signing secret to keep.`
      : `Events of the ${keyText} go to ${url}, signed with a new secret.`;
  const secret = keepSecret
    ? 'The signing secret stays.'
    : 'They are signed with a new secret: a receiver that has the present one refuses them (--keep-secret keeps it).';
  return `Events of the ${keyText}, and attempts still to come, go to ${url} instead of ${presentUrl}. ${secret}`;
}
