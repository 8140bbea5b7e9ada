import type { ClaimName } from '../../../contracts/claims.ts';

/** The uses that a partner has for an answer. */
export type Use = 'age' | 'identity' | 'country' | 'assurance';

const uses: Readonly<Record<ClaimName, Use>> = {
  age_16_plus: 'age',
  age_18_plus: 'age',
  age_21_plus: 'age',
  identity_verified: 'identity',
  country: 'country',
  assurance_level: 'assurance',
};

/** The uses of these claims, each once, for partners without a purpose of their own. */
export function usesOf(claims: readonly ClaimName[]): Use[] {
  return [...new Set(claims.map((claim) => uses[claim]))];
}
