import { resolve } from 'node:path';
import type { z } from 'zod';
import type { IdentityWalletSettings } from '../../../contracts/identity-wallet-sources.ts';
import type { OidcSettings } from '../../../contracts/oidc-sources.ts';
import { adminHostFault } from './admin-host.ts';
import { Environment, type ProcessRole } from './environment.ts';
import { readIdentityWalletSources } from './identity-wallet-config.ts';
import { type Imprint, missingImprint, readImprint } from './imprint.ts';
import { passkeyFaults } from './passkey-faults.ts';
import type { PeerAddress } from './peer-address.ts';
import type { ProxyTrust } from './proxy-trust.ts';
import { readSecretFiles } from './secret-files.ts';
import { type ClaimFreshness, readOidcSources, SourceFault } from './source-config.ts';

/** Where probes and metrics are. `byDefault`: not asked for, so that a port that is taken does not end the start. */
interface HealthListener {
  host: string;
  port: number;
  byDefault: boolean;
}

/** Without the admin role a process has no other listener with metrics. */
const defaultHealthPort = 8083;

function healthOf({
  SVC_HEALTH_PORT: port,
  SVC_HOST: host,
  SVC_ROLES: roles,
}: Environment): HealthListener | undefined {
  if (port === 'off' || (port === undefined && roles.includes('admin'))) return undefined;
  return { host, port: port ?? defaultHealthPort, byDefault: port === undefined };
}

/** What this process does and with what; frozen at start. Durations in milliseconds, prices in cents. */
export interface Config {
  environment: 'development' | 'staging' | 'production';
  public: { host: string; port: number };
  admin: { host: string; port: number };
  /** A listener with the probes and this process's metrics; undefined for none. */
  health: HealthListener | undefined;
  /** Where other processes reach this one; no host: the machine's own address. Undefined: each process writes for itself. */
  peer: PeerAddress | undefined;
  /** Issuer and root of all links, without a trailing slash. */
  baseUrl: string;
  roles: ReadonlySet<ProcessRole>;
  mongodbUri: string | undefined;
  /** Absolute. */
  dataDir: string;
  /** Undefined in development only: then one is generated into the data directory. */
  masterKeys: [Uint8Array, ...Uint8Array[]] | undefined;
  /** `off`: the first operator's token is retired, or unknown here. Undefined in development only: then one is generated. */
  adminToken: string | undefined;
  webhooks: { retryDelays: readonly number[]; localhost: boolean };
  priceCents: number;
  /** Sessions that one address may start with one client in a minute; undefined for no limit. */
  startsPerMinute: number | undefined;
  /** OpenID providers that authenticate users. */
  oidcSources: readonly OidcSettings[];
  /** European wallets that authenticate users. */
  identityWalletSources: readonly IdentityWalletSettings[];
  /** Milliseconds that verified claims hold, where not 365 days. */
  claimLifetimes: z.infer<typeof ClaimFreshness>;
  /** Who runs this installation, as the hosted pages say it. */
  imprint: Imprint;
  /** Whether members of partners can sign in at `/portal`. */
  portal: boolean;
  /** The relying party of users' passkeys (WebAuthn), a host name; undefined where there are none. */
  passkeyRpId: string | undefined;
  /** Where the demo partner's site listens; never outside development. */
  demoPort: number | undefined;
  /** Milliseconds between the end of readiness and the end of the listeners. */
  drainDelay: number;
  logLevel: string;
  /** Whose `X-Forwarded-For` is believed: of every client, of so many proxies, or of those in these ranges. */
  trustProxy: ProxyTrust;
  /** The mail server for warnings, and the sender; undefined for no e-mails. */
  smtp: { url: string; from: string } | undefined;
  /** Where traces are sent by OTLP over HTTP; undefined for no traces. */
  traceEndpoint: string | undefined;
}

/** All faults of the environment. */
export class ConfigError extends Error {
  readonly faults: readonly string[];
  constructor(faults: readonly string[]) {
    super(['The environment is not usable:', ...faults.map((fault) => `  ${fault}`)].join('\n'));
    this.name = 'ConfigError';
    this.faults = faults;
  }
}

type Given = Readonly<Record<string, string | undefined>>;

/** Whether it has the role `admin`: other processes can do without the first operator's token, which is an owner's. */
const servesOperators = (given: Given): boolean =>
  Environment.shape.SVC_ROLES.safeParse(given['SVC_ROLES']).data?.includes('admin') ?? true;

/** What development alone may leave out, or have otherwise. */
function missing(given: Given): string[] {
  const isGiven = (name: string) => Boolean(given[name] ?? given[`${name}_FILE`]);
  const environment = Environment.shape.SVC_ENVIRONMENT.safeParse(given['SVC_ENVIRONMENT']).data;
  const outside = environment === 'staging' || environment === 'production';
  const needed = servesOperators(given) ? ['SVC_MASTER_KEY', 'SVC_ADMIN_TOKEN'] : ['SVC_MASTER_KEY'];
  const secrets = outside ? needed.filter((name) => !isGiven(name)) : [];
  const faults = secrets.map((name) => `${name}: required outside development`);
  if (outside && !given['SVC_BASE_URL']) faults.push('SVC_BASE_URL: required outside development');
  if (outside && given['SVC_BASE_URL']?.startsWith('http:')) {
    faults.push('SVC_BASE_URL: must be https outside development');
  }
  if (environment === 'production' && !isGiven('MONGODB_URI')) {
    faults.push('MONGODB_URI: required in production; the embedded engine is for development and trial');
  }
  if (environment === 'production') faults.push(...missingImprint(given));
  return faults;
}

/** A sender, where there is a mail server. */
function withoutSender(given: Given): string[] {
  const isGiven = given['SVC_SMTP_URL'] || given['SVC_SMTP_URL_FILE'];
  return isGiven && !given['SVC_SMTP_FROM'] ? ['SVC_SMTP_FROM: required with SVC_SMTP_URL'] : [];
}

/** Whether the admin listener would be open to the Internet without TLS. */
function exposed(given: Given): string[] {
  const { SVC_ADMIN_ALLOW_PUBLIC, SVC_ADMIN_HOST } = Environment.shape;
  const fault = adminHostFault(SVC_ADMIN_HOST.parse(given['SVC_ADMIN_HOST']));
  if (fault === undefined || SVC_ADMIN_ALLOW_PUBLIC.safeParse(given['SVC_ADMIN_ALLOW_PUBLIC']).data)
    return [];
  return [`SVC_ADMIN_HOST: ${fault}; SVC_ADMIN_ALLOW_PUBLIC=on says that a proxy adds TLS`];
}

/** What `read` makes of a variable, or its fault. */
function sourcesOf<T>(name: string, read: () => readonly T[]): { sources: readonly T[]; faults: string[] } {
  try {
    return { sources: read(), faults: [] };
  } catch (error) {
    if (!(error instanceof SourceFault)) throw error;
    return { sources: [], faults: [`${name}: ${error.message}`] };
  }
}

/** A session knows its source by its name alone. */
function sharedNames(...lists: readonly (readonly { name: string }[])[]): string[] {
  const names = lists.flat().map(({ name }) => name);
  const twice = names.filter((name, index) => names.indexOf(name) !== index);
  return twice.map((name) => `SVC_IDENTITY_WALLET_SOURCES: ${name} is the name of another source`);
}

/**
 * Reads the environment. An empty variable counts as unset.
 * @throws ConfigError naming every wrong variable
 */
export function readConfig(environment: Readonly<Record<string, string | undefined>>): Config {
  const set = Object.fromEntries(Object.entries(environment).filter(([, value]) => value !== ''));
  const { given, faults: fileFaults } = readSecretFiles(set);
  const parsed = Environment.safeParse(given);
  const malformed = parsed.error?.issues.map(({ path, message }) => `${String(path[0])}: ${message}`) ?? [];
  const oidc = sourcesOf('SVC_OIDC_SOURCES', () => readOidcSources(given['SVC_OIDC_SOURCES'], given));
  const { SVC_WALLET_SOURCES: byOldName, SVC_IDENTITY_WALLET_SOURCES: identityWallets } = given;
  const walletVariable =
    identityWallets === undefined && byOldName ? 'SVC_WALLET_SOURCES' : 'SVC_IDENTITY_WALLET_SOURCES';
  const wallets = sourcesOf(walletVariable, () =>
    readIdentityWalletSources(identityWallets ?? byOldName, given),
  );
  const twice = identityWallets !== undefined && byOldName !== undefined;
  const all = [
    ...malformed,
    ...fileFaults,
    ...missing(given),
    ...exposed(given),
    ...withoutSender(given),
    ...passkeyFaults(given),
    ...oidc.faults,
    ...wallets.faults,
    ...(twice ? ['SVC_WALLET_SOURCES: is another name of SVC_IDENTITY_WALLET_SOURCES; set only one'] : []),
    ...sharedNames(oidc.sources, wallets.sources),
  ];
  if (!parsed.success || all.length > 0) throw new ConfigError(all);
  const env = parsed.data;
  const development = env.SVC_ENVIRONMENT === 'development';
  const baseUrl = (env.SVC_BASE_URL ?? `http://localhost:${env.SVC_PORT}`).replace(/\/+$/, '');
  const [firstKey, ...otherKeys] = env.SVC_MASTER_KEY ?? [];
  const masterKeys: Config['masterKeys'] = firstKey ? [firstKey, ...otherKeys] : undefined;

  return Object.freeze({
    environment: env.SVC_ENVIRONMENT,
    public: { host: env.SVC_HOST, port: env.SVC_PORT },
    admin: { host: env.SVC_ADMIN_HOST, port: env.SVC_ADMIN_PORT },
    health: healthOf(env),
    peer: env.SVC_PEER_ADDRESS === 'off' ? undefined : (env.SVC_PEER_ADDRESS ?? { port: 0 }),
    baseUrl,
    roles: new Set(env.SVC_ROLES),
    mongodbUri: env.MONGODB_URI,
    dataDir: resolve(env.SVC_DATA_DIR),
    masterKeys,
    adminToken: env.SVC_ADMIN_TOKEN ?? (development ? undefined : 'off'),
    webhooks: {
      retryDelays: env.SVC_WEBHOOK_RETRY_DELAYS,
      localhost: env.SVC_LOCALHOST_WEBHOOKS ?? development,
    },
    priceCents: env.SVC_PRICE_CENTS,
    startsPerMinute: env.SVC_STARTS_PER_MINUTE === 'off' ? undefined : env.SVC_STARTS_PER_MINUTE,
    oidcSources: oidc.sources,
    identityWalletSources: wallets.sources,
    claimLifetimes: env.SVC_CLAIM_FRESHNESS ?? {},
    imprint: readImprint(env),
    portal: env.SVC_PORTAL,
    passkeyRpId: env.SVC_PASSKEYS ? (env.SVC_PASSKEY_RP_ID ?? new URL(baseUrl).hostname) : undefined,
    demoPort: development && env.SVC_DEMO_PORT !== 'off' ? env.SVC_DEMO_PORT : undefined,
    drainDelay: env.SVC_DRAIN_DELAY ?? (development ? 0 : 5_000),
    logLevel: env.SVC_LOG_LEVEL,
    trustProxy: env.SVC_TRUST_PROXY,
    smtp:
      env.SVC_SMTP_URL === undefined ? undefined : { url: env.SVC_SMTP_URL, from: env.SVC_SMTP_FROM ?? '' },
    traceEndpoint: env.OTEL_EXPORTER_OTLP_ENDPOINT,
  });
}
