import { readFileSync } from 'node:fs';
import { z } from 'zod';
import { ClaimName, claimNames } from '../../../contracts/claims.ts';
import { parseDuration } from '../../../contracts/durations.ts';
import { type OidcSettings, OidcSources } from '../../../contracts/oidc-sources.ts';
import { type Given, SecretFileFault, secretOf } from './secret-files.ts';

/** How long a claim is fresh by default, in milliseconds: without SVC_CLAIM_FRESHNESS. */
export const defaultClaimLifetimeMs = 365 * 86_400_000;

/** Parses lifetimes such as `365d,country=30d` into milliseconds: a default, and those of single claims. */
export const ClaimFreshness = z
  .string()
  .transform((text) => text.split(',').map((part) => part.trim().split('=')))
  .pipe(
    z.array(
      z.union(
        [
          // A duration without the name of a claim is the default.
          z.tuple([z.string()]).transform(([duration]) => ['default', duration] as const),
          z.tuple([ClaimName, z.string()]),
        ],
        { error: `expected 365d or country=30d, with a comma between them; claims: ${claimNames.join(' ')}` },
      ),
    ),
  )
  .transform((pairs, context) => {
    const lifetimes: Partial<Record<ClaimName | 'default', number>> = {};
    for (const [name, duration] of pairs) {
      const lifetime = parseDuration(duration, ['d', 'h']);
      if (lifetime === undefined) {
        context.addIssue({ code: 'custom', message: `${duration} is not a duration such as 365d or 12h` });
      } else if (name in lifetimes) {
        context.addIssue({
          code: 'custom',
          message: `has two durations for ${name === 'default' ? 'all claims' : name}`,
        });
      } else {
        lifetimes[name] = lifetime;
      }
    }
    return lifetimes;
  });

/** A fault in a list of verification sources. */
export class SourceFault extends Error {}

/**
 * Reads the items of a variable that holds a JSON list, or the path of a file with one.
 * @throws SourceFault if the list is unreadable or malformed
 */
export function readSourceList<T>(text: string | undefined, schema: z.ZodType<readonly T[]>): readonly T[] {
  if (text === undefined) return [];
  let given: unknown;
  try {
    given = JSON.parse(text.trimStart().startsWith('[') ? text : readFileSync(text, 'utf8'));
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException; // Errors of the file system have a code, those of the parser none.
    throw new SourceFault(code === undefined ? 'is not JSON' : `cannot be read (${code})`);
  }
  const parsed = schema.safeParse(given);
  if (!parsed.success) {
    const [first] = parsed.error.issues;
    throw new SourceFault(`${first?.path.join('.') ?? ''}: ${first?.message ?? 'malformed'}`);
  }
  return parsed.data;
}

/**
 * Reads SVC_OIDC_SOURCES: a JSON list of OpenID providers, or the path of a file with one. Secrets may be in other
 * variables, or in files that `_FILE` variables name.
 * @throws SourceFault, whose message contains no secret
 */
export function readOidcSources(text: string | undefined, environment: Given): readonly OidcSettings[] {
  return readSourceList(text, OidcSources).map((source) => {
    const { name, clientSecret: secret } = source;
    const clientSecret = typeof secret === 'object' ? readSecret(name, secret.env, environment) : secret;
    return { ...source, clientSecret };
  });
}

function readSecret(source: string, variable: string, environment: Given): string {
  try {
    const secret = secretOf(environment, variable);
    if (secret !== undefined) return secret;
  } catch (error) {
    throw error instanceof SecretFileFault ? new SourceFault(`${source}: ${error.message}`) : error;
  }
  throw new SourceFault(`${source}: the variable ${variable}, its secret, is not set`);
}
