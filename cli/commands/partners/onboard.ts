import { accessSync, constants, mkdirSync } from 'node:fs';
import { join } from 'node:path';
import * as Args from '@oclif/core/args';
import * as Flags from '@oclif/core/flags';
import { exits, usageError } from '../../errors/failure.ts';
import { amount, outFile, splitWords } from '../../flags/flags.ts';
import { firstCalls, renderEnv } from '../../onboarding/credentials.ts';
import { onboardRows, type RowResult, readPlans, refusePartnerFlags } from '../../onboarding/from-file.ts';
import { type Onboarded, onboardPartner, type Plan } from '../../onboarding/partner.ts';
import { AdminCommand } from '../../program/base-command.ts';
import { makeWithSecretFile, openSecretFile } from '../../secrets/file.ts';

/** The smallest amount by which a wallet can be funded. */
const fewestCents = 5_000;

/** Checks the directory before anything is created, so that no secret is lost. @throws CommandError usage */
function requireDirectory(path: string): void {
  try {
    mkdirSync(path, { recursive: true, mode: 0o700 });
    accessSync(path, constants.W_OK);
  } catch (error) {
    throw usageError((error as Error).message);
  }
}

export default class PartnersOnboard extends AdminCommand<typeof PartnersOnboard> {
  static override summary = 'Create a partner that is ready for test mode, or many from a file.';
  static override description =
    'Creates and activates the partner, makes a test key and a client, and funds the test wallet. With --webhook-url, also saves the URL. Prints an .env file with example calls in its comments. --from takes a JSON array of objects with name, redirectUris, claims and, optionally, webhookUrl and amount ("50.00"). All rows are checked first. A row with the name of an existing partner is skipped, so that the same file can be used again.';
  static override examples = [
    '<%= config.bin %> partners onboard "Acme Ltd" --redirect-uri http://localhost:3000/callback --claims "age_18_plus" > .env',
    '<%= config.bin %> partners onboard --from partners.json --out-dir secrets',
  ];
  static override args = { name: Args.string({ description: 'name of the company' }) };
  static override flags = {
    'redirect-uri': Flags.string({
      description: 'redirect URI; may be repeated',
      multiple: true,
    }),
    claims: Flags.string({ description: 'claims the client may ask for', multiple: true }),
    'webhook-url': Flags.string({ description: 'webhook URL' }),
    amount: amount({ description: 'dollars of play money, at least 50.00; 50.00 if not given' }),
    from: Flags.string({ description: 'JSON file of many partners; - for stdin', helpValue: 'FILE' }),
    'out-dir': Flags.string({
      description: 'with --from: write the secrets of each partner to a new file here (0600), ID.env',
      helpValue: 'DIR',
      dependsOn: ['from'],
    }),
    'out-file': outFile,
  };

  async run() {
    const { from } = this.flags;
    return from === undefined ? this.#onboardOne() : this.#onboardMany(from);
  }

  #readPlan(): Plan {
    const { name } = this.args;
    const { 'redirect-uri': redirectUris, claims, 'webhook-url': webhookUrl } = this.flags;
    if (name === undefined || redirectUris === undefined || claims === undefined)
      throw usageError('A partner needs NAME, --redirect-uri and --claims; many come --from a file');
    return {
      name,
      redirectUris,
      // The server checks the names of the claims.
      claims: splitWords(claims) as never[],
      amount: this.flags.amount ?? fewestCents,
      webhookUrl,
    };
  }

  async #onboardOne() {
    const plan = this.#readPlan();
    this.prepareApi();
    const path = this.flags['out-file'];
    const make = async (): Promise<Onboarded> => {
      // The server checks all options before anything is created.
      await this.api.partners.check.query(plan);
      return onboardPartner(this.api, plan, (step) => this.writeNotice(`✓ ${step}`));
    };
    // With --out-file, the secrets are only in the file.
    const envText = (made: Onboarded) => renderEnv(made.credentials).join('\n');
    const made = path === undefined ? await make() : await makeWithSecretFile(path, make, envText);
    const { credentials, scope, ...rest } = made;
    const calls = firstCalls({ baseUrl: credentials.SVC_BASE_URL, scope }, credentials);
    if (path === undefined) this.log(envText(made));
    else this.writeNotice(`✓ ${path} written, for you alone`);
    // The output is an .env file, in which the calls are comments.
    for (const line of calls) this.log(`# ${line}`);
    return { ...rest, ...(path === undefined ? { env: credentials } : { outFile: path }), calls };
  }

  async #onboardMany(path: string) {
    const { name } = this.args;
    const { 'redirect-uri': uris, claims, 'webhook-url': url, amount: cents, 'out-file': file } = this.flags;
    // The file has these values for each partner. A second value would contradict it.
    refusePartnerFlags({
      NAME: name,
      '--redirect-uri': uris,
      '--claims': claims,
      '--webhook-url': url,
      '--amount': cents,
      '--out-file': file,
    });
    const directory = this.flags['out-dir'];
    const rows = await readPlans(this.api, path);
    if (directory !== undefined) requireDirectory(directory);
    const results = await onboardRows(this.api, rows, {
      source: this.connectionSource,
      onStart: ({ line, plan }) => this.writeNotice(`${line} of ${rows.length}: ${plan.name}`),
      saveSecrets: (made) => this.#writeSecrets(made, directory),
    });
    this.#writeSummary(results);
    // A partner that exists was created by an earlier run, so that the same file can be used again.
    const areAllThere = results.every(({ result }) => result === 'onboarded' || result === 'exists');
    if (!areAllThere) process.exitCode = exits.failure;
    // Secrets that were written to files are not printed again.
    return results.map(({ made, ...rest }) => ({
      ...rest,
      ...(made && { keyId: made.keyId, clientId: made.clientId }),
      ...(made && directory === undefined && { env: made.credentials }),
    }));
  }

  /** Writes the secrets of one partner before the next is created, so that an interrupted run loses none. */
  #writeSecrets({ partnerId, credentials }: Onboarded, directory: string | undefined): void {
    const env = renderEnv(credentials);
    if (directory !== undefined) openSecretFile(join(directory, `${partnerId}.env`)).write(env.join('\n'));
    else for (const line of [`# ${partnerId}`, ...env, '']) this.log(line);
  }

  /** Writes a summary to stderr, because programs read stdout. */
  #writeSummary(results: readonly RowResult[]): void {
    if (this.jsonEnabled()) return;
    for (const { row, name, result, partnerId, detail } of results)
      this.writeNotice(
        [row, result, partnerId ?? '-', name, ...(detail === null ? [] : [detail])].join('  '),
      );
  }
}
