import { join } from 'node:path';
import type { Variables } from '../../contracts/settings.ts';
import { CommandError, usageError } from '../errors/failure.ts';
import type { ProgramName } from '../program/program.ts';
import { findLocalServer } from './local-server.ts';
import { type Profile, type Profiles, readProfiles } from './profiles.ts';

/** The address and the token. `urlFrom` and `tokenFrom` name where each was set, such as `--url`. */
export interface Connection {
  url: string;
  token: string;
  urlFrom: string;
  tokenFrom: string;
  /** Path of a file with the certificate authority of the server. */
  ca?: string | undefined;
  profileName?: string | undefined;
  /** Whether the profile is of a production server. */
  live: boolean;
  program: ProgramName;
  apiPath: '/trpc' | '/portal/trpc';
  /** The environment of the server, as the sign-in of a member named it. */
  environment?: string;
  /** The partner of a member; operators have none. */
  partnerId?: string | undefined;
}

/** The flags that name the server. `ca` is the path of a file with its certificate authority. */
export interface ConnectionFlags {
  url?: string | undefined;
  profile?: string | undefined;
  ca?: string | undefined;
}

export interface Sources {
  flags: ConnectionFlags;
  /** As `readVariables` gives them: trimmed, and without blank ones. */
  env: Variables;
  configDir: string;
  cwd: string;
  /** Id of the user who runs the command. */
  uid?: number | undefined;
  /** Called with a sentence for the person. */
  warn: (text: string) => void;
}

/** The origin of the default address, for messages. */
export const defaultOrigin = 'the default';
const defaultAddress = { value: 'http://127.0.0.1:8081', from: defaultOrigin };

/** A value, and where it was set, such as `--url`. */
interface Setting<Value = string | undefined> {
  value: Value;
  from: string;
}

/** Returns the first setting that has a value. */
export function firstSet(settings: readonly Setting[]): Setting<string> | undefined {
  return settings.find((setting): setting is Setting<string> => setting.value !== undefined);
}

/** @throws CommandError if the value is not an address */
export function requireAddress({ value, from }: Setting<string>): void {
  if (!/^https?:\/\/[^/\s\p{C}][^\s\p{C}]*$/u.test(value) || !URL.canParse(value))
    throw usageError(`${JSON.stringify(value)} (from ${from}) is not an http or https address`);
}

/** @throws CommandError if the token has a character that no Authorization header can carry */
function requireToken({ value, from }: Setting<string>): void {
  if (!/^[\x21-\x7e]+$/.test(value))
    throw usageError(
      `The token from ${from} contains a space, a control character or a letter that is not ASCII`,
    );
}

/** Removes the slashes at the end of an address. */
export const withoutSlash = (url: string): string => url.replace(/\/+$/, '');

/** Chooses the profile that the person requests, or the current one. @throws CommandError if the requested one does not exist */
function chooseProfile({ flags, env }: Sources, { current, profiles }: Profiles) {
  const requestedName = flags.profile ?? env['SVCADMIN_PROFILE'];
  const name = requestedName ?? current;
  const profile: Profile | undefined = name === undefined ? undefined : profiles[name];
  if (requestedName !== undefined && !profile) {
    const known = Object.keys(profiles).join(', ') || 'none';
    throw usageError(
      `No profile ${requestedName}; known: ${known}`,
      'Make one with `svcadmin login --profile NAME --url URL`.',
    );
  }
  return { name, profile, isRequested: requestedName !== undefined };
}

function isLoopback(url: string): boolean {
  try {
    return ['127.0.0.1', 'localhost', '[::1]'].includes(new URL(url).hostname);
  } catch {
    return false;
  }
}

/** Finds the address of the server, from the flag, the environment, the profile, the local data directory or the default. */
export function locateServer(sources: Sources) {
  const { flags, env, configDir, cwd, uid = process.getuid?.() } = sources;
  const chosen = chooseProfile(sources, readProfiles(configDir));
  const { local, ignored } = findLocalServer({ env, cwd, uid });
  const givenAddress = firstSet([
    { value: flags.url, from: '--url' },
    { value: env['SVCADMIN_URL'], from: 'SVCADMIN_URL' },
    { value: chosen.profile?.url, from: `profile ${chosen.name ?? ''}` },
  ]);
  const addressOfDirectory =
    local?.url === undefined ? undefined : { value: local.url, from: join(local.dataDir, 'admin-url') };
  const address = givenAddress ?? addressOfDirectory ?? defaultAddress;
  const url = withoutSlash(address.value);
  requireAddress({ value: url, from: address.from });
  // Another user may have made a directory that is found, so its address gets only the token in it. A directory that
  // SVC_DATA_DIR names is trusted, because the person has chosen it.
  const isFromFoundDirectory = address === addressOfDirectory && local?.isFromVariable === false;
  return { url, urlFrom: address.from, chosen, local, ignored, isFromFoundDirectory };
}

type Location = ReturnType<typeof locateServer>;

/** Chooses the token for an address, so that no server gets the token of another one. */
function chooseToken({ url, chosen, local, isFromFoundDirectory }: Location, env: Sources['env']) {
  const { name, profile, isRequested } = chosen;
  // The token of a data directory is sent only to this machine, or to the address in that directory.
  const isLocal = isLoopback(url) || url === local?.url;
  const tokenOfDirectory = {
    value: isLocal ? local?.token : undefined,
    from: join(local?.dataDir ?? '', 'admin-token'),
  };
  if (isFromFoundDirectory) return { token: firstSet([tokenOfDirectory]), isOfDirectory: true };
  // The token of a profile is sent only to its server, or to an address that was given together with the profile.
  const mayUseProfile = isRequested || profile?.url === url;
  const token = firstSet([
    { value: env['SVCADMIN_TOKEN'], from: 'SVCADMIN_TOKEN' },
    { value: mayUseProfile ? profile?.token : undefined, from: `profile ${name ?? ''}` },
    tokenOfDirectory,
  ]);
  return { token, isOfDirectory: token === tokenOfDirectory };
}

/** Finds the address and the token. @throws CommandError if there is no token, or if the address cannot be used */
export function connect(sources: Sources): Connection {
  const { flags, warn, env } = sources;
  const location = locateServer(sources);
  const { url, urlFrom, chosen, ignored, isFromFoundDirectory } = location;
  const { token, isOfDirectory } = chooseToken(location, env);
  // Without a named server, the person may expect that of an ignored directory. So the command says why it was ignored.
  const mayExpectIgnored = isOfDirectory || urlFrom === defaultOrigin || !token;
  if (mayExpectIgnored) for (const sentence of ignored) warn(sentence);
  if (isFromFoundDirectory && env['SVCADMIN_TOKEN'])
    warn(
      `SVCADMIN_TOKEN is not sent to ${url} (from ${urlFrom}), which gets its own token only. To send it: --url ${url}`,
    );
  if (!token) {
    throw new CommandError({
      code: 'no_token',
      message: `No operator token for ${url}`,
      hint: 'Sign in with `svcadmin login`, set SVCADMIN_TOKEN, or run from the directory of a local server.',
    });
  }
  requireToken(token);
  const { name } = chosen;
  // The settings of a profile are about its server, and do not apply to another one.
  const profile = chosen.profile?.url === url ? chosen.profile : undefined;
  return {
    url,
    token: token.value,
    urlFrom,
    tokenFrom: token.from,
    profileName: profile && name,
    ca: flags.ca ?? env['SVCADMIN_CA'] ?? profile?.ca,
    live: profile?.environment === 'production',
    program: 'svcadmin',
    apiPath: '/trpc',
  };
}
