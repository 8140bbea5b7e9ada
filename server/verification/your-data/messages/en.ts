import type { YourDataMessages } from './messages.ts';

export const en: YourDataMessages = {
  title: 'Your data',
  signIn: {
    lead: 'See which sites got which answers about you, and end it. You sign in with the passkey that you saved here.',
    button: 'Sign in with a passkey',
    refused: 'Your passkey was not accepted. Please try again.',
    unknown: 'We do not know this passkey. It was removed, or everything about its user was erased.',
    without: {
      help: 'Have you no passkey, or does no button appear? Ask the site that you verified for, or write to us:',
      alone: 'Have you no passkey, or does no button appear? Ask the site that you verified for.',
    },
  },
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
    mayRead: (time) => `You allowed on ${time}, and it can be read again:`,
    nothing: 'Nothing can be read.',
    stopped: (time) => `You stopped sharing on ${time}.`,
    got: 'Read in the last 30 days',
    gotNothing: 'Nothing was read in the last 30 days.',
    more: (count) => `And ${count} more.`,
    stop: (partner) => `Stop sharing with ${partner}`,
  },
  kept: {
    title: 'What we keep about you',
    none: 'We keep no answer about you.',
    yes: 'yes',
    no: 'no',
    unknown: 'not known',
    at: (time) => `verified on ${time}`,
  },
  passkeys: {
    title: 'Your passkeys',
    saved: (time) => `Saved on ${time}`,
    used: (time) => `last used on ${time}`,
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
  stopQuestion: {
    title: (partner) => `Stop sharing with ${partner}?`,
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
  removed: {
    title: 'The passkey was removed',
    text: 'You are signed out. Remove it in your device or password manager too.',
  },
};
