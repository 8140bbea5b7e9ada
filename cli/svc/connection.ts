import type { Connection } from '../connection/connection.ts';
import { type Profile, type Profiles, readProfiles } from '../connection/profiles.ts';
import { CommandError, exits, usageError } from '../errors/failure.ts';

interface Sources {
  flags: { url?: string | undefined; profile?: string | undefined; ca?: string | undefined };
  env: Readonly<Record<string, string | undefined>>;
  configDir: string;
}

const defaultUrl = 'http://localhost:8080';

const bare = (url: string): string => url.replace(/\/+$/, '');

/** Returns the named profile, the profile of this address, or the current profile. */
function chosenProfile(
  { current, profiles }: Profiles,
  { url, name }: { url?: string | undefined; name?: string | undefined },
) {
  if (name !== undefined) return name;
  const ofUrl = (one: string | undefined) => one !== undefined && profiles[one]?.url === url;
  if (url === undefined || ofUrl(current)) return current;
  return Object.keys(profiles).find(ofUrl);
}

/** Finds the address of the service, from the flag, the named profile, the environment, the current profile or the default. */
export function locateService({ flags, env, configDir }: Sources) {
  const kept = readProfiles(configDir);
  const named = flags.profile === undefined ? undefined : kept.profiles[flags.profile];
  const given: (readonly [string | undefined, string])[] = [
    [flags.url, '--url'],
    [named?.url, `profile ${flags.profile ?? ''}`],
    [env['SVC_BASE_URL'] || undefined, 'SVC_BASE_URL'],
  ];
  const [asked, askedFrom = ''] = given.find(([value]) => value !== undefined) ?? [];
  const name = chosenProfile(kept, { url: asked && bare(asked), name: flags.profile });
  const profile: Profile | undefined = name === undefined ? undefined : kept.profiles[name];
  const url = bare(asked ?? profile?.url ?? defaultUrl);
  const urlFrom = asked === undefined ? (profile ? `profile ${name ?? ''}` : 'the default') : askedFrom;
  if (!/^https?:\/\/[^/]/.test(url))
    throw usageError(`${url} (from ${urlFrom}) is not an http or https address`);
  return { url, urlFrom, name, profile, kept };
}

/** Finds the address and the token. A token is sent only to its server. @throws CommandError without a login or a usable address */
export function connectAsMember(sources: Sources): Connection {
  const { url, urlFrom, name, profile } = locateService(sources);
  if (profile?.url !== url)
    throw new CommandError({
      code: 'no_token',
      message: `Not signed in to ${url} (from ${urlFrom})`,
      exit: exits.notAuthorised,
      hint: `Sign in with \`svc login --url ${url}\`.`,
    });
  return {
    url,
    token: profile.token,
    urlFrom,
    tokenFrom: `profile ${name ?? ''}`,
    profileName: name ?? '',
    program: 'svc',
    apiPath: '/portal/trpc',
    ca: sources.flags.ca ?? profile.ca,
    environment: profile.environment,
    partnerId: profile.partnerId,
    live: profile.environment === 'production',
  };
}
