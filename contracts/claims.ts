import { z } from 'zod';

export const ClaimValue = z.union([z.boolean(), z.string(), z.number(), z.null()]);
export type ClaimValue = z.infer<typeof ClaimValue>;

/**
 * The registry of claims: the type of each value, null apart, which any of them may be where the
 * source could not tell. To offer a new claim, add a row.
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
/** Each claim with its type, or null. */
const known = Object.entries(claimRegistry).map(
  ([name, type]) => [name, type.nullable().exactOptional()] as const,
);
/** Interface 2.1: claim identifiers to their values. */
export const ClaimsMap: z.ZodType<ClaimsMap, ClaimsMap> = z
  .object(Object.fromEntries(known))
  .catchall(ClaimValue)
  .meta({
    id: 'ClaimsMap',
    description: 'Claim identifiers to their values; null where the source could not tell.',
    examples: [{ age_18_plus: true, country: 'DE' }],
  });

/** Claims of a person from a verification source; each may be null. */
export type Claims = Partial<Record<ClaimName, ClaimValue>>;

/** Interface 2.5: the requested claims, partitioned by result. */
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

/** Claims as they were when a code was exchanged, with their partition. */
export interface ClaimsSnapshot {
  claims: ClaimsMap;
  meta: ClaimsMeta;
}

/**
 * Partitions the requested identifiers (docs/choices.md): resolved, null and ignored are disjoint
 * and together are exactly what was requested, in the order asked. `permitted` are the claims the client
 * may see; anything else, and anything the registry does not know, is ignored.
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

/** Whether any of these claims can say yes: a storefront exchange without one could only ever be a 422. */
export function canBePositive(names: readonly ClaimName[]): boolean {
  return names.some((name) => claimRegistry[name] instanceof z.ZodBoolean);
}

/** Whether at least one claim says yes: what a storefront exchange needs (interface 7.5, 422). */
export function hasPositiveClaim(claims: ClaimsMap): boolean {
  return Object.values(claims).some((value) => value === true);
}
