import { type ClaimName, type Claims, type ClaimValue, claimNames } from '../../../contracts/claims.ts';
import type { Rehearsal } from '../../../contracts/verification.ts';
import { ApiError } from '../../platform/errors.ts';
import type { Authenticated, Choice, Failed, VerificationSource, Verified } from './source.ts';

/** What the sandbox says of an adult: a claim without a value does not compile. */
const adult: Record<ClaimName, ClaimValue> = {
  age_16_plus: true,
  age_18_plus: true,
  age_21_plus: true,
  identity_verified: true,
  country: 'DE',
  assurance_level: 2,
};
/** A person with the results of `adult`, with changes. */
const found = (changed: Claims = {}): Verified => ({
  kind: 'verified',
  claims: { ...adult, ...changed },
  duplicate: false,
});

interface Person {
  result: Verified | Failed;
  rehearse?: Rehearsal;
  /** A new person each time. */
  fresh?: boolean;
}

const rehearsing = (rehearse: Rehearsal): Person => ({ result: found(), rehearse });

/** The people of the sandbox; each forces one result. In the order of the page. */
const people = {
  adult: { result: found() },
  'new-adult': { result: found(), fresh: true },
  'young-adult': { result: found({ age_21_plus: false }) },
  teen: { result: found({ age_18_plus: false, age_21_plus: false }) },
  child: { result: found({ age_16_plus: false, age_18_plus: false, age_21_plus: false }) },
  abroad: { result: found({ country: 'US' }) },
  'unknown-country': { result: found({ country: null }) },
  'age-only': { result: found({ identity_verified: false, country: null, assurance_level: 1 }) },
  biometric: { result: found({ assurance_level: 3 }) },
  unknown: { result: found(Object.fromEntries(claimNames.map((name) => [name, null]))) },
  rejected: { result: { kind: 'failed', reason: 'document_rejected' } },
  'source-down': { result: { kind: 'failed', reason: 'source_error' } },
  duplicate: { result: { ...found({ assurance_level: 3 }), duplicate: true } },
  'client-inactive': rehearsing('client-inactive'),
  'low-balance': rehearsing('low-balance'),
  'minute-cap': rehearsing('minute-cap'),
  'hour-cap': rehearsing('hour-cap'),
  unavailable: rehearsing('unavailable'),
} satisfies Record<string, Person>;
export type PersonName = keyof typeof people;
export const personNames = Object.keys(people) as readonly PersonName[];

function groupOf({ result, rehearse }: Person): Choice['group'] {
  if (result.kind === 'failed') return 'failures';
  return rehearse || result.duplicate ? 'refusals' : 'claims';
}

const choices: readonly Choice[] = Object.entries<Person>(people).map(([name, person]) => ({
  name,
  group: groupOf(person),
}));

function personNamed(name: unknown): Person | undefined {
  return typeof name === 'string' && Object.hasOwn(people, name) ? people[name as PersonName] : undefined;
}

/** The public part. */
export const sandboxSource = { name: 'sandbox', modes: ['test'] } as const satisfies Pick<
  VerificationSource,
  'name' | 'modes'
>;

/** Named people instead of an identity check, for test clients. Each partner has its own. */
export function createSandbox(): VerificationSource {
  return {
    ...sandboxSource,
    method: { kind: 'people' },
    answers: (claims) => [...claims],
    asksNumber: false,
    isDown: () => false,

    begin: async () => ({ kind: 'people', choices }),

    async authenticate(session, { person: name }) {
      const person = personNamed(name);
      if (!person || name === undefined) {
        throw new ApiError('invalid_request', {
          description: 'person must be one of the people on the page',
        });
      }
      const authenticated: Authenticated = {
        kind: 'authenticated',
        subject: [session.partnerId, name, ...(person.fresh ? [session.id] : [])].join('|'),
        carry: { person: name },
        answer: person.result,
        ...(person.fresh ? { oneTime: true } : {}),
      };
      return person.rehearse ? { ...authenticated, rehearse: person.rehearse } : authenticated;
    },

    verify: async ({ carried }) =>
      personNamed(carried?.['person'])?.result ?? { kind: 'failed', reason: 'source_error' },
  };
}
