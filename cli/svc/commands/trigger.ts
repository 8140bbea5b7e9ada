import { createHash, randomBytes } from 'node:crypto';
import * as Args from '@oclif/core/args';
import * as Flags from '@oclif/core/flags';
import { type EventName, eventNames } from '../../../contracts/event-names.ts';
import { FlowError, walkFlow } from '../../../sdk/typescript/src/testing.ts';
import { fetchTrusting } from '../../connection/certificates.ts';
import { CommandError, usageError } from '../../errors/failure.ts';
import { splitWords } from '../../flags/flags.ts';
import { idFlag } from '../../flags/ids.ts';
import { AdminCommand } from '../../program/base-command.ts';
import { findOnlyTestClient, findOnlyTestKey } from '../test-records.ts';

const flow = 'flow';
const randomText = (bytes: number) => randomBytes(bytes).toString('base64url');

export default class Trigger extends AdminCommand<typeof Trigger> {
  static override summary =
    'Send a sample event of a test key, or walk the hosted pages of the sandbox to their end.';
  static override description =
    '`trigger flow` is a user of the sandbox: it accepts or declines, and verifies as the named person. It stops at your redirect URI, which is not called. What follows is real: the session, its events, and a code that your server can exchange for 10 minutes.';
  static override examples = [
    '<%= config.bin %> trigger vae.resolved',
    '<%= config.bin %> trigger flow --person adult',
    '<%= config.bin %> trigger flow --person teen --client cli_… --claims age_18_plus',
  ];
  static override args = {
    event: Args.string({
      description: 'name of the event, or flow',
      options: [...eventNames, flow],
      required: true,
    }),
  };
  static override flags = {
    key: idFlag('apiKey')({
      description: 'of an event: id of the API key; without it, your only active test key',
    }),
    person: Flags.string({
      description: 'of a flow: who verifies, such as adult, teen or rejected',
      default: 'adult',
    }),
    consent: Flags.option({ options: ['accept', 'decline'] as const })({
      description: 'of a flow: what the person answers',
      default: 'accept',
    }),
    client: idFlag('client')({
      description: 'of a flow: id of the client; without it, your only active test client',
    }),
    claims: Flags.string({
      description: 'of a flow: the claims that are asked for; without it, all of the client',
      multiple: true,
    }),
    'redirect-uri': Flags.string({
      description: 'of a flow: the redirect URI; without it, the first of the client',
    }),
    reference: Flags.string({ description: 'of a flow: your client_reference_id of the session' }),
  };

  async run() {
    if (this.args.event === flow) return this.#walkFlow();
    const keyId = this.flags.key ?? (await findOnlyTestKey(this.api));
    const delivery = await this.api.webhooks.trigger.mutate({ keyId, event: this.args.event as EventName });
    this.showRecord(delivery, ['id', 'event', 'eventId', 'status', 'keyId']);
    return delivery;
  }

  /** Returns the client of --client, or the only test client. @throws CommandError if it is a live client */
  async #findClient() {
    const { client: clientId } = this.flags;
    const client =
      clientId === undefined
        ? await findOnlyTestClient(this.api)
        : await this.api.clients.show.query({ clientId });
    if (client.mode !== 'test')
      throw usageError(`${client.id} is a live client: the sandbox is for test clients`);
    return client;
  }

  /** Starts a session, and walks its pages as a person would. Shows the parameters of the redirect at the end. */
  async #walkFlow() {
    const { claims, person, consent, reference } = this.flags;
    const client = await this.#findClient();
    const [firstUri = ''] = client.redirectUris;
    const redirectUri = this.flags['redirect-uri'] ?? firstUri;
    const codeVerifier = randomText(32);
    const query = new URLSearchParams({
      client_id: client.id,
      redirect_uri: redirectUri,
      state: randomText(16),
      scope: (claims ? splitWords(claims) : client.claims).join(' '),
      code_challenge: createHash('sha256').update(codeVerifier).digest('base64url'),
      code_challenge_method: 'S256',
      ...(reference === undefined ? {} : { client_reference_id: reference }),
    });
    const { url, ca } = this.connection;
    const fetch = fetchTrusting(ca);
    const end = await walkFlow(`${url}/verify/start?${query}`, { person, consent, fetch }).catch(
      throwExplained,
    );
    requireArrival(end, redirectUri);
    // The redirect has either a code or an error. With the code, the verifier is needed to exchange it.
    const { searchParams: result } = end;
    const code = result.get('code');
    const shown = {
      person,
      clientId: client.id,
      sessionId: result.get('session_id'),
      redirectUri,
      code,
      codeVerifier: code === null ? null : codeVerifier,
      error: result.get('error'),
      errorDescription: result.get('error_description'),
    };
    this.showRecord(shown);
    if (!this.jsonEnabled())
      this.writeNotice(
        `\`svc sessions show ${shown.sessionId ?? 'ses_…'}\` says what happened; \`svc deliveries list\` which events were sent.`,
      );
    return shown;
  }
}

/** Throws the error that explains why the pages did not lead to the redirect URI. */
function throwExplained(error: unknown): never {
  if (!(error instanceof FlowError)) throw error;
  if (error.code === 'unknown_person') throw usageError(error.message);
  throw new CommandError({ code: 'failure', message: error.message });
}

/** Checks that the walk ended at the redirect URI. It ends early if the service was called under another address than its own. */
function requireArrival(end: URL, redirectUri: string): void {
  const [arrived, wanted] = [end, new URL(redirectUri)].map(({ origin, pathname }) => `${origin}${pathname}`);
  if (arrived === wanted) return;
  throw new CommandError({
    code: 'failure',
    message: `The flow led to ${arrived ?? ''} instead of ${redirectUri}`,
    hint: `Is ${end.origin} the address of the service? Sign in to it: svc login --url ${end.origin}`,
  });
}
