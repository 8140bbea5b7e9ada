import { readFileSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { CommandError, exits, usageError } from './failure.ts';
import { type Profile, type Profiles, readProfiles } from './profiles.ts';

/** Where the server is, how this operator is known there, and what told so. */
export interface Connection {
  url: string;
  token: string;
  urlFrom: string;
  tokenFrom: string;
  profileName?: string;
  /** True for a profile of a production server. */
  live: boolean;
}

interface Sources {
  flags: { url?: string | undefined; profile?: string | undefined };
  env: Readonly<Record<string, string | undefined>>;
  configDir: string;
  cwd: string;
}

const defaultUrl = 'http://127.0.0.1:8081';

function readLine(path: string): string | undefined {
  try {
    return readFileSync(path, 'utf8').trim() || undefined;
  } catch {
    return undefined;
  }
}

/** The data directory of a local server: SVC_DATA_DIR, or the nearest `.svc` from the working directory up. */
function findDataDir({ env, cwd }: Pick<Sources, 'env' | 'cwd'>): string | undefined {
  if (env['SVC_DATA_DIR']) return resolve(cwd, env['SVC_DATA_DIR']);
  for (let directory = cwd; ; directory = dirname(directory)) {
    const candidate = join(directory, '.svc');
    if (readLine(join(candidate, 'admin-token'))) return candidate;
    if (dirname(directory) === directory) return undefined;
  }
}

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
  const { flags, env, configDir } = sources;
  const chosen = chosenProfile(sources, readProfiles(configDir));
  const dataDir = findDataDir(sources);
  const localUrl = dataDir && readLine(join(dataDir, 'admin-url'));
  const candidates: [string | undefined, string][] = [
    [flags.url, '--url'],
    [env['SVCADMIN_URL'] || undefined, 'SVCADMIN_URL'],
    [chosen.profile?.url, `profile ${chosen.name ?? ''}`],
    [localUrl, `${dataDir ?? ''}/admin-url`],
  ];
  const [found, urlFrom] = candidates.find(([value]) => value !== undefined) ?? [defaultUrl, 'the default'];
  const url = (found ?? defaultUrl).replace(/\/+$/, '');
  if (!/^https?:\/\/[^/]/.test(url))
    throw usageError(`${url} (from ${urlFrom}) is not an http or https address`);
  return { url, urlFrom, chosen, dataDir, localUrl };
}

/**
 * A token goes only where it belongs: a profile's to the profile's server (or where the profile was named for),
 * a data directory's to this machine.
 * @throws CommandError without a token, or with an unusable address
 */
export function connect(sources: Sources): Connection {
  const { url, urlFrom, chosen, dataDir, localUrl } = locate(sources);
  const { name, profile, named } = chosen;
  const profileToken = profile && (named || profile.url === url) ? profile.token : undefined;
  const isLocal = isLoopback(url) || url === localUrl;
  const candidates: [string | undefined, string][] = [
    [sources.env['SVCADMIN_TOKEN'] || undefined, 'SVCADMIN_TOKEN'],
    [profileToken, `profile ${name ?? ''}`],
    [dataDir && isLocal ? readLine(join(dataDir, 'admin-token')) : undefined, `${dataDir ?? ''}/admin-token`],
  ];
  const [token, tokenFrom] = candidates.find(([value]) => value !== undefined) ?? [undefined, ''];
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
    live: usesProfile && profile.environment === 'production',
  };
}
