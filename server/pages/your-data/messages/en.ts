/**
 * The texts of the pages at `/verify/you` in English. A language without one of them does not compile. `time` is a day in words,
 * and `partner` the name of a partner.
 */
export const en = {
  title: 'Your data',
  signIn: {
    lead: 'See which sites got which answers about you, and end it. You sign in with the passkey that you saved here.',
    button: 'Sign in with a passkey',
    refused: 'Your passkey was not accepted. Please try again.',
    unknown: 'We do not know this passkey. It was removed, or everything about its user was erased.',
    trouble: 'No passkey was used. It may not be on this device. You can try again.',
    ended: 'You are not signed in any more. Nothing was changed. Sign in, and press the button again.',
    /** `help` if the address of support follows, else `alone`. */
    without: {
      help: 'Have you no passkey, or does no button appear? Ask the site that you verified for, or write to us:',
      alone: 'Have you no passkey, or does no button appear? Ask the site that you verified for.',
    },
  },
  /** For an installation without passkeys. */
  off: {
    lead: 'You can withdraw at any time, and have everything about you erased.',
    help: 'Tell the site that you verified for, or write to us:',
    alone: 'Tell the site that you verified for.',
  },
  signedIn: 'You are signed in for 15 minutes.',
  signOut: 'Sign out',
  shared: {
    title: 'Who got what',
    none: 'No site can read anything about you.',
    mayRead: (time: string) => `You allowed on ${time}, and it can be read again:`,
    nothing: 'Nothing can be read.',
    stopped: (time: string) => `You stopped sharing on ${time}.`,
    /** Title of the readings in the last 30 days. */
    got: 'Read in the last 30 days',
    gotNothing: 'Nothing was read in the last 30 days.',
    /** `count`: the number of readings that the list leaves out. */
    more: (count: string) => `And ${count} more.`,
    stop: (partner: string) => `Stop sharing with ${partner}`,
  },
  kept: {
    title: 'What we keep about you',
    none: 'We keep no answer about you.',
    yes: 'yes',
    no: 'no',
    unknown: 'not known',
    at: (time: string) => `verified on ${time}`,
  },
  passkeys: {
    title: 'Your passkeys',
    saved: (time: string) => `Saved on ${time}`,
    used: (time: string) => `last used on ${time}`,
    neverUsed: 'not used yet',
    now: 'You have signed in with this one.',
    synced: 'Kept on several devices',
    remove: 'Remove this passkey',
  },
  erase: {
    title: 'Erase everything',
    text: 'We forget all answers, all sites and all passkeys of yours.',
    button: 'Erase everything',
  },
  /** Each question is asked before something is ended. */
  stopQuestion: {
    title: (partner: string) => `Stop sharing with ${partner}?`,
    points: [
      'From now on the site can read nothing about you, also not what it could read until now.',
      'What it has already got stays there: ask the site to erase it.',
      'If you verify there again, we ask you first.',
    ],
    yes: 'Stop sharing',
  },
  removeQuestion: {
    title: 'Remove this passkey?',
    points: [
      'You cannot return or sign in here with it any more.',
      'Remove it in your device or password manager too.',
    ],
    last: 'It is your only passkey. To see your data here again, you have to save another one after a verification.',
    yes: 'Remove the passkey',
  },
  eraseQuestion: {
    title: 'Erase everything about you?',
    points: [
      'We erase your answers, your passkeys, and what sites know you by here. This cannot be undone.',
      'Sites can read nothing more. What they have already got stays there: ask them to erase it.',
      'If you verify again, you are a new user.',
    ],
    yes: 'Erase everything',
  },
  back: 'Back to your data',
  erased: {
    title: 'Everything was erased',
    text: 'We keep nothing about you any more. Remove the passkey in your device or password manager too.',
  },
  held: {
    title: 'Nothing can be erased yet',
    text: 'We have to keep your data for now, because a law or a court asks for it. Please ask again later.',
  },
  removed: {
    title: 'The passkey was removed',
    text: 'You are signed out. Remove it in your device or password manager too.',
  },
};

/** The texts in one language. */
export type YourDataMessages = typeof en;
