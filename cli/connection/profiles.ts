import { mkdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { CommandError } from '../errors/failure.ts';
import { textOf } from '../flags/input-file.ts';

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

const isObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

const isProfile = (value: unknown): boolean =>
  isObject(value) && typeof value['url'] === 'string' && typeof value['token'] === 'string';

/** Parses the content of the file. Undefined if it is damaged. */
function parseProfiles(text: string): Profiles | undefined {
  let stored: unknown;
  try {
    stored = JSON.parse(text);
  } catch {
    return undefined;
  }
  if (!isObject(stored) || !isObject(stored['profiles'])) return undefined;
  if (!Object.values(stored['profiles']).every(isProfile)) return undefined;
  const { current, profiles } = stored as unknown as Profiles;
  // Without a prototype, so that there is no profile `constructor` that was never stored.
  return { current, profiles: Object.assign(Object.create(null), profiles) };
}

/** Reads the stored profiles. There are none before the first login. @throws CommandError if the file is damaged */
export function readProfiles(configDir: string): Profiles {
  const file = profilesFile(configDir);
  let text: string;
  try {
    text = textOf(readFileSync(file));
  } catch (error) {
    const { code = '' } = error as NodeJS.ErrnoException;
    // Users of services have a home that is missing, or `/dev/null`.
    if (['ENOENT', 'ENOTDIR'].includes(code)) return { profiles: {} };
    throw error;
  }
  const stored = parseProfiles(text);
  if (stored) return stored;
  throw new CommandError({
    code: 'failure',
    message: `The file of your profiles is damaged: ${file}`,
    // A login does not replace it, because it may have tokens that are nowhere else.
    hint: 'Repair it, or move it away, and sign in again with `svcadmin login`.',
  });
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
