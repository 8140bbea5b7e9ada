import { z } from 'zod';
import { ClaimName, ClaimValue, claimRegistry, isClaimName } from './claims.ts';
import { Mode } from './identifiers.ts';
import { SourceLabel, SourceName, sourceList } from './source-name.ts';

/** The path of a claim of the provider. Dots lead into objects, such as `address.country`. */
const path = z.string().min(1).max(256);
/**
 * If set, the claim is read only from `verified_claims` (OpenID Connect for Identity Assurance). Their trust framework must be in this
 * list, unless it is `any`.
 */
const verified = z.union([z.literal('any'), z.array(z.string().min(1)).min(1)]).optional();

/** A rule that derives one of our claims. A claim that cannot be derived is null. */
export const ClaimRule = z.union([
  /** The value of a claim of the provider, such as `true`, `"true"`, `"DE"` or `2`. */
  z.strictObject({ claim: path, verified }),
  /** For `age_N_plus`: whether N years have passed since a date such as `2001-02-28` or `2001`. */
  z.strictObject({ birthdate: path, verified }),
  /** True if there are `verified_claims`. */
  z.strictObject({ present: z.literal('verified_claims'), verified }),
  /** The value by the authentication context, for example `{"urn:example:loa:high": 3}`. */
  z.strictObject({ acr: z.record(z.string(), ClaimValue) }),
]);
export type ClaimRule = z.infer<typeof ClaimRule>;

export const ClaimRules = z.partialRecord(ClaimName, ClaimRule).superRefine((rules, context) => {
  for (const [name, rule] of Object.entries(rules)) {
    const fault = ruleFault(name, rule);
    if (fault) context.addIssue({ code: 'custom', path: [name], message: fault });
  }
});
export type ClaimRules = z.infer<typeof ClaimRules>;

function ruleFault(name: string, rule: ClaimRule): string | undefined {
  if ('birthdate' in rule && !name.startsWith('age_')) return 'only an age can come from a birth date';
  if (!('acr' in rule) || !isClaimName(name)) return undefined;
  const type = claimRegistry[name].nullable();
  for (const [acr, value] of Object.entries(rule.acr)) {
    if (!type.safeParse(value).success) return `${acr}: ${JSON.stringify(value)} is not a value of ${name}`;
  }
  return undefined;
}

const fromBirthdate: ClaimRule = { birthdate: 'birthdate' };
/** How each of our claims follows from the standard claims of OpenID Connect Core 5.1. Null if no standard claim tells it. */
const standardRules: Record<ClaimName, ClaimRule | null> = {
  age_16_plus: fromBirthdate,
  age_18_plus: fromBirthdate,
  age_21_plus: fromBirthdate,
  country: { claim: 'address.country' },
  identity_verified: { present: 'verified_claims' },
  assurance_level: null,
};

/** The default rules of a provider. */
export const usualClaims = Object.fromEntries(
  Object.entries(standardRules).filter(([, rule]) => rule !== null),
) as ClaimRules;

/** The failure reason of the session after a failure at the provider. */
const Failure = z.enum(['abandoned', 'document_rejected', 'source_error']);

/** Parameters that the protocol sets, and that the configuration must not set. */
const reserved = [
  'client_id',
  'code_challenge',
  'code_challenge_method',
  'nonce',
  'redirect_uri',
  'response_mode',
  'response_type',
  'scope',
  'state',
];

const isLocal = ({ hostname }: URL) => ['localhost', '127.0.0.1', '[::1]'].includes(hostname);
const issuer = z.url().refine(
  (text) => {
    const url = new URL(text);
    return url.protocol === 'https:' || (url.protocol === 'http:' && isLocal(url));
  },
  { error: 'must be https, or http on localhost' },
);

/** An OpenID provider that authenticates users. It is an item of the list in SVC_OIDC_SOURCES. */
export const OidcSource = z.strictObject({
  /** The name of the source. It is part of the redirect URI, `{base_url}/verify/callback/{name}`. */
  name: SourceName.refine((name) => name !== 'sandbox', { error: 'is the name of the sandbox' }).refine(
    (name) => name !== 'passkey',
    { error: 'is the name of sessions by passkey' },
  ),
  label: SourceLabel,
  /** The issuer, without `/.well-known/openid-configuration`. */
  issuer,
  clientId: z.string().min(1),
  /** The secret, or the environment variable that contains it. Without a secret, the client is public. */
  clientSecret: z.union([z.string().min(1), z.strictObject({ env: z.string().min(1) })]).optional(),
  clientAuthentication: z.enum(['client_secret_basic', 'client_secret_post']).default('client_secret_basic'),
  modes: z.array(Mode).min(1).default(['test', 'live']),
  scope: z
    .string()
    .regex(/(^| )openid( |$)/, { error: 'must hold openid' })
    .default('openid profile'),
  /** Further parameters of the authorization request, such as `acr_values`, `claims` or `prompt`. */
  parameters: z
    .record(z.string(), z.string())
    .default({})
    .refine((given) => !reserved.some((name) => Object.hasOwn(given, name)), {
      error: `must not hold ${reserved.join(', ')}`,
    })
    // The response is checked against `max_age`, so that it must be a number.
    .refine(({ max_age: seconds = '0' }) => /^\d{1,9}$/.test(seconds), {
      error: 'max_age must be a number of seconds',
    }),
  /** Whether claims are also read from the userinfo endpoint. */
  userinfo: z.boolean().default(true),
  claims: ClaimRules.default(usualClaims),
  /** The failure reason for each `error` of the provider. Other errors are a `source_error`. */
  failures: z
    .record(z.string(), Failure)
    .default({ access_denied: 'abandoned', unmet_authentication_requirements: 'document_rejected' }),
});

/** The sources in the file. Secrets in environment variables are not read yet. */
export const OidcSources = sourceList(OidcSource);

/** A source with its secret. */
export type OidcSettings = Omit<z.infer<typeof OidcSource>, 'clientSecret'> & {
  clientSecret: string | undefined;
};
