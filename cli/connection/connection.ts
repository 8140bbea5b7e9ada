import { join } from 'node:path';
import { CommandError, exits, usageError } from '../errors/failure.ts';
import type { ProgramName } from '../program/program.ts';
import { findLocalServer } from './local-server.ts';
import { type Profile, type Profiles, readProfiles } from './profiles.ts';

/** The address and the token, each with the source from which it was read. */
export interface Connection {
  url: string;
  token: string;
  urlFrom: string;
  tokenFrom: string;
  /** Path of a file with the certificate authority of the server. */
  ca?: string | undefined;
  profileName?: string;
  /** Whether the profile is of a production server. */
  live: boolean;
  program: ProgramName;
  /** The path of the API at the address. */
  apiPath: '/trpc' | '/portal/trpc';
  /** The environment of the server, as the sign-in of a member named it. */
  environment?: string;
  /** The partner of a member; operators have none. */
  partnerId?: string | undefined;
}

interface Sources {
  flags: { url?: string | undefined; profile?: string | undefined; ca?: string | undefined };
  env: Readonly<Record<string, string | undefined>>;
  configDir: string;
  cwd: string;
  /** Id of the user who runs the command. */
  uid?: number | undefined;
  /** Called with a sentence for the person. */
  warn: (text: string) => void;
}

const defaultUrl = 'http://127.0.0.1:8081';

function chosenProfile({ flags, env }: Sources, { current, profiles }: Profiles) {
  const named = flags.profile ?? (env['SVCADMIN_PROFILE'] || undefined);
  const name = named ?? current;
  const profile: Profile | undefined = name === undefined ? undefined : profiles[name];
  if (named !== undefined && !profile) {
    const known = Object.keys(profiles).join(', ') || 'none';
    throw usageError(
      `No profile ${named}; known: ${known}`,
      'Make one with `svcadmin login --profile NAME --url URL`.',
    );
  }
  return { name, profile, named: named !== undefined };
}

function isLoopback(url: string): boolean {
  try {
    return ['127.0.0.1', 'localhost', '[::1]'].includes(new URL(url).hostname);
  } catch {
    return false;
  }
}

/** Finds the address of the server, from the flag, the environment, the profile, the local data directory or the default. */
export function locate(sources: Sources) {
  const { flags, env, configDir, cwd, uid = process.getuid?.() } = sources;
  const chosen = chosenProfile(sources, readProfiles(configDir));
  const { local, ignored } = findLocalServer({ env, cwd, uid });
  const localUrl: readonly [string | undefined, string] = [
    local?.url,
    join(local?.dataDir ?? '', 'admin-url'),
  ];
  const candidates: (readonly [string | undefined, string])[] = [
    [flags.url, '--url'],
    [env['SVCADMIN_URL'] || undefined, 'SVCADMIN_URL'],
    [chosen.profile?.url, `profile ${chosen.name ?? ''}`],
    localUrl,
    [defaultUrl, 'the default'],
  ];
  const source = candidates.find(([value]) => value !== undefined);
  const [found = defaultUrl, urlFrom = ''] = source ?? [];
  const url = found.replace(/\/+$/, '');
  if (!/^https?:\/\/[^/]/.test(url))
    throw usageError(`${url} (from ${urlFrom}) is not an http or https address`);
  // True only for a directory that was found, not for one that SVC_DATA_DIR names.
  const foundHere = source === localUrl && local?.named === false;
  return { url, urlFrom, chosen, local, ignored, foundHere };
}

/**
 * Finds the address and the token. The token of a profile is sent only to the profile's server, or to an address that was given
 * together with the profile. The token of a data directory is sent only to this machine. An address from a data directory
 * gets only the token of that directory.
 * @throws CommandError if there is no token, or if the address cannot be used
 */
export function connect(sources: Sources): Connection {
  const { warn, env } = sources;
  const { url, urlFrom, chosen, local, ignored, foundHere } = locate(sources);
  const { name, profile, named } = chosen;
  const profileToken = profile && (named || profile.url === url) ? profile.token : undefined;
  const isLocal = isLoopback(url) || url === local?.url;
  const ownToken: readonly [string | undefined, string] = [
    isLocal ? local?.token : undefined,
    join(local?.dataDir ?? '', 'admin-token'),
  ];
  const candidates: (readonly [string | undefined, string])[] = [
    [env['SVCADMIN_TOKEN'] || undefined, 'SVCADMIN_TOKEN'],
    [profileToken, `profile ${name ?? ''}`],
    ownToken,
  ];
  const usable = foundHere ? [ownToken] : candidates;
  const [token, tokenFrom] = usable.find(([value]) => value !== undefined) ?? [undefined, ''];
  const needsLocal = foundHere || urlFrom === 'the default' || !token || tokenFrom === ownToken[1];
  if (needsLocal) for (const sentence of ignored) warn(sentence);
  if (foundHere && env['SVCADMIN_TOKEN'])
    warn(
      `SVCADMIN_TOKEN is not sent to ${url} (from ${urlFrom}), which gets its own token only. To send it: --url ${url}`,
    );
  if (token === undefined) {
    throw new CommandError({
      code: 'no_token',
      message: `No operator token for ${url}`,
      exit: exits.notAuthorised,
      hint: 'Sign in with `svcadmin login`, set SVCADMIN_TOKEN, or run from the directory of a local server.',
    });
  }
  const usesProfile = profile?.url === url && name !== undefined;
  return {
    url,
    token,
    urlFrom,
    tokenFrom,
    ...(usesProfile && { profileName: name }),
    ca: sources.flags.ca ?? (env['SVCADMIN_CA'] || (profile?.url === url ? profile.ca : undefined)),
    live: usesProfile && profile.environment === 'production',
    program: 'svcadmin',
    apiPath: '/trpc',
  };
}
