import type { Device } from '../../../contracts/verification.ts';
import type { Step } from '../../sessions/steps.ts';

/** What the user decides by a button of a page. A form that only chooses a method or a person has none. */
export const decisions = [
  /** The answers to the consent page. */
  'accept',
  'decline',
  /** Ends the session, from any page of the computer or the phone. */
  'cancel',
  /** At the computer: continue on the phone, or stay here. */
  'phone',
  'stay',
  /** At the phone: the computer is the user's own, or it is not, which ends the session. */
  'confirm',
  'deny',
  /** Leaves the chosen method for the list of methods. */
  'other-method',
  /** The user does not want to save a passkey. */
  'no-passkey',
] as const;
export type Decision = (typeof decisions)[number];

/** What a device shows at a step. */
export type PageName =
  | 'consent'
  /** The first page of the chosen source, or the list of methods. */
  | 'method'
  /** The same, or the link and code for a phone that has not taken the session yet. */
  | 'method or hand-off'
  | 'confirm'
  | 'save passkey'
  /** The redirect to the partner. */
  | 'leave'
  /** At the phone: the session continues at the computer, or it has failed. */
  | 'phone succeeded'
  | 'phone failed'
  /** At the phone: the page of an expired link. */
  | 'expired link'
  /** The step is automatic on this device, or the device does not reach it. */
  | 'none';

/** Which function handles the form of a page. */
export type FormName = 'consent' | 'authenticate' | 'confirm' | 'decline passkey' | 'none';

export interface Cell {
  page: PageName;
  /** The form of the page, which refusals pass by (`refusalBy`): they end the session at every live step. */
  form: FormName;
  /** The decisions that the form takes. A form without one is about a method or a person. */
  takes: readonly Decision[];
}

const shows = (page: PageName): Cell => ({ page, form: 'none', takes: [] });
const asks = (page: PageName, form: FormName, ...takes: Decision[]): Cell => ({ page, form, takes });

/** The page and the form of each step on each device. While a phone has the session, the computer waits instead. */
export const stepTable: Readonly<Record<Step, Readonly<Record<Device, Cell>>>> = {
  consent: {
    computer: asks('consent', 'consent', 'accept', 'decline'),
    phone: shows('method'),
  },
  authenticate: {
    computer: asks('method or hand-off', 'authenticate', 'phone', 'stay', 'other-method'),
    phone: asks('method', 'authenticate', 'other-method'),
  },
  confirm: { computer: shows('none'), phone: asks('confirm', 'confirm', 'confirm') },
  verify: { computer: shows('none'), phone: shows('none') },
  issue: {
    // Automatic, unless the user is asked to save a passkey first.
    computer: asks('save passkey', 'decline passkey', 'no-passkey'),
    phone: shows('phone succeeded'),
  },
  completed: { computer: shows('leave'), phone: shows('phone succeeded') },
  failed: { computer: shows('leave'), phone: shows('phone failed') },
  expired: { computer: shows('leave'), phone: shows('expired link') },
  over: { computer: shows('leave'), phone: shows('phone failed') },
};
