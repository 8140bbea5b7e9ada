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

function optionsOf(uri: string): URLSearchParams {
  const [, query = ''] = uri.split('?', 2);
  return new URLSearchParams(query);
}

function refusalReason(option: string): string {
  const kind = reservedOptions.find(({ names }) => names.has(option.toLowerCase()));
  return kind?.reason ?? 'this service does not honour it';
}

/** One sentence for each reason, with the options of a connection string that it refuses. */
export function uriFaults(uri: string): string[] {
  const refused = [...new Set(optionsOf(uri).keys())].filter((name) => !honoured.has(name.toLowerCase()));
  return [...groupBy(refused, refusalReason)].map(
    ([reason, names]) => `must not set ${names.join(', ')}: ${reason}`,
  );
}

/** The value of an option in a connection string. Names of options are case-insensitive. */
export function uriOption(uri: string, name: (typeof honouredOptions)[number]): string | undefined {
  const isMeant = ([given]: [string, string]) => given.toLowerCase() === name.toLowerCase();
  const [, value] = [...optionsOf(uri)].find(isMeant) ?? [];
  return value;
}
