import { groupBy } from '../batching/group-by.ts';

/** Options of a connection string that this service accepts. All others are refused; docs/operations.md lists both. */
export const honouredOptions = [
  ...['replicaSet', 'directConnection', 'srvServiceName', 'srvMaxHosts', 'localThresholdMS'],
  ...['serverMonitoringMode', 'authSource', 'authMechanism', 'authMechanismProperties'],
  ...['tls', 'ssl', 'tlsCAFile', 'tlsCRLFile', 'tlsCertificateKeyFile', 'tlsCertificateKeyFilePassword'],
  ...['tlsInsecure', 'tlsAllowInvalidCertificates', 'tlsAllowInvalidHostnames'],
  ...['proxyHost', 'proxyPort', 'proxyUsername', 'proxyPassword', 'compressors', 'zlibCompressionLevel'],
  ...['maxPoolSize', 'minPoolSize', 'maxConnecting', 'maxIdleTimeMS'],
  ...['retryWrites', 'retryReads', 'appName', 'monitorCommands'],
] as const;

const named = (...names: string[]) => new Set(names.map((name) => name.toLowerCase()));
const honoured = named(...honouredOptions);
/** Options that are true or false. `connect` sets some itself, and the driver does not check what it overrides. */
const switches = named(
  ...['directConnection', 'tls', 'ssl', 'tlsInsecure', 'tlsAllowInvalidCertificates'],
  ...['tlsAllowInvalidHostnames', 'retryWrites', 'retryReads', 'monitorCommands'],
);

/** Options that are refused for a special reason. */
const reservedOptions: readonly { names: ReadonlySet<string>; reason: string }[] = [
  {
    names: named(
      ...['w', 'journal', 'j', 'fsync', 'wtimeout', 'wtimeoutMS', 'writeConcern', 'readConcern'],
      ...['readConcernLevel', 'readPreference', 'readPreferenceTags', 'maxStalenessSeconds'],
    ),
    reason: 'this service decides how durable writes are',
  },
  {
    names: named(
      ...['serverSelectionTimeoutMS', 'connectTimeoutMS', 'waitQueueTimeoutMS', 'socketTimeoutMS'],
      ...['timeoutMS', 'heartbeatFrequencyMS', 'minHeartbeatFrequencyMS'],
    ),
    reason: 'this service decides how long it waits, so that it answers a billable request within 5 s',
  },
];

/** An address up to its options, read as the driver reads it. A password may contain `?`, which the driver then refuses. */
const beforeOptions = /^[^:]*:\/\/(?:[^:@]*(?::[^@]*)?@)?[^?]*\??/;

const optionsOf = (uri: string): URLSearchParams => new URLSearchParams(uri.replace(beforeOptions, ''));

function refusalReason(option: string): string {
  const kind = reservedOptions.find(({ names }) => names.has(option.toLowerCase()));
  return kind?.reason ?? 'this service does not honour it';
}

const defaultDatabase = 'svc';

/** The name of the database in a connection string. @throws URIError if it is malformed */
export function databaseName(uri: string): string {
  const name = /^mongodb(?:\+srv)?:\/\/[^/]*\/(?<name>[^?]*)/.exec(uri)?.groups?.['name'];
  return name ? decodeURIComponent(name) : defaultDatabase;
}

/** The fault of the database's name. It may be a part of a password, so it is not shown. */
function nameFaults(uri: string): string[] {
  let name: string;
  try {
    name = databaseName(uri);
  } catch {
    return []; // The driver explains it.
  }
  // MongoDB keeps both for itself. It does not replicate `local`.
  if (name === 'local' || name === 'config') return [`must not use the database ${name} of MongoDB itself`];
  const isUsable = !/[/\\. "$*<>:|?]/.test(name) && Buffer.byteLength(name) <= 63;
  return isUsable
    ? []
    : ['must name a database without / \\ . " $ * < > : | ? and spaces, in at most 63 bytes'];
}

/**
 * One sentence for each reason, with the options of a connection string that it refuses, and one for each option with a wrong
 * value. If one cannot be the name of an option, it may be a part of a password with `@`, so none is shown.
 */
export function uriFaults(uri: string): string[] {
  const options = [...optionsOf(uri)];
  const names = [...new Set(options.map(([name]) => name))];
  if (!names.every((name) => /^[a-z][a-z\d]*$/i.test(name)))
    return [
      'has an option whose name has other characters than letters and digits: write @ : / ? # and % in the password as %40 %3A %2F %3F %23 and %25',
    ];
  const refused = names.filter((name) => !honoured.has(name.toLowerCase()));
  const unclear = options
    .filter(([name, value]) => switches.has(name.toLowerCase()) && value !== 'true' && value !== 'false')
    .map(([name]) => `must set ${name} to true or false`);
  return [
    ...nameFaults(uri),
    ...[...groupBy(refused, refusalReason)].map(
      ([reason, names]) => `must not set ${names.join(', ')}: ${reason}`,
    ),
    ...unclear,
  ];
}

/** The value of an option in a connection string. Names of options are case-insensitive. */
export function uriOption(uri: string, name: (typeof honouredOptions)[number]): string | undefined {
  const isMeant = ([given]: [string, string]) => given.toLowerCase() === name.toLowerCase();
  const [, value] = [...optionsOf(uri)].find(isMeant) ?? [];
  return value;
}
