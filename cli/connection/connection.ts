import { join } from 'node:path';
import { CommandError, exits, usageError } from '../errors/failure.ts';
import type { ProgramName } from '../program/program.ts';
import { findLocalServer } from './local-server.ts';
import { type Profile, type Profiles, readProfiles } from './profiles.ts';

/** Address and token, each with the source that it was read from. */
export interface Connection {
  url: string;
  token: string;
  urlFrom: string;
  tokenFrom: string;
  /** A file with a certificate authority of the server's own. */
  ca?: string | undefined;
  profileName?: string;
  /** True for a profile of a production server. */
  live: boolean;
  program: ProgramName;
  /** Where the API is, below the address. */
  apiPath: '/trpc' | '/portal/trpc';
  /** As the sign-in of a member named it. */
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
  /** Takes a sentence for the person. */
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

/** Where the server is: flag, environment, profile, local data directory, default, in that order. */
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
  // Only a directory that was found, not one that SVC_DATA_DIR names.
  const foundHere = source === localUrl && local?.named === false;
  return { url, urlFrom, chosen, local, ignored, foundHere };
}

/**
 * A profile's token goes to the profile's server only, or to the one that the profile was named for. A data
 * directory's token goes to this machine only. An address that was found in a data directory gets that directory's
 * token only.
 * @throws CommandError without a token, or with an unusable address
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
