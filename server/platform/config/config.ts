import { resolve } from 'node:path';
import { closest } from '../../../contracts/closest.ts';
import { hiddenCharacters, nameOfCharacter } from '../../../contracts/input-text.ts';
import { readVariables, type Variables } from '../../../contracts/settings.ts';
import { ConfigError } from '../errors.ts';
import { adminHostFault, everyInterface, isPrivateHost } from './admin-host.ts';
import { Environment } from './environment.ts';
import { readIdentityWalletSources } from './identity-wallet-config.ts';
import { missingImprint, readImprint } from './imprint.ts';
import { readPasskeys } from './passkeys.ts';
import { anyFreePort } from './peer-address.ts';
import { type Given, readSecretFiles } from './secret-files.ts';
import { readOidcSources, SourceFault } from './source-config.ts';

/** The listener of probes and metrics. `byDefault`: not configured, so a port that is in use does not stop the start. */
interface HealthListener {
  host: string;
  port: number;
  byDefault: boolean;
}

const defaultHealthPort = 8083;

/** By default, a process has this listener only without the role `admin`: the admin listener has probes and metrics too. */
function healthOf({
  SVC_HEALTH_PORT: port,
  SVC_HOST: host,
  SVC_ROLES: roles,
}: Environment): HealthListener | undefined {
  if (port === 'off' || (port === undefined && roles.includes('admin'))) return undefined;
  return { host, port: port ?? defaultHealthPort, byDefault: port === undefined };
}

/** Parses one variable. Undefined if it is malformed, or if it is unset and has no default. */
function parseVariable<N extends keyof Environment>(given: Given, name: N): Environment[N] | undefined {
  return Environment.shape[name].safeParse(given[name]).data as Environment[N] | undefined;
}

const isSecretGiven = (given: Given, name: string) => Boolean(given[name] ?? given[`${name}_FILE`]);

/** Faults of settings that are required outside development. */
function missingSettings(given: Given): string[] {
  const environment = parseVariable(given, 'SVC_ENVIRONMENT');
  if (environment !== 'staging' && environment !== 'production') return [];
  const faults: string[] = [];
  if (!isSecretGiven(given, 'SVC_MASTER_KEY')) faults.push('SVC_MASTER_KEY: required outside development');
  // The token belongs to the first operator, whom only processes with the role `admin` serve.
  const servesOperators = parseVariable(given, 'SVC_ROLES')?.includes('admin') ?? true;
  if (servesOperators && !isSecretGiven(given, 'SVC_ADMIN_TOKEN')) {
    faults.push('SVC_ADMIN_TOKEN: required outside development');
  }
  if (!given['SVC_BASE_URL']) faults.push('SVC_BASE_URL: required outside development');
  if (parseVariable(given, 'SVC_BASE_URL')?.startsWith('http:')) {
    faults.push('SVC_BASE_URL: must be https outside development');
  }
  if (environment === 'staging') return faults;
  if (!isSecretGiven(given, 'MONGODB_URI')) {
    faults.push('MONGODB_URI: required in production; the embedded engine is for development and trial');
  }
  return [...faults, ...missingImprint(given)];
}

/** These hold JSON, where line ends and tabs are white space. */
const jsonVariables = ['SVC_OIDC_SOURCES', 'SVC_IDENTITY_WALLET_SOURCES', 'SVC_WALLET_SOURCES'];
const hiddenCharacter = new RegExp(`[${hiddenCharacters}]`, 'u');

/** Variables with a character that people cannot see: parsers and headers would treat it differently. */
function invisibleCharacters(given: Given): string[] {
  const names = Object.keys(Environment.shape).filter((name) => !jsonVariables.includes(name));
  return names.flatMap((name) => {
    const [found] = hiddenCharacter.exec(given[name] ?? '') ?? [];
    if (found === undefined) return [];
    const character = nameOfCharacter(found.codePointAt(0) ?? 0);
    return [`${name}: contains the invisible character ${character}; remove it`];
  });
}

/** A mail server needs a sender. */
function missingSender(given: Given): string[] {
  if (!isSecretGiven(given, 'SVC_SMTP_URL') || given['SVC_SMTP_FROM']) return [];
  return ['SVC_SMTP_FROM: required with SVC_SMTP_URL'];
}

/** The fault of an admin listener that would be open to the Internet without TLS. */
function exposedAdmin(given: Given): string[] {
  if (parseVariable(given, 'SVC_ADMIN_ALLOW_PUBLIC')) return [];
  const fault = adminHostFault(parseVariable(given, 'SVC_ADMIN_HOST') ?? '');
  if (fault === undefined) return [];
  return [`SVC_ADMIN_HOST: ${fault}; SVC_ADMIN_ALLOW_PUBLIC=on says that a proxy adds TLS`];
}

/** The faults of listeners that would have the same port of the same address. */
function sharedPorts(given: Given): string[] {
  const host = parseVariable(given, 'SVC_HOST');
  const listeners = [
    { role: 'api', name: 'SVC_PORT', host },
    { role: 'admin', name: 'SVC_ADMIN_PORT', host: parseVariable(given, 'SVC_ADMIN_HOST') },
    { role: undefined, name: 'SVC_HEALTH_PORT', host },
  ] as const;
  const roles = parseVariable(given, 'SVC_ROLES') ?? [];
  const opened = listeners
    .filter(({ role }) => role === undefined || roles.includes(role))
    .map((listener) => ({ ...listener, port: parseVariable(given, listener.name) }))
    .filter(({ port }) => typeof port === 'number' && port > 0);
  const overlap = (...hosts: unknown[]) =>
    hosts[0] === hosts[1] || hosts.some((each) => everyInterface.includes(String(each)));
  return opened.flatMap((one, n) => {
    const other = opened.slice(0, n).find(({ port, host }) => port === one.port && overlap(host, one.host));
    return other
      ? [`${one.name}: ${other.name} has the port ${one.port} too; set one of them to another`]
      : [];
  });
}

/** The fault of a private listener that would be open to the Internet. The address of all interfaces counts as public. */
function exposedPeer(given: Given): string[] {
  const peer = parseVariable(given, 'SVC_PEER_ADDRESS');
  if (peer === undefined || peer === 'off' || peer.host === undefined || isPrivateHost(peer.host)) return [];
  if (parseVariable(given, 'SVC_PEER_ALLOW_PUBLIC')) return [];
  return [
    `SVC_PEER_ADDRESS: ${peer.host} is not a loopback or private address; SVC_PEER_ALLOW_PUBLIC=on says that a firewall or network policy keeps strangers away`,
  ];
}

/** Reads the sources of a variable. A fault is returned and not thrown. */
function sourcesOf<T>(name: string, read: () => readonly T[]): { sources: readonly T[]; faults: string[] } {
  try {
    return { sources: read(), faults: [] };
  } catch (error) {
    if (!(error instanceof SourceFault)) throw error;
    return { sources: [], faults: [`${name}: ${error.message}`] };
  }
}

/**
 * The names of sources have to be distinct, because a session stores only the name. Each list was checked by itself, so a
 * duplicate is in both.
 */
function sharedNames(...lists: readonly (readonly { name: string }[])[]): string[] {
  const names = lists.flat().map(({ name }) => name);
  const duplicates = names.filter((name, index) => names.indexOf(name) !== index);
  return duplicates.map((name) => `SVC_IDENTITY_WALLET_SOURCES: ${name} is the name of another source`);
}

/** Reads SVC_IDENTITY_WALLET_SOURCES, or SVC_WALLET_SOURCES, which is its older name. */
function identityWalletsOf(given: Given) {
  const { SVC_IDENTITY_WALLET_SOURCES: current, SVC_WALLET_SOURCES: older } = given;
  const isOlderUsed = current === undefined && older !== undefined;
  const name = isOlderUsed ? 'SVC_WALLET_SOURCES' : 'SVC_IDENTITY_WALLET_SOURCES';
  const { sources, faults } = sourcesOf(name, () => readIdentityWalletSources(current ?? older, given));
  const areBothSet = current !== undefined && older !== undefined;
  if (!areBothSet) return { sources, faults };
  const fault = 'SVC_WALLET_SOURCES: is another name of SVC_IDENTITY_WALLET_SOURCES; set only one';
  return { sources, faults: [...faults, fault] };
}

/** Variables of the environment that are probably misspelt settings, each with the setting that was meant. */
export function misspeltSettings(environment: Variables): { name: string; meant: string }[] {
  const known = Object.keys(Environment.shape);
  const names = Object.keys(readVariables(environment)).filter((name) => /^(SVC|MONGO\w*)_/.test(name));
  return names
    .filter((name) => !known.includes(name.replace(/_FILE$/, '')))
    .flatMap((name) => {
      const meant = closest(name, known);
      return meant ? [{ name, meant }] : [];
    });
}

/**
 * Reads the configuration of this process from the environment. Values are trimmed, and a blank variable counts as unset.
 * Durations are in milliseconds, prices in cents.
 * @throws ConfigError, which names every wrong variable
 */
export function readConfig(environment: Variables) {
  const { given, faults: fileFaults } = readSecretFiles(readVariables(environment));
  // One malformed variable makes the whole result unusable. So the checks below parse the variables that they need by
  // themselves, and all faults are reported together.
  const parsed = Environment.safeParse(given);
  const malformed = parsed.error?.issues.map(({ path, message }) => `${String(path[0])}: ${message}`) ?? [];
  const oidc = sourcesOf('SVC_OIDC_SOURCES', () => readOidcSources(given['SVC_OIDC_SOURCES'], given));
  const identityWallets = identityWalletsOf(given);
  const port = parseVariable(given, 'SVC_PORT');
  const baseUrl = parseVariable(given, 'SVC_BASE_URL') ?? `http://localhost:${port}`;
  const passkeys = readPasskeys({
    portal: parseVariable(given, 'SVC_PORTAL'),
    passkeys: parseVariable(given, 'SVC_PASSKEYS'),
    rpId: parseVariable(given, 'SVC_PASSKEY_RP_ID'),
    baseUrl,
  });
  const faults = [
    ...malformed,
    ...invisibleCharacters(given),
    ...fileFaults,
    ...missingSettings(given),
    ...exposedAdmin(given),
    ...exposedPeer(given),
    ...sharedPorts(given),
    ...missingSender(given),
    ...passkeys.faults,
    ...oidc.faults,
    ...identityWallets.faults,
    ...sharedNames(oidc.sources, identityWallets.sources),
  ];
  if (!parsed.success || faults.length > 0) throw new ConfigError(faults);
  const env = parsed.data;
  const development = env.SVC_ENVIRONMENT === 'development';
  const [firstKey, ...otherKeys] = env.SVC_MASTER_KEY ?? [];
  const masterKeys: [Uint8Array, ...Uint8Array[]] | undefined = firstKey
    ? [firstKey, ...otherKeys]
    : undefined;

  return Object.freeze({
    environment: env.SVC_ENVIRONMENT,
    public: { host: env.SVC_HOST, port: env.SVC_PORT },
    admin: { host: env.SVC_ADMIN_HOST, port: env.SVC_ADMIN_PORT },
    /** A listener with the probes and this process's metrics; undefined for none. */
    health: healthOf(env),
    /** Where other processes reach this one; without a host, at the machine's address. Undefined: no process hands work over. */
    peerAllowsPublic: env.SVC_PEER_ALLOW_PUBLIC,
    peer: env.SVC_PEER_ADDRESS === 'off' ? undefined : (env.SVC_PEER_ADDRESS ?? { port: anyFreePort }),
    /** Issuer and root of all links, without a trailing slash. */
    baseUrl,
    roles: new Set(env.SVC_ROLES),
    mongodbUri: env.MONGODB_URI,
    /** An absolute path. */
    dataDir: resolve(env.SVC_DATA_DIR),
    /** Undefined only in development, where a key is generated into the data directory. */
    masterKeys,
    /**
     * `off`: the first operator has no token here. Undefined only in development, where one is generated. Outside development,
     * only a process without the role `admin` may lack the token, and it does not need one.
     */
    adminToken: env.SVC_ADMIN_TOKEN ?? (development ? undefined : 'off'),
    /** `localhost`: whether test endpoints may be at `http://localhost`. */
    webhooks: {
      retryDelays: env.SVC_WEBHOOK_RETRY_DELAYS,
      localhost: env.SVC_LOCALHOST_WEBHOOKS ?? development,
    },
    priceCents: env.SVC_PRICE_CENTS,
    /** Sessions that one address may start with one client in a minute; undefined for no limit. */
    startsPerMinute: env.SVC_STARTS_PER_MINUTE === 'off' ? undefined : env.SVC_STARTS_PER_MINUTE,
    oidcSources: oidc.sources,
    identityWalletSources: identityWallets.sources,
    /** How long claims stay fresh, in milliseconds; the default is 365 days. */
    claimLifetimes: env.SVC_CLAIM_FRESHNESS ?? {},
    /** Who runs this installation, for the hosted pages. */
    imprint: readImprint(env),
    /** Whether members of partners can sign in at `/portal`. */
    portal: env.SVC_PORTAL,
    /** The relying party of users' passkeys (WebAuthn), a host name; undefined if passkeys are off. */
    passkeyRpId: passkeys.rpId,
    /** The port of the demo partner's site; always undefined outside development. */
    demoPort: development && env.SVC_DEMO_PORT !== 'off' ? env.SVC_DEMO_PORT : undefined,
    /** At a stop: milliseconds from the end of readiness to the end of the listeners. */
    drainDelay: env.SVC_DRAIN_DELAY ?? (development ? 0 : 5_000),
    logLevel: env.SVC_LOG_LEVEL,
    /** Whose `X-Forwarded-For` is trusted: every client's, that of so many proxies, or of proxies in these ranges. */
    trustProxy: env.SVC_TRUST_PROXY,
    /** The mail server and the sender of warnings; undefined if no e-mails are sent. `missingSender` requires the sender. */
    smtp:
      env.SVC_SMTP_URL === undefined ? undefined : { url: env.SVC_SMTP_URL, from: env.SVC_SMTP_FROM ?? '' },
    /** The address for traces, by OTLP over HTTP; undefined if no traces are sent. */
    traceEndpoint: env.OTEL_EXPORTER_OTLP_ENDPOINT,
  });
}
export type Config = ReturnType<typeof readConfig>;
