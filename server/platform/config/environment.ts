import { isIP } from 'node:net';
import { z } from 'zod';
import { absoluteUriFault } from '../../../contracts/absolute-uri.ts';
import { parseDuration } from '../../../contracts/durations.ts';
import { uriFaults } from '../database/uri-options.ts';
import { imprintVariables } from './imprint.ts';
import { PeerAddress } from './peer-address.ts';
import { ProxyTrust } from './proxy-trust.ts';
import { ClaimFreshness } from './source-config.ts';

/** A whole number in decimal digits. `Number` alone would also read an empty text, `0x1F90` and `5e1`. */
function wholeNumber(min: number, max: number) {
  const error = `expected a whole number from ${min} to ${max}, in digits`;
  return z
    .string()
    .regex(/^\d{1,9}$/, { error })
    .transform(Number)
    .pipe(z.number().min(min, { error }).max(max, { error }));
}

const port = wholeNumber(0, 65_535);
/** A schema of its own for `off`, whose error would hide that of the other values. */
const offOr = <T>(others: z.ZodType<T, string>) =>
  z.string().transform((text, context): T | 'off' => {
    if (text === 'off') return text;
    const parsed = others.safeParse(text);
    if (parsed.success) return parsed.data;
    context.addIssue({
      code: 'custom',
      message: `${parsed.error.issues[0]?.message ?? 'malformed'}, or off`,
    });
    return z.NEVER;
  });
const flag = z
  .enum(['on', 'off', 'true', 'false', '1', '0'])
  .transform((value) => ['on', 'true', '1'].includes(value));

const longestDuration = 7 * 86_400_000;

/** `500ms`, `60s`, `5m` or `1h`, in milliseconds. */
const duration = z
  .string()
  .transform((text) => parseDuration(text, ['ms', 's', 'm', 'h']))
  .pipe(z.number({ error: 'expected a duration such as 60s or 5m, of at most 7 days' }).max(longestDuration));

/** The name or the address of an interface of this machine. */
const host = z.string().refine((text) => isIP(text) !== 0 || /^[\w.-]+$/.test(text), {
  error: 'expected an IP address or a host name',
});

/** The roles that a service needs. One process may have several. */
export const processRoles = ['api', 'admin', 'worker'] as const;
export type ProcessRole = (typeof processRoles)[number];
const role: z.ZodType<ProcessRole, string> = z.string().pipe(z.enum(processRoles));
const list = <T>(item: z.ZodType<T, string>) =>
  z
    .string()
    .transform((text) => text.split(',').map((part) => part.trim()))
    .pipe(z.array(item).min(1));

/** An issuer has no query and no fragment (RFC 8414 2). Its path becomes part of the paths of routes. */
const plainAddress = /^https?:\/\/[^/?#@]+(?:\/[\w.~-]+)*\/*$/;

/** The address as URLs and headers carry it, without a slash at its end. Every part of the service uses this form alone. */
const baseUrl = z
  .url({ protocol: /^https?$/, error: 'expected an address such as https://verify.example', abort: true })
  .regex(plainAddress, {
    error: 'must have no query, fragment or user name, and a path of letters, digits, - . _ ~ and / only',
    abort: true,
  })
  .transform((text) => new URL(text).href.replace(/\/+$/, ''))
  .superRefine((address, context) => {
    // The host is written into headers, where `;` or `,` would begin another directive.
    const message = absoluteUriFault(address);
    if (message !== undefined) context.addIssue({ code: 'custom', message });
  });

export const masterKey = z
  .string()
  .regex(/^[A-Za-z0-9+/_-]{43}=?$/, { error: 'expected 32 bytes in base64' })
  .transform((text) => new Uint8Array(Buffer.from(text, 'base64')));

/** A token that an Authorization header can carry. */
export const bearerTokenText = z.string().regex(/^[\w.~+/=-]{32,512}$/, {
  error: 'expected 32 to 512 letters, digits and - . _ ~ + / =, which an Authorization header can carry',
});

/** Whether the user name and the password of a URL can be decoded. Otherwise, each e-mail would fail. */
function hasReadableCredentials(text: string): boolean {
  const { username, password } = new URL(text);
  try {
    decodeURIComponent(`${username}:${password}`);
    return true;
  } catch {
    return false;
  }
}

/** The variables of the environment, each by itself. */
export const Environment = z.object({
  SVC_PORT: port.default(8080),
  SVC_HOST: host.default('127.0.0.1'),
  SVC_ADMIN_PORT: port.default(8081),
  SVC_ADMIN_HOST: host.default('127.0.0.1'),
  SVC_HEALTH_PORT: offOr(port).optional(),
  SVC_PEER_ADDRESS: PeerAddress.optional(),
  SVC_ADMIN_ALLOW_PUBLIC: flag.default(false),
  SVC_PEER_ALLOW_PUBLIC: flag.default(false),
  SVC_BASE_URL: baseUrl.optional(),
  SVC_ENVIRONMENT: z.enum(['development', 'staging', 'production']).default('development'),
  SVC_ROLES: list(role).default([...processRoles]),
  MONGODB_URI: z
    .string()
    .regex(/^mongodb(\+srv)?:\/\//, { error: 'expected a mongodb:// address' })
    .superRefine((uri, context) => {
      for (const message of uriFaults(uri)) context.addIssue({ code: 'custom', message });
    })
    .optional(),
  SVC_DATA_DIR: z.string().min(1).default('.svc'),
  SVC_MASTER_KEY: list(masterKey).optional(),
  SVC_ADMIN_TOKEN: offOr(bearerTokenText).optional(),
  SVC_WEBHOOK_RETRY_DELAYS: list(duration)
    .refine((delays) => delays.length === 2, { error: 'expected two durations, for attempts 2 and 3' })
    .default([60_000, 300_000]),
  SVC_LOCALHOST_WEBHOOKS: flag.optional(),
  SVC_PRICE_CENTS: wholeNumber(0, 1_000_000).default(50),
  SVC_STARTS_PER_MINUTE: offOr(wholeNumber(1, 1_000_000)).default(300),
  SVC_OIDC_SOURCES: z.string().optional(),
  SVC_IDENTITY_WALLET_SOURCES: z.string().optional(),
  /** The older name of SVC_IDENTITY_WALLET_SOURCES. */
  SVC_WALLET_SOURCES: z.string().optional(),
  SVC_CLAIM_FRESHNESS: ClaimFreshness.optional(),
  ...imprintVariables,
  SVC_PORTAL: flag.default(false),
  /** Unset: on, if the base URL can have passkeys. */
  SVC_PASSKEYS: flag.optional(),
  SVC_PASSKEY_RP_ID: z
    .string()
    .regex(/^[a-z0-9-]+(\.[a-z0-9-]+)*$/, { error: 'expected a host name such as example.com' })
    .optional(),
  SVC_DEMO_PORT: offOr(port).default(8082),
  SVC_SMTP_URL: z
    .url({ protocol: /^smtps?$/, hostname: /./, error: 'expected smtp://host or smtps://host', abort: true })
    .refine(hasReadableCredentials, { error: 'must write % in the user name and password as %25' })
    .optional(),
  SVC_SMTP_FROM: z
    .email({ error: 'expected an e-mail address such as service@example.com, without a name' })
    .optional(),
  SVC_DRAIN_DELAY: duration.optional(),
  SVC_LOG_LEVEL: z.enum(['trace', 'debug', 'info', 'warn', 'error', 'fatal', 'silent']).default('info'),
  SVC_TRUST_PROXY: ProxyTrust.default(false),
  OTEL_EXPORTER_OTLP_ENDPOINT: z
    .url({ protocol: /^https?$/, error: 'expected an http:// or https:// address' })
    .optional(),
});
export type Environment = z.infer<typeof Environment>;
