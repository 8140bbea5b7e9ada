import type { ClaimName } from '../../../../contracts/claims.ts';

/** Pages that say why nothing can be done here. */
export type ProblemName =
  | 'expired'
  | 'otherBrowser'
  | 'finished'
  | 'forged'
  | 'notFound'
  | 'invalid'
  | 'unavailable';

interface Titled {
  title: string;
  text: string;
}

/** Every text of the pages. `partner` is the partner's name, `host` where the browser returns to. */
export interface Messages {
  language: string;
  direction: 'ltr' | 'rtl';
  product: string;
  testMode: Titled;
  steps: { label: string; consent: string; authenticate: string; verify: string };
  consent: {
    title: (partner: string) => string;
    lead: (partner: string) => string;
    shared: (partner: string) => string;
    notShared: (partner: string) => string;
    withheld: string[];
    returnTo: (host: string) => string;
    accept: string;
    decline: string;
  };
  claims: Record<ClaimName, Titled>;
  people: {
    title: string;
    lead: (partner: string) => string;
    outcomes: string;
    refusals: Titled;
    names: Record<string, Titled>;
  };
  cancel: (partner: string) => string;
  footer: string;
  reference: string;
  retry: string;
  problems: Record<ProblemName, Titled>;
}

export const en: Messages = {
  language: 'en',
  direction: 'ltr',
  product: 'SVC Identity',
  testMode: { title: 'Test mode:', text: 'nobody’s identity is really checked here.' },
  steps: { label: 'Progress', consent: 'Consent', authenticate: 'Sign in', verify: 'Verify' },
  consent: {
    title: (partner) => `Share a verified answer with ${partner}?`,
    lead: (partner) => `${partner} asks us to confirm the following. You decide whether we may.`,
    shared: (partner) => `${partner} will learn`,
    notShared: (partner) => `${partner} will not learn`,
    withheld: [
      'Your name or date of birth',
      'Your address, e-mail or phone number',
      'Your documents or pictures of you',
    ],
    returnTo: (host) => `Afterwards you return to ${host}.`,
    accept: 'Allow and continue',
    decline: 'Don’t allow',
  },
  claims: {
    age_16_plus: { title: 'Whether you are 16 or older', text: 'Only yes or no, never your age' },
    age_18_plus: { title: 'Whether you are 18 or older', text: 'Only yes or no, never your age' },
    age_21_plus: { title: 'Whether you are 21 or older', text: 'Only yes or no, never your age' },
    identity_verified: { title: 'That your identity was verified', text: 'Only yes or no, not who you are' },
    country: { title: 'Your country', text: 'Only its code, such as DE or US' },
    assurance_level: { title: 'How thorough the verification was', text: 'A level from 1 to 3' },
  },
  people: {
    title: 'Choose who to be',
    lead: (partner) =>
      `In test mode you sign in as one of these people. Each leads ${partner} to one particular result.`,
    outcomes: 'Results of the verification',
    refusals: {
      title: 'Refusals of the exchange',
      text: 'The verification succeeds; exchanging the code is then refused as described.',
    },
    names: {
      adult: { title: 'Adult', text: 'Over 21, every claim is positive' },
      teen: { title: 'Teen', text: '17 years old: 16 or older, not 18' },
      'unknown-country': { title: 'Unknown country', text: 'An adult whose country is null' },
      'new-adult': { title: 'New adult', text: 'Somebody nobody has met before, each time' },
      duplicate: { title: 'Duplicate', text: 'Known under another identity: the enrollment is blocked' },
      rejected: { title: 'Rejected', text: 'The document is not accepted' },
      'source-down': { title: 'Source down', text: 'The verification source does not answer' },
      'low-balance': { title: 'Low balance', text: '402, the wallet is too short' },
      'minute-cap': { title: 'Minute cap', text: '429, this minute’s spend limit is reached' },
      'hour-cap': { title: 'Hour cap', text: '429, this hour’s spend limit is reached' },
      unavailable: { title: 'Unavailable', text: '503, spend limits cannot be checked' },
    },
  },
  cancel: (partner) => `Cancel and go back to ${partner}`,
  footer: 'We keep the answers, never your documents.',
  reference: 'Reference',
  retry: 'Try again',
  problems: {
    expired: {
      title: 'This verification has expired',
      text: 'A verification is open for 30 minutes. Go back to where you came from and start again.',
    },
    otherBrowser: {
      title: 'Continue in the browser where you began',
      text: 'This verification belongs to another browser or device, or it has expired. Open it there, or start again from where you came from.',
    },
    finished: {
      title: 'This verification is already finished',
      text: 'There is nothing left to do here. You can close this page.',
    },
    forged: {
      title: 'We could not accept this form',
      text: 'It was not sent from its own page, or the page was too old. Nothing has changed: please try again.',
    },
    notFound: {
      title: 'There is no such page',
      text: 'Check the address, or go back to where you came from.',
    },
    invalid: {
      title: 'This request cannot be used',
      text: 'The application that sent you here made a mistake. Go back and tell its operator what is written below.',
    },
    unavailable: {
      title: 'We cannot go on right now',
      text: 'This is our fault, not yours. Nothing was lost: wait a moment and try again.',
    },
  },
};
