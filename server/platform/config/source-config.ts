import { readFileSync } from 'node:fs';
import { z } from 'zod';
import { ClaimName, claimNames, isClaimName } from '../../../contracts/claims.ts';
import { parseDuration } from '../../../contracts/durations.ts';
import { type OidcSettings, OidcSources } from '../../../contracts/oidc-sources.ts';
import { SecretFileFault, secretOf } from './secret-files.ts';

/** Parses lifetimes such as `365d,country=30d` into milliseconds: a default, and those of single claims. */
export const ClaimFreshness = z
  .string()
  .transform((text) => text.split(',').map((part) => part.trim().split('=')))
  .pipe(
    z.array(
      z.union([
        z.tuple([z.string()]).transform(([duration]) => ['default', duration] as const),
        z.tuple([ClaimName, z.string()]),
      ]),
      { error: `expected 365d or country=30d, with a comma between them; claims: ${claimNames.join(' ')}` },
    ),
  )
  .transform((pairs, context) => {
    const lifetimes: Partial<Record<ClaimName | 'default', number>> = {};
    for (const [name, duration] of pairs) {
      const lifetime = parseDuration(duration, ['d', 'h']);
      if (lifetime === undefined) {
        context.addIssue({ code: 'custom', message: `${duration} is not a duration such as 365d or 12h` });
      } else if (name === 'default' || isClaimName(name)) {
        lifetimes[name] = lifetime;
      }
    }
    return lifetimes;
  });

/** A fault in a list of verification sources. */
export class SourceFault extends Error {}

function parseJson(text: string): unknown {
  const json = text.trimStart().startsWith('[') ? text : readFileSync(text, 'utf8');
  return JSON.parse(json);
}

/**
 * Reads the items of a variable that holds a JSON list, or the path of a file with one.
 * @throws SourceFault if the list is unreadable or malformed
 */
export function readSourceList<T>(text: string | undefined, schema: z.ZodType<readonly T[]>): readonly T[] {
  if (text === undefined) return [];
  let given: unknown;
  try {
    given = parseJson(text);
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
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
export function readOidcSources(
  text: string | undefined,
  environment: Readonly<Record<string, string | undefined>>,
): readonly OidcSettings[] {
  function givenSecret(source: string, variable: string): string {
    let secret: string | undefined;
    try {
      secret = secretOf(environment, variable);
    } catch (error) {
      throw error instanceof SecretFileFault ? new SourceFault(`${source}: ${error.message}`) : error;
    }
    if (!secret) throw new SourceFault(`${source}: the variable ${variable}, its secret, is not set`);
    return secret;
  }
  return readSourceList(text, OidcSources).map(({ clientSecret: secret, ...source }) => {
    if (typeof secret !== 'object') return { ...source, clientSecret: secret };
    return { ...source, clientSecret: givenSecret(source.name, secret.env) };
  });
}
