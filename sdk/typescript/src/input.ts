import { ArgumentError, ConfigurationError } from './errors.ts';

/** The settings from support. Each function names those that it needs; the others may be absent. */
export interface Settings {
  /** The base URL of the service, `SVC_BASE_URL`. */
  baseUrl: string;
  clientId?: string | undefined;
  clientSecret?: string | undefined;
  /** Registered for the client, byte for byte. */
  redirectUri?: string | undefined;
  apiKey?: string | undefined;
  webhookSecret?: string | undefined;
  integrationId?: string | undefined;
  integrationSecret?: string | undefined;
}

/** White space of a file or a variable around a value. */
const around = /^[\t-\r ]+|[\t-\r ]+$/g;

/** Throws the error of a missing or malformed setting. The value may be secret, so the message does not show it. */
export function refuseSetting(name: string, fault: string, code = 'missing_setting', baseUrl = ''): never {
  throw new ConfigurationError({
    code,
    message: `${code}: ${name} ${fault}`,
    retryable: false,
    docUrl: `${baseUrl}/docs/quickstart#what-is-in-the-file`,
  });
}

/** Trims a setting. A blank one counts as absent. @throws ConfigurationError if no header or address can hold it */
function readSetting(name: string, value: unknown): string | undefined {
  if (value === undefined || value === null) return undefined;
  if (typeof value !== 'string') refuseSetting(name, 'is not a text', 'malformed_setting');
  const text = value.replace(around, '');
  if (/[^\x21-\x7e]/.test(text))
    refuseSetting(name, 'has a character other than visible ASCII', 'malformed_setting');
  return text || undefined;
}

/** Trims and checks all settings, and removes slashes at the end of the base URL. @throws ConfigurationError */
export function readSettings(given: Settings): Settings {
  const read = (name: keyof Settings) => readSetting(name, given[name]);
  const baseUrl = read('baseUrl') ?? '';
  if (!/^https?:\/\/[^/?#@]+(?:\/[^?#]*)?$/.test(baseUrl))
    refuseSetting('baseUrl', 'is not set, or is no http or https address');
  return {
    baseUrl: baseUrl.replace(/\/+$/, ''),
    clientId: read('clientId'),
    clientSecret: read('clientSecret'),
    redirectUri: read('redirectUri'),
    apiKey: read('apiKey'),
    webhookSecret: read('webhookSecret'),
    integrationId: read('integrationId'),
    integrationSecret: read('integrationSecret'),
  };
}

/** Returns the error of an argument that cannot be sent. The message does not show its value. */
export const refusedArgument = (name: string, fault: string, baseUrl: string, cause?: unknown) =>
  new ArgumentError({
    code: 'malformed_argument',
    message: `malformed_argument: ${name} ${fault}`,
    retryable: false,
    docUrl: `${baseUrl}/docs/sdk-typescript`,
    cause,
  });

/** Returns the arguments of a call. @throws ArgumentError if one is not a text of printable ASCII, as RFC 6749 has them all */
export function checkArguments<T extends Record<string, string>>(given: T, baseUrl: string): T {
  for (const [name, value] of Object.entries<unknown>(given)) {
    if (typeof value !== 'string') throw refusedArgument(name, 'is not a text', baseUrl);
    if (/[^\x20-\x7e]/.test(value))
      throw refusedArgument(name, 'has a character other than printable ASCII', baseUrl);
  }
  return given;
}
