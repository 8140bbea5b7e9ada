import type { ClaimName } from '../../../../contracts/claims.ts';
import type { SourceFailure } from '../../../../contracts/verification.ts';
import type { PersonName } from '../../sources/sandbox.ts';
import type { Choice } from '../../sources/source.ts';
import type { Use } from '../purpose.ts';

/** Pages that say why nothing, or nothing more, can be done here. */
export type ProblemName =
  | 'expired'
  | 'otherBrowser'
  | 'finished'
  | 'cancelled'
  | 'declined'
  | 'rejected'
  | 'sourceFailed'
  | 'sourceDown'
  | 'linkDead'
  | 'forged'
  | 'notFound'
  | 'invalid'
  | 'tooMany'
  | 'tooManyTries'
  | 'passkeyRefused'
  | 'passkeyUnknown'
  | 'passkeyOtherMode'
  | 'unavailable';

export interface Titled {
  title: string;
  text: string;
}

/** A text about the partner, by its name. */
type AboutPartner = (partner: string) => string;
/** `time` is a number of minutes in words, with its unit. */
type AboutTime = (time: string) => string;

/**
 * Every text of the pages. A language without one of them does not compile. `host` is where the browser
 * returns to, `source` the name of a verification source, `computer` and `phone` a
 * browser as `devices` calls it.
 */
export interface Messages {
  language: string;
  /** The language's name for itself. */
  name: string;
  /** The word "Language". */
  nameLabel: string;
  direction: 'ltr' | 'rtl';
  testMode: Titled;
  /** `confirm` takes the place of `done` on the phone. */
  steps: { label: string; consent: string; verify: string; done: string; confirm: string };
  time: { ending: AboutTime; consequence: AboutPartner };
  consent: {
    title: AboutPartner;
    lead: AboutPartner;
    shared: AboutPartner;
    notShared: AboutPartner;
    withheld: string[];
    /** A short and a long text, beside a claim that no source of the session can answer. */
    ifKnown: string;
    unanswered: string;
    /** Where a source asks for a number of the user. */
    number: string;
    /** The button that shows details of each answer, and what happens next. */
    exactly: string;
    /** `own` introduces the partner's purpose. Without one, `lead` and `uses` replace it, one text for each use. */
    purpose: { title: string; own: AboutPartner; lead: AboutPartner; uses: Record<Use, string> };
    keeping: {
      title: string;
      /** `time`: how long answers are kept, in words, with its unit. */
      kept: (time: string) => string;
      again: AboutPartner;
      withdraw: AboutPartner;
      /** Introduces the help address. */
      help: string;
    };
    /** What happens after each of the two answers. */
    next: (host: string) => string;
    accept: string;
    decline: string;
  };
  claims: Record<ClaimName, Titled>;
  /** The pairwise subject, which the partner gets with the claims. */
  code: { title: string; text: AboutPartner };
  people: {
    title: string;
    lead: AboutPartner;
    /** In the order of the page. */
    groups: Record<Choice['group'], Titled>;
    names: Record<PersonName, Titled>;
  };
  /** The list of methods; each has the name of its source. */
  methods: {
    title: string;
    lead: string;
    /** What a method needs. */
    people: Titled;
    provider: (source: string) => string;
    /** The label may be the name of an app or of a document. */
    identityWallet: string;
    /** Beside a method that is out of order. */
    down: string;
    /** Why the last method ended. */
    ended: Record<SourceFailure, (source: string) => string>;
    /** The button that leads back to the list. */
    other: string;
  };
  provider: {
    title: (source: string) => string;
    lead: (source: string, partner: string) => string;
    points: ((source: string, partner: string) => string)[];
    go: (source: string) => string;
  };
  identityWallet: {
    title: (source: string) => string;
    lead: (source: string, partner: string) => string;
    open: (source: string) => string;
    /** By the Digital Credentials API. */
    digital: string;
    /** Where the app is not on this device. */
    absent: { computer: string; phone: string };
    declined: Titled;
    trouble: Titled;
    answered: Titled;
    test: Titled & { button: string };
  };
  passkey: {
    /** The button of the consent page: consents as well. */
    use: string;
    title: string;
    lead: string;
    /** `time`: how long answers are kept, in words, with its unit. */
    kept: (time: string) => string;
    points: string[];
    save: string;
    later: string;
  };
  handoff: {
    offer: Titled & { button: string };
    title: string;
    lead: string;
    scan: string;
    /** In the place of the QR code where no phone can open the address. */
    local: Titled;
    link: string;
    code: string;
    codeText: string;
    lifetime: string;
    stay: string;
    expired: Titled & { button: string };
    taken: { title: string; text: (phone: string) => string };
  };
  phone: {
    title: AboutPartner;
    lead: (partner: string, computer: string) => string;
    warning: string;
    code: string;
    codeHint: string;
    wrong: string;
    submit: string;
    confirm: { title: string; lead: AboutPartner; began: string; warning: string; yes: string; no: string };
    done: Titled;
    ended: Titled;
  };
  devices: { named: (browser: string, system: string) => string; browser: string; system: string };
  done: { title: string; text: AboutPartner; stopped: string; stoppedText: AboutPartner; go: AboutPartner };
  cancel: AboutPartner;
  /** The link to the user's own data, where they can withdraw. */
  yourData: string;
  footer: string;
  /** Who runs the service, and its notices; `privacyOf` is the partner's own notice. */
  legal: {
    by: (name: string) => string;
    privacy: string;
    privacyOf: AboutPartner;
    terms: string;
    help: string;
  };
  /** Introduces the id of the request. */
  reference: string;
  retry: string;
  back: (host: string) => string;
  developer: string;
  /** Which of the user's data was shared. */
  outcome: {
    nothingShared: string;
    nothingHere: string;
    /** The partner was notified that the user authenticated, and got no claim. */
    signedIn: AboutPartner;
    answersShared: AboutPartner;
  };
  problems: Record<ProblemName, Titled>;
}
