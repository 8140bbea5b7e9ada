import { Args, Flags } from '@oclif/core';
import { AdminCommand } from '../../base-command.ts';
import type { AdminApi } from '../../client.ts';
import { amount, outFile, words } from '../../flags.ts';
import { type Credentials, firstCalls, renderEnv } from '../../onboarding.ts';
import { openSecretFile } from '../../secret-file.ts';

export default class PartnersOnboard extends AdminCommand<typeof PartnersOnboard> {
  static override summary = 'Create a partner that can begin at once, in test mode.';
  static override description =
    'Creates and activates the partner, makes a test key, a client and, with --webhook-url, an endpoint, and funds the test wallet. Prints an .env file whose comments are a first call of each endpoint.';
  static override examples = [
    '<%= config.bin %> partners onboard "Acme Ltd" --redirect-uri http://localhost:3000/callback --claims "age_18_plus" > .env',
  ];
  static override args = { name: Args.string({ description: 'name of the company', required: true }) };
  static override flags = {
    'redirect-uri': Flags.string({
      description: 'where users return to; may be given again',
      required: true,
      multiple: true,
    }),
    claims: Flags.string({ description: 'claims the client may ask for', required: true, multiple: true }),
    'webhook-url': Flags.string({ description: 'where events go' }),
    amount: amount({
      description: 'dollars of play money, at least 50.00',
      default: 5_000,
      defaultHelp: async () => '50.00',
    }),
    'out-file': outFile,
  };

  async run() {
    const api = await this.api();
    const path = this.flags['out-file'];
    const file = path === undefined ? undefined : openSecretFile(path);
    const made = await this.make(api).catch((error: unknown) => {
      file?.discard();
      throw error;
    });
    const { credentials, scope, ...rest } = made;
    const calls = firstCalls({ baseUrl: credentials.SVC_BASE_URL, scope }, credentials);
    const env = renderEnv(credentials);
    file?.write(env.join('\n'));
    if (file) this.notice(`✓ ${file.path} written, for you alone`);
    for (const line of file ? [] : env) this.log(line);
    for (const line of calls) this.log(`# ${line}`);
    return { ...rest, ...(file ? { outFile: file.path } : { env: credentials }), calls };
  }

  private async make(api: AdminApi) {
    const progress = (step: string): void => this.notice(`✓ ${step}`);
    const { name } = this.args;
    const { 'redirect-uri': redirectUris, 'webhook-url': url, amount } = this.flags;
    const claims = words(this.flags.claims) as never[];
    // A wrong option leaves nothing behind.
    const plan = { name, redirectUris, claims, amount };
    await api.partners.judge.query({ ...plan, ...(url === undefined ? {} : { webhookUrl: url }) });
    const { id: partnerId } = await api.partners.create.mutate({ name });
    progress(`partner ${partnerId}`);
    const { id: keyId, apiKey } = await api.keys.create.mutate({ partnerId, mode: 'test' });
    progress(`API key ${keyId}`);
    const client = await api.clients.create.mutate({
      partnerId,
      keyId,
      name,
      redirectUris,
      claims,
    });
    progress(`client ${client.id}`);
    const endpoint = url === undefined ? undefined : await api.webhooks.set.mutate({ keyId, url });
    if (endpoint) progress(`webhook ${endpoint.url}`);
    const wallet = { partnerId, mode: 'test' as const };
    const { balanceAfter } = await api.wallets.fund.mutate({
      ...wallet,
      amount,
      reference: 'onboarding',
    });
    const { status } = await api.partners.activate.mutate({ partnerId });
    progress('test wallet funded, partner active');
    const credentials: Credentials = {
      SVC_BASE_URL: (await api.status.query()).baseUrl,
      SVC_CLIENT_ID: client.id,
      SVC_CLIENT_SECRET: client.clientSecret,
      SVC_API_KEY: apiKey,
      SVC_REDIRECT_URI: redirectUris[0] ?? '',
      ...(endpoint && { SVC_WEBHOOK_SECRET: endpoint.signingSecret }),
    };
    return {
      partnerId,
      status,
      keyId,
      clientId: client.id,
      balance: balanceAfter,
      credentials,
      scope: client.claims.join(' '),
    };
  }
}
