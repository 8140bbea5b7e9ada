import { mkdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';

/** A server that an operator or a member of a partner has signed in to. */
export interface Profile {
  url: string;
  token: string;
  /** Path of a file with the certificate authority of the server. */
  ca?: string | undefined;
  /** The environment of the server at sign-in. With `production`, every use of the profile counts as LIVE. */
  environment: string;
  /** The partner of a member; operators have none. */
  partnerId?: string | undefined;
}

/** The profiles that `login` stores. `current` is used if no profile is named. */
export interface Profiles {
  current?: string | undefined;
  profiles: Record<string, Profile>;
}

export const profilesFile = (configDir: string): string => join(configDir, 'profiles.json');

/** Reads the stored profiles. There are none before the first login. @throws SyntaxError if the file is damaged */
export function readProfiles(configDir: string): Profiles {
  try {
    const { profiles, current } = JSON.parse(readFileSync(profilesFile(configDir), 'utf8')) as Profiles;
    // Without a prototype, so that there is no profile `constructor` that was never stored.
    return { current, profiles: Object.assign(Object.create(null), profiles) };
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return { profiles: {} };
    throw error;
  }
}

/** Returns the profiles with a new or replaced profile, which becomes the current one. */
export function withProfile({ profiles }: Profiles, name: string, profile: Profile): Profiles {
  return { current: name, profiles: { ...profiles, [name]: profile } };
}

/** Returns the profiles without the named one, which is not the current one any more. */
export function withoutProfile({ current, profiles }: Profiles, name: string): Profiles {
  const { [name]: _removed, ...others } = profiles;
  return { current: current === name ? undefined : current, profiles: others };
}

/** Replaces the file atomically. Only its owner can read it, because it contains tokens. */
export function writeProfiles(configDir: string, profiles: Profiles): void {
  const file = profilesFile(configDir);
  mkdirSync(dirname(file), { recursive: true, mode: 0o700 });
  const draft = `${file}.${process.pid}`;
  writeFileSync(draft, `${JSON.stringify(profiles, null, 2)}\n`, { mode: 0o600 });
  renameSync(draft, file);
}
