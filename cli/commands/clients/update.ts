import * as Flags from '@oclif/core/flags';
import { CarefulCommand } from '../../careful/careful-command.ts';
import { describeChanges, describeListChange } from '../../careful/previews.ts';
import { usageError } from '../../errors/failure.ts';
import {
  durationOrDefault,
  isOn,
  openidFlags,
  passkeys,
  splitWords,
  withoutUndefined,
} from '../../flags/flags.ts';
import { idArg, idFlag } from '../../flags/ids.ts';

/** Returns a limit for the server. The flag value 0 restores the default, which the server expects as null. */
const limitOrDefault = (limit: number | undefined): number | null | undefined => (limit === 0 ? null : limit);
/** Returns a text for the server. The flag value `default` restores the default, which the server expects as null. */
const textOrDefault = (text: string | undefined): string | null | undefined =>
  text === 'default' ? null : text;

/** Returns words for the server. The flag value `default` restores the default. */
const wordsOrDefault = (words: string[]): string[] | null =>
  words[0] === 'default' ? null : splitWords(words);

export default class ClientsUpdate extends CarefulCommand<typeof ClientsUpdate> {
  static override summary = 'Change a client. Settings that are not given stay.';
  static override description = 'A change of a test client needs no confirmation.';
  static override examples = [
    '<%= config.bin %> clients update cli_… --claims "age_18_plus country"',
    '<%= config.bin %> clients update cli_… --add-redirect-uri https://shop.example/callback',
  ];
  static override args = { client: idArg('client')({ description: 'id of the client', required: true }) };
  static override flags = {
    name: Flags.string({ description: 'name of the application, as operators see it' }),
    key: idFlag('apiKey')({ description: 'API key that will own the client' }),
    'redirect-uri': Flags.string({
      description: 'redirect URIs, instead of the present ones',
      multiple: true,
    }),
    'add-redirect-uri': Flags.string({
      description: 'a redirect URI beside the present ones; may be repeated',
      multiple: true,
      exclusive: ['redirect-uri'],
    }),
    'remove-redirect-uri': Flags.string({
      description: 'a redirect URI to remove; may be repeated',
      multiple: true,
      exclusive: ['redirect-uri'],
    }),
    claims: Flags.string({
      description: 'claims it may ask for, instead of the present ones',
      multiple: true,
    }),
    source: Flags.string({
      description: 'verification source; may be repeated, and users choose one; "default" for the default',
      multiple: true,
    }),
    'brand-name': Flags.string({ description: 'name that users read; "default" for the partner’s' }),
    'brand-color': Flags.string({
      description: 'accent colour of the hosted pages, such as #0a7f5c; "default" for ours',
    }),
    purpose: Flags.string({
      description: 'purpose that users read; "default" for a text from the claims',
    }),
    'privacy-url': Flags.string({
      description: 'the partner’s own privacy notice; "default" for none',
      helpValue: 'https://shop.example/privacy',
    }),
    passkeys,
    'max-verification-age': durationOrDefault({
      description: 'age at which claims are verified again; "default" for that of SVC_CLAIM_FRESHNESS alone',
    }),
    ...openidFlags,
    'token-requests-per-minute': Flags.integer({
      description: 'limit of the token endpoint; 0 for the default',
      min: 0,
    }),
    'userinfo-requests-per-minute': Flags.integer({
      description: 'limit of userinfo; 0 for the default',
      min: 0,
    }),
  };

  /** Returns the settings to change. The server restores the default of a setting that is null. */
  #readChanges() {
    const { name, key, claims, source, 'default-claims': defaultClaims } = this.flags;
    return withoutUndefined({
      name,
      keyId: key,
      redirectUris: this.flags['redirect-uri'],
      addRedirectUris: this.flags['add-redirect-uri'],
      removeRedirectUris: this.flags['remove-redirect-uri'],
      // The server checks the names of the claims.
      claims: claims && (splitWords(claims) as never[]),
      sources: source && wordsOrDefault(source),
      brandName: textOrDefault(this.flags['brand-name']),
      brandColor: textOrDefault(this.flags['brand-color']),
      purpose: textOrDefault(this.flags.purpose),
      privacyUrl: textOrDefault(this.flags['privacy-url']),
      passkeys: isOn(this.flags.passkeys),
      maxVerificationAgeSeconds: this.flags['max-verification-age'],
      openid: isOn(this.flags.openid),
      defaultClaims: defaultClaims && (wordsOrDefault(defaultClaims) as never[] | null),
      idTokenAlg: this.flags['id-token-alg'],
      tokenRequestsPerMinute: limitOrDefault(this.flags['token-requests-per-minute']),
      userinfoRequestsPerMinute: limitOrDefault(this.flags['userinfo-requests-per-minute']),
    });
  }

  async run() {
    const wanted = this.#readChanges();
    if (Object.keys(wanted).length === 0) throw usageError('Nothing to change was given');
    const client = await this.api.clients.show.query({ clientId: this.args.client });
    const { id, name, mode } = client;
    const { addRedirectUris: added, removeRedirectUris: removed, ...fields } = wanted;
    const uriChange =
      added || removed ? `redirect uris ${describeListChange(client.redirectUris, added, removed)}` : '';
    const changes = [describeChanges<object>(client, fields), uriChange].filter(Boolean);
    const consequence = `The ${mode} client ${name} (${id}) changes: ${changes.join(', ')}.`;
    return this.runConfirmed(
      { id, consequence, isLive: mode === 'live', confirm: 'only-live-at-terminal' },
      async () => this.showRecord(await this.api.clients.update.mutate({ clientId: id, ...wanted })),
    );
  }
}
