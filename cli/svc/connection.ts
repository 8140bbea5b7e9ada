import {
  type Connection,
  defaultOrigin,
  firstSet,
  requireAddress,
  type Sources,
  withoutSlash,
} from '../connection/connection.ts';
import { type Profile, type Profiles, readProfiles } from '../connection/profiles.ts';
import { CommandError } from '../errors/failure.ts';

type MemberSources = Pick<Sources, 'flags' | 'env' | 'configDir'>;

const defaultAddress = { value: 'http://localhost:8080', from: defaultOrigin };

/** Returns the name of the profile for an address: the current profile, if it has the address, or another one. */
function profileFor(url: string, { current, profiles }: Profiles): string | undefined {
  const hasAddress = (name: string) => profiles[name]?.url === url;
  if (current !== undefined && hasAddress(current)) return current;
  return Object.keys(profiles).find(hasAddress);
}

/** Finds the address of the service, from the flag, the named profile, the environment, the current profile or the default. */
export function locateService({ flags, env, configDir }: MemberSources) {
  const stored = readProfiles(configDir);
  const profileNamed = (name = ''): Profile | undefined => stored.profiles[name];
  const givenAddress = firstSet([
    { value: flags.url, from: '--url' },
    { value: profileNamed(flags.profile)?.url, from: `profile ${flags.profile ?? ''}` },
    { value: env['SVC_BASE_URL'], from: 'SVC_BASE_URL' },
  ]);
  // A given address selects the profile with its token. Without a given one, the current profile also has the address.
  const nameForAddress = givenAddress ? profileFor(withoutSlash(givenAddress.value), stored) : stored.current;
  const profileName = flags.profile ?? nameForAddress ?? '';
  const profile = profileNamed(profileName);
  const addressOfProfile = profile && { value: profile.url, from: `profile ${profileName}` };
  const address = givenAddress ?? addressOfProfile ?? defaultAddress;
  const url = withoutSlash(address.value);
  requireAddress({ value: url, from: address.from });
  return { url, urlFrom: address.from, profileName, profile };
}

/**
 * Finds the address and the token. A token is sent only to the server that issued it.
 * @throws CommandError if there is no login, or if the address cannot be used
 */
export function connectAsMember(sources: MemberSources): Connection {
  const { url, urlFrom, profileName, profile } = locateService(sources);
  if (profile?.url !== url)
    throw new CommandError({
      code: 'no_token',
      message: `Not signed in to ${url} (from ${urlFrom})`,
      hint: `Sign in with \`svc login --url ${url}\`.`,
    });
  return {
    url,
    token: profile.token,
    urlFrom,
    tokenFrom: `profile ${profileName}`,
    profileName,
    program: 'svc',
    apiPath: '/portal/trpc',
    ca: sources.flags.ca ?? profile.ca,
    environment: profile.environment,
    partnerId: profile.partnerId,
    live: profile.environment === 'production',
  };
}
