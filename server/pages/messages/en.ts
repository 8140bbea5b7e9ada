import type { ClaimName } from '../../../contracts/claims.ts';
import type { SourceFailure } from '../../../contracts/verification.ts';
import type { PersonName } from '../../sessions/sources/sandbox.ts';
import type { Choice } from '../../sessions/sources/source.ts';
import type { Use } from '../views/purpose.ts';

interface Titled {
  title: string;
  text: string;
}

/**
 * The texts of the hosted pages in English. A language without one of them does not compile. The parameters of texts are:
 * - `partner`: the partner's name;
 * - `source`: the name of a verification source;
 * - `time`: a duration in words, with its unit;
 * - `host`: the host name that the browser returns to;
 * - `computer` and `phone`: a browser, as `devices.named` calls it.
 */
export const en = {
  language: 'en',
  /** The language's name for itself. */
  name: 'English',
  nameLabel: 'Language',
  direction: 'ltr' as 'ltr' | 'rtl',
  testMode: { title: 'Test mode:', text: 'only for trying out. No result counts.' },
  /** `confirm` takes the place of `done` on the phone. */
  steps: { label: 'Progress', consent: 'Consent', verify: 'Verify', done: 'Done', confirm: 'Confirm' },
  time: {
    ending: (time: string) => `Less than ${time} left`,
    consequence: (partner: string) =>
      `Then this verification closes and nothing is shared. You can start again from ${partner}.`,
  },
  consent: {
    title: (partner: string) => `Share a verified answer with ${partner}?`,
    lead: (partner: string) =>
      `We are SVC Identity. ${partner} asks us to confirm the following about you. You decide whether we may.`,
    shared: (partner: string) => `${partner} will learn`,
    notShared: (partner: string) => `${partner} will not learn`,
    withheld: [
      'Your name or date of birth',
      'Your address, e-mail or phone number',
      'Your documents or pictures of you',
    ],
    /** A short and a long text, beside a claim that no source of the session can answer. */
    ifKnown: 'if known from before',
    unanswered: 'This verification cannot show it: it is shared only if you proved it before',
    /** Shown if a source asks for a number of the user. */
    number: 'You may be asked for a personal number as well: only to recognise you, not kept, not shared.',
    /** The button that shows details of each answer, and what happens next. */
    exactly: 'What exactly, and what happens next',
    /** `own` introduces the partner's purpose. Without one, `lead` and `uses` replace it, one text for each use. */
    purpose: {
      title: 'What it is for',
      own: (partner: string) => `${partner} says:`,
      lead: (partner: string) => `With these answers ${partner} can`,
      uses: {
        age: 'check that you are old enough for what it offers',
        identity: 'be sure that a real, verified person is asking',
        country: 'follow the rules of your country',
        assurance: 'judge how far it can rely on the answers',
      } satisfies Record<Use, string>,
    },
    keeping: {
      title: 'How long, and how to withdraw',
      /** `time`: how long answers are kept. */
      kept: (time: string) =>
        `We keep the answers for up to ${time}, and records of what was shared for 30 days more.`,
      again: (partner: string) =>
        `Next time you verify, for ${partner} or for another site, we use them again, and ask you first. While we keep them, ${partner} can also read again what you allow here.`,
      withdraw: (partner: string) => `You can withdraw at any time: tell ${partner}.`,
      /** Introduces the help address. */
      help: 'Or write to us:',
    },
    /** What happens after each of the two answers. */
    next: (host: string) =>
      `Next, we verify this with you. Then you return to ${host}. If you do not allow it, you return there now.`,
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
  } satisfies Record<ClaimName, Titled>,
  /** The pairwise subject, which the partner gets with the claims. */
  code: {
    title: 'A code that stands for you',
    text: (partner: string) => `Only ${partner} gets it, to recognise you next time`,
  },
  people: {
    title: 'Choose who to be',
    lead: (partner: string) =>
      `In test mode you sign in as one of these people. Each gives ${partner} one particular result.`,
    shared:
      'These people are shared by all who test, except a new one on every run. So they have no passkey and no page of their own data.',
    /** In the order of the page. */
    groups: {
      claims: {
        title: 'Claims',
        text: 'The verification succeeds, and the code can be exchanged for these.',
      },
      failures: {
        title: 'Failures of the verification',
        text: 'The browser comes back with an error instead of a code.',
      },
      refusals: {
        title: 'Refusals of the exchange',
        text: 'The verification succeeds; exchanging the code is then refused as described.',
      },
    } satisfies Record<Choice['group'], Titled>,
    names: {
      adult: { title: 'Adult', text: 'Over 21, every claim is positive' },
      'new-adult': { title: 'New adult', text: 'A new user on every run' },
      'young-adult': { title: 'Young adult', text: '19 years old: 18 or older, not 21' },
      teen: { title: 'Teen', text: '17 years old: 16 or older, not 18' },
      child: { title: 'Child', text: '15 years old: every age claim is negative' },
      abroad: { title: 'From abroad', text: 'An adult whose country is US' },
      'unknown-country': { title: 'Unknown country', text: 'An adult whose country is null' },
      'age-only': { title: 'Age only', text: 'No document: identity not verified, no country, level 1' },
      biometric: { title: 'Document and face', text: 'An adult verified at level 3' },
      unknown: { title: 'Nothing known', text: 'Every claim is null' },
      rejected: { title: 'Rejected', text: 'The document is not accepted' },
      'source-down': { title: 'Source down', text: 'The verification source does not answer' },
      duplicate: { title: 'Duplicate', text: '403, known under another identity: the enrollment is blocked' },
      'client-inactive': { title: 'Inactive client', text: '403, the client is not active' },
      'low-balance': { title: 'Low balance', text: '402, the balance is too low' },
      'minute-cap': { title: 'Minute cap', text: '429, this minute’s spend cap is reached' },
      'hour-cap': { title: 'Hour cap', text: '429, this hour’s spend cap is reached' },
      unavailable: { title: 'Unavailable', text: '503, spend caps cannot be checked' },
    } satisfies Record<PersonName, Titled>,
  },
  /** The list of methods, each with the name of its source. */
  methods: {
    title: 'How do you want to prove it?',
    lead: 'Choose one. If it does not work, you can choose another one.',
    /** The text beside each kind of method: what the user needs for it. */
    people: { title: 'Test people', text: 'Made-up people, for trying out' },
    provider: (source: string) => `You sign in on the site of ${source}`,
    /** The name beside this text may be that of an app or of a document. */
    identityWallet: 'You need its app, on your phone or in this browser',
    /** Beside a method that is out of order. */
    down: 'Not available now',
    /** Why the last method ended. */
    ended: {
      abandoned: (source: string) =>
        `You stopped with ${source}. Nothing was shared. Choose again, or cancel.`,
      document_rejected: (source: string) =>
        `${source}: what was presented could not be accepted. Nothing was shared. Choose another way.`,
      source_error: (source: string) =>
        `${source} gave no usable answer. Nothing was shared. Choose another way.`,
    } satisfies Record<SourceFailure, (source: string) => string>,
    /** The button that leads back to the list. */
    other: 'Use another method',
  },
  provider: {
    title: (source: string) => `Verify with ${source}`,
    lead: (source: string, partner: string) =>
      `${source} checks who you are and tells us. We pass on to ${partner} only what you have just allowed.`,
    points: [
      (source: string) => `You sign in on the site of ${source}. We never see your password.`,
      (source: string, partner: string) => `${source} does not learn that it is for ${partner}.`,
      () => 'We keep the answers, not the data behind them.',
    ],
    go: (source: string) => `Continue to ${source}`,
  },
  identityWallet: {
    title: (source: string) => `Prove it with ${source}`,
    lead: (source: string, partner: string) =>
      `${source} shows us what ${partner} asks for. In the app you see everything before you agree.`,
    open: (source: string) => `Open ${source}`,
    /** The button that uses the Digital Credentials API. */
    digital: 'Choose an identity wallet in this browser',
    /** For users whose app is not on this device. */
    absent: {
      computer:
        'Is the app on your phone? Continue there. It opens on this computer only if it is installed here.',
      phone:
        'Does nothing happen? Then the app is not on this device. Install your country’s app and come back, or cancel.',
    },
    declined: {
      title: 'You said no in your identity wallet.',
      text: 'Nothing was shared. You can try again or cancel.',
    },
    trouble: {
      title: 'Your identity wallet could not answer.',
      text: 'It may not contain what is asked for. Nothing was shared. You can try again or cancel.',
    },
    answered: {
      title: 'Your identity wallet has answered.',
      text: 'It leads you back to this browser. If it opened another one, open your identity wallet once more from here.',
    },
    test: {
      title: 'Test identity wallet',
      text: 'In test mode you can try everything out with made-up people.',
      button: 'Open the test identity wallet',
    },
  },
  passkey: {
    /** The button on the consent page. It accepts the consent as well. */
    use: 'Allow, with a passkey',
    title: 'Next time, prove it with your fingerprint, face or PIN?',
    lead: 'Save a passkey on this device. Next time one tap is enough, here and on other sites that ask SVC Identity.',
    /** `time`: how long answers are kept. */
    kept: (time: string) =>
      `We keep your answers with it for up to ${time}: no documents, and no pictures of you.`,
    points: [
      'Your fingerprint and your face never leave your device.',
      'Anyone who can unlock this device can use the passkey.',
    ],
    save: 'Save a passkey',
    later: 'Not now',
    /** Shown if the device gives no passkey, or saves none. They name the other buttons of their pages. */
    trouble: {
      use: 'No passkey was used. It may not be on this device. Try again, or choose “Allow and continue”.',
      save: 'No passkey was saved. Try again, or choose “Not now”.',
    },
  },
  handoff: {
    offer: {
      title: 'Would you rather use your phone?',
      text: 'Verify there and come back to this page.',
      button: 'Continue on my phone',
    },
    title: 'Continue on your phone',
    lead: 'Keep this page open. It continues by itself when you have finished on your phone.',
    scan: 'Scan this with the camera of your phone',
    /** Shown in place of the QR code if no phone can open the address of the service. */
    local: {
      title: 'Open this address in another browser',
      text: 'There is no QR code, because this service runs on localhost: a phone cannot open its address.',
    },
    link: 'Or open this address there',
    code: 'Then type this code on your phone',
    codeText: 'Never give it to anyone. We never ask for it by phone, e-mail or chat.',
    lifetime: 'The link and the code work once, for 2 minutes.',
    stay: 'Continue on this computer instead',
    expired: {
      title: 'This link has expired',
      text: 'Links for the phone work for 2 minutes. Make a new one, or continue here.',
      button: 'Make a new link',
    },
    /** In place of the offer of a new link. */
    noneLeft:
      'This verification has had all of its ten links for the phone. Continue on this computer, or cancel and start again.',
    /** Above the page that follows the third wrong code. */
    mistyped: 'Three wrong codes were typed, so the link for the phone has ended. Nothing was shared.',
    taken: {
      title: 'Now continue on your phone',
      text: (phone: string) => `Opened in ${phone}. Keep this page open: it continues by itself.`,
    },
  },
  phone: {
    title: (partner: string) => `Verify for ${partner}`,
    lead: (partner: string, computer: string) =>
      `${partner} asks us to confirm the following about you. The request was started in ${computer}.`,
    warning:
      'Continue only if you started it yourself and that screen is in front of you. If someone sent you this link, close this page.',
    code: 'Code on that screen',
    codeHint: 'Six digits, shown beside the link that you opened',
    wrong: 'That is not the code. After three wrong codes the link stops working.',
    submit: 'Continue',
    confirm: {
      title: 'Is this your computer?',
      lead: (partner: string) =>
        `You have signed in. Nothing has been shared yet. The answers for ${partner} go to this computer:`,
      /** The time follows. */
      began: 'Started:',
      warning: 'If you are not looking at it right now, someone may be pretending to be you: choose No.',
      yes: 'Yes, this is my computer',
      no: 'No, stop here',
    },
    done: { title: 'Done', text: 'Continue on your computer. You can close this page.' },
    ended: {
      title: 'This verification has ended',
      text: 'Your computer shows what to do next. You can close this page.',
    },
  },
  devices: {
    named: (browser: string, system: string) => `${browser} on ${system}`,
    browser: 'a browser',
    system: 'an unknown system',
  },
  done: {
    title: 'Done',
    text: (partner: string) => `You are on your way back to ${partner}.`,
    stopped: 'Not verified',
    go: (partner: string) => `Continue to ${partner}`,
  },
  cancel: (partner: string) => `Cancel and go back to ${partner}`,
  /** The link to the user's own data, where they can withdraw. */
  yourData: 'See what you share, and end it',
  footer: 'We keep the answers, never your documents.',
  /** Who runs the service, and its notices. `privacyOf` is the partner's own notice. */
  legal: {
    by: (name: string) => `A service of ${name}`,
    privacy: 'Privacy notice',
    privacyOf: (partner: string) => `Privacy notice of ${partner}`,
    terms: 'Terms',
    help: 'Help',
  },
  /** Introduces the id of the request. */
  reference: 'If you ask for help, give this reference:',
  retry: 'Try again',
  /** In place of `retry`, where the same passkey would be refused again. */
  withoutPasskey: 'Go on without the passkey',
  back: (host: string) => `Go back to ${host}`,
  developer: 'For the developer of the application',
  /** Which of the user's data was shared. */
  outcome: {
    nothingShared: 'Nothing about you was shared.',
    nothingHere: 'Nothing was shared from this browser.',
    /** The partner was notified that the user authenticated, and got no claim. */
    signedIn: (partner: string) =>
      `None of the answers was shared. ${partner} got the code that stands for you there, and learned that you signed in and that the verification ended.`,
    answersShared: (partner: string) => `${partner} could read what you allowed, and nothing else.`,
  },
  /** Pages that say why nothing, or nothing more, can be done here. */
  problems: {
    expired: {
      title: 'This verification has expired',
      text: 'A verification is open for 30 minutes. Go back to the site or app that you came from and start again.',
    },
    otherBrowser: {
      title: 'Continue in the browser where you started',
      text: 'This verification belongs to another browser or device, or it has expired. Open it there, or start again from the site or app that you came from. If you started in this browser, allow cookies for this site.',
    },
    finished: {
      title: 'This verification is already finished',
      text: 'There is nothing left to do here. You can close this page.',
    },
    cancelled: {
      title: 'This verification was cancelled',
      text: 'There is nothing left to do here. You can start again from the site or app that you came from.',
    },
    declined: {
      title: 'You did not allow this',
      text: 'Nothing happens without your permission. If you change your mind, start again from the site or app that you came from.',
    },
    rejected: {
      title: 'The verification did not succeed',
      text: 'What was presented could not be accepted. You can try again with another document, starting from the site or app that you came from.',
    },
    sourceFailed: {
      title: 'The verification could not be completed',
      text: 'The service that checks identities did not give a usable answer. Start again from where you came from.',
    },
    sourceDown: {
      title: 'The verification service does not answer',
      text: 'The service that checks identities cannot be reached right now. Wait a moment and try again, or cancel.',
    },
    linkDead: {
      title: 'This link no longer works',
      text: 'A link for the phone works once, for 2 minutes. It also ends after three wrong codes, or if you go on at the computer. Your computer shows what to do next.',
    },
    forged: {
      title: 'We could not accept this form',
      text: 'It was not sent from its own page, or the page was too old. Nothing has changed: please try again.',
    },
    notFound: {
      title: 'There is no such page',
      text: 'Check the address, or go back to the site or app that you came from.',
    },
    invalid: {
      title: 'This request does not work',
      text: 'The site or app that sent you here made a mistake. It is not your fault: go back and tell its operator.',
    },
    tooMany: {
      title: 'Too many verifications at once',
      text: 'Many verifications were started from your network within a minute. Wait a minute, then start again from the site or app that you came from.',
    },
    tooManyTries: { title: 'Too many tries', text: 'Wait a minute, then try again.' },
    passkeyRefused: {
      title: 'Your passkey was not accepted',
      text: 'Please try again, or go on without it.',
    },
    passkeyUnknown: {
      title: 'We do not know this passkey',
      text: 'It was removed. Please go on without it.',
    },
    passkeyOtherMode: {
      title: 'This passkey does not work here',
      text: 'It was saved in the test mode of a site, or this page is in test mode. Please go on without it.',
    },
    unavailable: {
      title: 'We cannot continue right now',
      text: 'This is our fault, not yours. Nothing is lost: wait a moment and try again.',
    },
  },
};

/** The texts in one language. */
export type Messages = typeof en;
export type ProblemName = keyof Messages['problems'];
