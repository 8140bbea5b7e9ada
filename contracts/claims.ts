import { z } from 'zod';

export const ClaimValue = z.union([z.boolean(), z.string(), z.number(), z.null()]);
export type ClaimValue = z.infer<typeof ClaimValue>;

/**
 * The registry of claims, with the type of each value. Every value may also be null, if the source does not know it. To offer a
 * new claim, add a row.
 */
export const claimRegistry = {
  age_16_plus: z.boolean(),
  age_18_plus: z.boolean(),
  age_21_plus: z.boolean(),
  identity_verified: z.boolean(),
  country: z.string().regex(/^[A-Z]{2}$/),
  assurance_level: z.number().int().min(1).max(3),
} as const satisfies Record<string, z.ZodType<ClaimValue>>;

export type ClaimName = keyof typeof claimRegistry;
export const claimNames = Object.keys(claimRegistry) as ClaimName[];
export const ClaimName = z.enum(claimNames as [ClaimName, ...ClaimName[]]).meta({
  id: 'ClaimName',
  description: 'Identifiers of claims; there may be more of them in a later version',
});

export function isClaimName(value: string): value is ClaimName {
  return Object.hasOwn(claimRegistry, value);
}

export type ClaimsMap = Record<string, ClaimValue>;
/** The schema of each claim. A response has only the requested claims, and null for values that the source could not tell. */
const claimSchemas = Object.entries(claimRegistry).map(
  ([name, type]) => [name, type.nullable().exactOptional()] as const,
);
/** Claims by their identifiers (interface 2.1). Other identifiers pass, because a later version may add claims to the registry. */
export const ClaimsMap: z.ZodType<ClaimsMap, ClaimsMap> = z
  .object(Object.fromEntries(claimSchemas))
  .catchall(ClaimValue)
  .meta({
    id: 'ClaimsMap',
    description: 'Claim identifiers to their values; null where the source could not tell.',
    examples: [{ age_18_plus: true, country: 'DE' }],
  });

/** Claims of a person from a verification source; each may be null. */
export type Claims = Partial<Record<ClaimName, ClaimValue>>;

/** The requested claims, partitioned by result (interface 2.5). */
export const ClaimsMeta = z
  .strictObject({
    claims_requested: z.array(z.string()).describe('Every identifier asked for, in that order'),
    claims_resolved: z.array(ClaimName).describe('Claims with a value'),
    claims_null: z.array(ClaimName).describe('Claims whose value the source could not tell'),
    claims_ignored: z
      .array(z.string())
      .describe('Identifiers of unknown claims, and of claims whose values may not be returned'),
  })
  .meta({ id: 'ClaimsMeta', description: 'The first list is the disjoint union of the other three.' });
export type ClaimsMeta = z.infer<typeof ClaimsMeta>;

/** Claims as they were when a code was exchanged. `meta` tells which of the requested ones have a value. */
export interface ClaimsSnapshot {
  claims: ClaimsMap;
  meta: ClaimsMeta;
}

/**
 * Partitions the requested identifiers into resolved, null and ignored (docs/choices.md). Each requested identifier is in
 * exactly one part, in the order of the request. Identifiers that are not in `permitted` or not in the registry are ignored.
 */
export function resolveClaims(
  requested: readonly string[],
  permitted: readonly string[],
  known: Claims,
): ClaimsSnapshot {
  const asked = [...new Set(requested)];
  const visible = asked.filter((name): name is ClaimName => isClaimName(name) && permitted.includes(name));
  const claims: ClaimsMap = Object.fromEntries(visible.map((name) => [name, known[name] ?? null]));
  return {
    claims,
    meta: {
      claims_requested: asked,
      claims_resolved: visible.filter((name) => claims[name] !== null),
      claims_null: visible.filter((name) => claims[name] === null),
      claims_ignored: asked.filter((name) => !(visible as string[]).includes(name)),
    },
  };
}

/** Whether any of these claims can be true. Without such a claim, every storefront exchange would be a 422. */
export function canBePositive(names: readonly ClaimName[]): boolean {
  return names.some((name) => claimRegistry[name] instanceof z.ZodBoolean);
}

/** Whether at least one claim is true, which a storefront exchange requires (interface 7.5, 422). */
export function hasPositiveClaim(claims: ClaimsMap): boolean {
  return Object.values(claims).some((value) => value === true);
}
