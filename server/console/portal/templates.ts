import { fileURLToPath } from 'node:url';
import { Eta } from 'eta';
import type { MemberRole } from '../../../contracts/admin/members.ts';
import type { Mode } from '../../../contracts/identifiers.ts';
import type { Language } from '../../platform/http/browser/language.ts';
import type { ShownError } from './error-words.ts';
import type { Messages } from './messages/en.ts';
import type { MenuGroup } from './navigation.ts';
import type { ActionResult, Given, Section, View } from './views/kit/page.ts';

/** The folder of the templates, and of the files that pages load. */
export const pages = fileURLToPath(new URL('./pages', import.meta.url));

/** Templates escape everything by default. */
const eta = new Eta({ views: pages, cache: true });

/** What `layout.eta` shows around every page. */
interface Frame {
  m: Messages;
  language: Language;
  /** The languages of the links at the foot of the page. */
  languages?: readonly { code: string; name: string }[];
  /** The path before all paths of pages. */
  root: string;
  /** The path of the service's base URL, without a trailing slash. */
  basePath?: string;
  /** The address of the style sheet. */
  style?: string;
  /** The style itself, in place of its address. */
  inlineStyle?: string;
  scripts?: readonly string[];
}

interface ShownSection extends Section {
  /** How much a search has found. */
  found?: string | undefined;
}

/** The values of `page.eta`, and of the layout around it. A part of the page whose value is undefined is left out. */
interface Page extends Pick<View, 'title' | 'refresh' | 'done'> {
  sections: readonly ShownSection[];
  /** Adds what the next page has to keep to the address of a link. */
  keep: (to: string) => string;
  nav: readonly MenuGroup[];
  /** Whether the title says that something needs attention. */
  isUrgent?: boolean;
  outcome?: string | undefined;
  who?: { partner: string; email: string; role: string };
  mode?: Mode | undefined;
  modes?: readonly { text: string; to: string; current: boolean }[] | undefined;
  error?: (ShownError & { again?: boolean }) | undefined;
  secret?: ActionResult['secret'] | undefined;
  result?: ActionResult['text'] | undefined;
  /** Whether a fault beside a field has the focus. */
  hasFault?: boolean;
  /** The path of the page. A page with a form needs it, and the following values. */
  path?: string;
  /** The path of the page with its query. */
  address?: string;
  csrf?: string;
  /** The values of the form that was sent. */
  given?: Given;
}

interface PasskeyForm {
  csrf: string;
  /** The options of the passkey that a script asks the browser for, as JSON. */
  passkey: string;
  /** Whether the passkey was not accepted. */
  failed: boolean;
}

/** The templates, each with what it shows inside the frame. */
export interface Templates {
  page: Page;
  problem: ShownError & { heading: string; requestId: string };
  /** `next`: the address to show then. `again`: whether a change needs a new use of the passkey. */
  'sign-in': PasskeyForm & { next: string; again: boolean };
  invitation: PasskeyForm & {
    company: string;
    email: string;
    role: MemberRole;
    inviter: string;
    secret: string;
  };
  'invitation-code': { csrf: string };
}

export const renderTemplate = <T extends keyof Templates>(
  template: T,
  values: Frame & Templates[T],
): string => eta.render(`./${template}`, values);
