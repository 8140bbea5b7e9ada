import { mkdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';

/** One server that an operator, or a member of a partner, signed in to. */
export interface Profile {
  url: string;
  token: string;
  /** A file with a certificate authority of the server's own. */
  ca?: string;
  /** Environment of the server when signing in; `production` makes every use of the profile a LIVE one. */
  environment: string;
  /** The partner of a member; operators have none. */
  partnerId?: string;
}

/** What `login` keeps. `current` is used where no profile is named. */
export interface Profiles {
  current?: string;
  profiles: Record<string, Profile>;
}

const fileIn = (configDir: string): string => join(configDir, 'profiles.json');

/** The kept profiles; none before the first login. @throws SyntaxError where the file is damaged */
export function readProfiles(configDir: string): Profiles {
  try {
    return JSON.parse(readFileSync(fileIn(configDir), 'utf8')) as Profiles;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return { profiles: {} };
    throw error;
  }
}

/** Replaces the file at once, readable by its owner only: it holds tokens. */
export function writeProfiles(configDir: string, profiles: Profiles): void {
  const file = fileIn(configDir);
  mkdirSync(dirname(file), { recursive: true, mode: 0o700 });
  const draft = `${file}.${process.pid}`;
  writeFileSync(draft, `${JSON.stringify(profiles, null, 2)}\n`, { mode: 0o600 });
  renameSync(draft, file);
}
