import { z } from 'zod';
import { parseDuration } from '../../../contracts/durations.ts';
import { uriFaults } from '../database/uri-options.ts';
import { imprintVariables } from './imprint.ts';
import { PeerAddress } from './peer-address.ts';
import { ProxyTrust } from './proxy-trust.ts';
import { ClaimFreshness } from './source-config.ts';

const port = z.coerce.number().int().min(0).max(65_535);
const startLimit = z.coerce.number().int().min(1).max(1_000_000);
const flag = z
  .enum(['on', 'off', 'true', 'false', '1', '0'])
  .transform((value) => ['on', 'true', '1'].includes(value));

/** `500ms`, `60s`, `5m` or `1h`, in milliseconds. */
const duration = z
  .string()
  .transform((text) => parseDuration(text, ['ms', 's', 'm', 'h']))
  .pipe(z.number({ error: 'expected a duration such as 60s or 5m' }));

export type ProcessRole = 'api' | 'admin' | 'worker';
const role: z.ZodType<ProcessRole, string> = z.string().pipe(z.enum(['api', 'admin', 'worker']));
const list = <T>(item: z.ZodType<T, string>) =>
  z
    .string()
    .transform((text) => text.split(',').map((part) => part.trim()))
    .pipe(z.array(item).min(1));

/** An issuer has no query and no fragment (RFC 8414 2). Its path becomes part of the paths of routes. */
const plainAddress = /^https?:\/\/[^/?#@]+(?:\/[\w.~/-]*)?$/;

const masterKey = z
  .string()
  .regex(/^[A-Za-z0-9+/_-]{43}=?$/, { error: 'expected 32 bytes in base64' })
  .transform((text) => new Uint8Array(Buffer.from(text, 'base64')));

/** The variables of the environment, each by itself. */
export const Environment = z.object({
  SVC_PORT: port.default(8080),
  SVC_HOST: z.string().default('127.0.0.1'),
  SVC_ADMIN_PORT: port.default(8081),
  SVC_ADMIN_HOST: z.string().default('127.0.0.1'),
  SVC_HEALTH_PORT: z.union([z.literal('off'), port]).optional(),
  SVC_PEER_ADDRESS: PeerAddress.optional(),
  SVC_ADMIN_ALLOW_PUBLIC: flag.default(false),
  SVC_BASE_URL: z
    .url({ protocol: /^https?$/ })
    .regex(plainAddress, {
      error: 'must have no query, fragment or user name, and a path of letters, digits, - . _ ~ and / only',
    })
    .optional(),
  SVC_ENVIRONMENT: z.enum(['development', 'staging', 'production']).default('development'),
  SVC_ROLES: list(role).default(['api', 'admin', 'worker']),
  MONGODB_URI: z
    .string()
    .regex(/^mongodb(\+srv)?:\/\//, { error: 'expected a mongodb:// address' })
    .superRefine((uri, context) => {
      for (const message of uriFaults(uri)) context.addIssue({ code: 'custom', message });
    })
    .optional(),
  SVC_DATA_DIR: z.string().min(1).default('.svc'),
  SVC_MASTER_KEY: list(masterKey).optional(),
  SVC_ADMIN_TOKEN: z
    .string()
    .refine((text) => text === 'off' || text.length >= 32, { error: 'expected at least 32 characters' })
    .optional(),
  SVC_WEBHOOK_RETRY_DELAYS: list(duration)
    .refine((delays) => delays.length === 2, { error: 'expected two durations, for attempts 2 and 3' })
    .default([60_000, 300_000]),
  SVC_LOCALHOST_WEBHOOKS: flag.optional(),
  SVC_PRICE_CENTS: z.coerce.number().int().min(0).max(1_000_000).default(50),
  SVC_STARTS_PER_MINUTE: z.union([z.literal('off'), startLimit]).default(300),
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
  SVC_DEMO_PORT: z.union([z.literal('off'), port]).default(8082),
  SVC_SMTP_URL: z.url({ protocol: /^smtps?$/ }).optional(),
  SVC_SMTP_FROM: z.email().optional(),
  SVC_DRAIN_DELAY: duration.optional(),
  SVC_LOG_LEVEL: z.enum(['trace', 'debug', 'info', 'warn', 'error', 'fatal', 'silent']).default('info'),
  SVC_TRUST_PROXY: ProxyTrust.default(false),
  OTEL_EXPORTER_OTLP_ENDPOINT: z.url({ protocol: /^https?$/ }).optional(),
});
export type Environment = z.infer<typeof Environment>;
