import { type ClaimName, type Claims, type ClaimValue, claimNames } from '../../../contracts/claims.ts';
import type { Rehearsal } from '../../../contracts/verification.ts';
import { givenFields } from '../../platform/database/reads/look-through.ts';
import { ApiError } from '../../platform/errors.ts';
import type { Choice, Failed, VerificationSource, Verified } from './source.ts';

/** The claims of the sandbox's adult. A new claim without a value here does not compile. */
const adult: Record<ClaimName, ClaimValue> = {
  age_16_plus: true,
  age_18_plus: true,
  age_21_plus: true,
  identity_verified: true,
  country: 'DE',
  assurance_level: 2,
};
/** A result with the claims of `adult`, some of them changed. */
const verifiedAdult = (changed: Claims = {}): Verified => ({
  kind: 'verified',
  claims: { ...adult, ...changed },
  duplicate: false,
});

interface Person {
  result: Verified | Failed;
  /** The refusal that the exchange of this person's code rehearses. */
  rehearse?: Rehearsal;
  /** Whether each session gets a new user. */
  fresh?: boolean;
}

const rehearsing = (rehearse: Rehearsal): Person => ({ result: verifiedAdult(), rehearse });

/** The people of the sandbox, in the order of the page. Each of them leads to one result. */
const people = {
  adult: { result: verifiedAdult() },
  'new-adult': { result: verifiedAdult(), fresh: true },
  'young-adult': { result: verifiedAdult({ age_21_plus: false }) },
  teen: { result: verifiedAdult({ age_18_plus: false, age_21_plus: false }) },
  child: { result: verifiedAdult({ age_16_plus: false, age_18_plus: false, age_21_plus: false }) },
  abroad: { result: verifiedAdult({ country: 'US' }) },
  'unknown-country': { result: verifiedAdult({ country: null }) },
  'age-only': { result: verifiedAdult({ identity_verified: false, country: null, assurance_level: 1 }) },
  biometric: { result: verifiedAdult({ assurance_level: 3 }) },
  unknown: { result: verifiedAdult(Object.fromEntries(claimNames.map((name) => [name, null]))) },
  rejected: { result: { kind: 'failed', reason: 'document_rejected' } },
  'source-down': { result: { kind: 'failed', reason: 'source_error' } },
  duplicate: { result: { ...verifiedAdult({ assurance_level: 3 }), duplicate: true } },
  'client-inactive': rehearsing('client-inactive'),
  'low-balance': rehearsing('low-balance'),
  'minute-cap': rehearsing('minute-cap'),
  'hour-cap': rehearsing('hour-cap'),
  unavailable: rehearsing('unavailable'),
} satisfies Record<string, Person>;
export type PersonName = keyof typeof people;
export const personNames = Object.keys(people) as readonly PersonName[];

/** A duplicate identity is blocked, so the exchange refuses its code, as it does for a rehearsed refusal. */
function groupOf({ result, rehearse }: Person): Choice['group'] {
  if (result.kind === 'failed') return 'failures';
  return rehearse || result.duplicate ? 'refusals' : 'claims';
}

const choices: readonly Choice[] = Object.entries<Person>(people).map(([name, person]) => ({
  name,
  group: groupOf(person),
}));

/** The person of this name; undefined if there is none. Names come from forms, so they may be anything. */
function personNamed(name: unknown): Person | undefined {
  return typeof name === 'string' && Object.hasOwn(people, name) ? people[name as PersonName] : undefined;
}

/** The fields that other features read. */
export const sandboxSource = { name: 'sandbox', modes: ['test'] } as const satisfies Pick<
  VerificationSource,
  'name' | 'modes'
>;

/** A source for test clients, with named people in place of an identity check. Each partner has its own people. */
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
      const { result, rehearse, fresh: oneTime } = person;
      return {
        kind: 'authenticated',
        // With the session's id in it, the subject is another one in each session.
        subject: [session.partnerId, name, ...(oneTime ? [session.id] : [])].join('|'),
        carry: { person: name },
        result,
        // Everyone with a link of a test client can be a person who stays the same.
        shared: oneTime !== true,
        ...givenFields({ rehearse, oneTime }),
      };
    },

    verify: async ({ carried }) =>
      personNamed(carried?.['person'])?.result ?? { kind: 'failed', reason: 'source_error' },
  };
}
