import * as Flags from '@oclif/core/flags';
import { duration, isOn, openidFlags, outFile, passkeys, splitWords } from '../../flags/flags.ts';
import { idFlag } from '../../flags/ids.ts';
import { AdminCommand } from '../../program/base-command.ts';

export default class ClientsCreate extends AdminCommand<typeof ClientsCreate> {
  static override summary = 'Create a client. Its secret is shown once.';
  static override description = 'Its mode is that of the API key that owns it.';
  static override examples = [
    '<%= config.bin %> clients create --partner ptr_… --key key_… --name Shop --redirect-uri https://shop.example --claims age_18_plus',
  ];
  static override flags = {
    partner: idFlag('partner')({ description: 'id of the partner', required: true }),
    key: idFlag('apiKey')({ description: 'id of the API key that owns the client', required: true }),
    name: Flags.string({ description: 'name of the application, as operators see it', required: true }),
    'redirect-uri': Flags.string({
      description: 'redirect URI; may be repeated',
      required: true,
      multiple: true,
    }),
    claims: Flags.string({
      description: 'claims it may ask for',
      helpValue: '"age_18_plus country"',
      required: true,
      multiple: true,
    }),
    kind: Flags.option({ options: ['oauth', 'storefront'] as const })({
      description: 'kind of client',
      default: 'oauth',
    }),
    source: Flags.string({
      description: 'verification source; may be repeated, and users choose one; without it, the default',
      multiple: true,
    }),
    'brand-name': Flags.string({ description: 'name that users read; without it, the partner’s' }),
    'brand-color': Flags.string({ description: 'accent colour of the hosted pages', helpValue: '#0a7f5c' }),
    purpose: Flags.string({
      description: 'purpose that users read, in the partner’s words',
      helpValue: '"We may sell wine to adults only."',
    }),
    'privacy-url': Flags.string({
      description: 'the partner’s own privacy notice, which the pages link to',
      helpValue: 'https://shop.example/privacy',
    }),
    passkeys,
    'max-verification-age': duration({
      description: 'age at which claims are verified again; without it, that of SVC_CLAIM_FRESHNESS alone',
    }),
    ...openidFlags,
    'token-requests-per-minute': Flags.integer({ description: 'limit of the token endpoint (30)', min: 1 }),
    'userinfo-requests-per-minute': Flags.integer({ description: 'limit of userinfo (120)', min: 1 }),
    'out-file': outFile,
  };

  async run() {
    const { partner, key, name, kind, source, 'default-claims': defaultClaims } = this.flags;
    const wanted = {
      partnerId: partner,
      keyId: key,
      name,
      kind,
      redirectUris: this.flags['redirect-uri'],
      // The server checks the names of the claims.
      claims: splitWords(this.flags.claims) as never[],
      sources: source && splitWords(source),
      brandName: this.flags['brand-name'],
      brandColor: this.flags['brand-color'],
      purpose: this.flags.purpose,
      privacyUrl: this.flags['privacy-url'],
      passkeys: isOn(this.flags.passkeys),
      maxVerificationAgeSeconds: this.flags['max-verification-age'],
      openid: isOn(this.flags.openid),
      defaultClaims: defaultClaims && (splitWords(defaultClaims) as never[]),
      idTokenAlg: this.flags['id-token-alg'],
      tokenRequestsPerMinute: this.flags['token-requests-per-minute'],
      userinfoRequestsPerMinute: this.flags['userinfo-requests-per-minute'],
    };
    return this.showWithSecret('clientSecret', () => this.api.clients.create.mutate(wanted));
  }
}
