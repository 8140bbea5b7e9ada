import type { Titled } from '../../pages/messages/messages.ts';

type AboutPartner = (partner: string) => string;
type AboutTime = (time: string) => string;

/** A page that asks before something is ended. */
export interface Question {
  title: string;
  points: string[];
  yes: string;
}

/** Every text of the pages at `/verify/you`. A language without one of them does not compile. */
export interface YourDataMessages {
  title: string;
  signIn: {
    lead: string;
    button: string;
    refused: string;
    unknown: string;
    /** `help` if the address of support follows, else `alone`. */
    without: { help: string; alone: string };
  };
  /** For an installation without passkeys. */
  off: { lead: string; help: string; alone: string };
  signedIn: string;
  signOut: string;
  shared: {
    title: string;
    none: string;
    mayRead: AboutTime;
    nothing: string;
    stopped: AboutTime;
    /** Title of the readings in the last 30 days. */
    got: string;
    gotNothing: string;
    /** `count`: the number of readings that the list leaves out. */
    more: (count: string) => string;
    stop: AboutPartner;
  };
  kept: { title: string; none: string; yes: string; no: string; unknown: string; at: AboutTime };
  passkeys: {
    title: string;
    saved: AboutTime;
    used: AboutTime;
    neverUsed: string;
    now: string;
    synced: string;
    remove: string;
  };
  erase: Titled & { button: string };
  stopQuestion: Omit<Question, 'title'> & { title: AboutPartner };
  removeQuestion: Question & { last: string };
  eraseQuestion: Question;
  back: string;
  erased: Titled;
  removed: Titled;
}
