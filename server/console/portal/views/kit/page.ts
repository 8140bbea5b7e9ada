import type { FastifyRequest } from 'fastify';
import type { MemberRole } from '../../../../../contracts/admin/members.ts';
import type { AdminRouter } from '../../../../operations/admin-router.ts';
import type { Language } from '../../../../platform/http/browser/language.ts';
import type { PortalDependencies } from '../../dependencies.ts';
import type { Fault } from '../../fault-words.ts';
import type { SignedIn } from '../../member-sessions.ts';
import type { Messages } from '../../messages/en.ts';
import type { barsOf } from '../wallet/usage.ts';
import type { MenuItem } from './menu.ts';

/** A text of a page, which may lead to another page of the portal. */
export interface Cell {
  text: string;
  /** The path of another page of the portal. */
  to?: string | undefined;
  /** Another address, which is not below the root of the pages. */
  href?: string | undefined;
  /** Whether the text is a command to type. */
  isCommand?: boolean;
  /** A second text, in small letters. */
  note?: string | undefined;
  /** The colour: green or red. */
  tone?: 'good' | 'bad' | undefined;
  /** The time that the text says, as RFC 3339. A script adds the local time. */
  at?: string | undefined;
  /** Whether the text is in English on the pages of every language. */
  isEnglish?: boolean;
  /** Whether the text must not be broken into lines. */
  isWhole?: boolean;
}

export interface Field {
  name: string;
  label: string;
  /** The fields of the procedure's input that it sets, if their names are other ones. */
  sets?: readonly string[];
  /**
   * `lines`: a text of several lines. `check`: a check box, whose value is `yes` if it is checked. `date`: a day, such as
   * `2026-07-01`. `file`: a file, which a script puts into the form as base64. The default is `text`.
   */
  kind?: 'text' | 'hidden' | 'select' | 'lines' | 'check' | 'date' | 'file';
  value?: string | undefined;
  options?: readonly { value: string; text: string }[];
  placeholder?: string | undefined;
  /** The heading of this field and of its neighbours with the same heading. */
  group?: string;
  /** What is wrong with the value that was sent. */
  fault?: Fault | undefined;
  /** Whether the field has the focus when the page opens. */
  hasFocus?: boolean;
}

export interface Form {
  /** The name of its action in the `actions` of the page. */
  act: string;
  fields: readonly Field[];
  /** The text of the button. */
  submit: string;
  /** Whether the button is red. */
  danger?: boolean;
  /** A second button, which sends the same fields to another action. */
  secondButton?: { act: string; submit: string };
  note?: string;
  /** The options of the passkey that a script asks the browser for, as JSON. The form sends it in the field `answer`. */
  passkey?: string;
  /** The procedure that the form needs, if it differs from that of the page's other forms. */
  needs?: string;
}

export interface Search extends Pick<Form, 'fields' | 'submit'> {
  /** Links to usual searches. `to`: a path within the portal. */
  shortcuts?: readonly { text: string; to: string }[];
  /** Buttons that save the result of what is typed as a file. `to`: the path of a document of the portal. */
  downloads?: readonly { text: string; to: string }[];
}

/**
 * A part of a page, with a heading. Its members are shown in this order: note, search, facts, frame, chart, table, raw, next, links,
 * forms.
 */
export interface Section {
  title: string;
  note?: string | undefined;
  /** Whether the note has the focus when the page opens, because the member has to read it first. */
  hasFocus?: boolean;
  facts?: readonly (readonly [name: string, cell: Cell])[];
  table?: { headings: readonly string[]; rows: readonly (readonly Cell[])[] };
  /** Shown instead of a table without rows: what would be here. */
  empty?: string;
  /** A search form. Its result is the page that has the form. */
  search?: Search | undefined;
  /** The forms. `false` stands for a form that is not possible now. */
  forms?: readonly (Form | false)[] | undefined;
  /** Text that is shown unchanged, line by line. */
  raw?: string | undefined;
  chart?: { bars: ReturnType<typeof barsOf>; width: number; height: number; title: string } | undefined;
  /** A document of the portal that is shown in a frame. `src`: its path within the portal. */
  frame?: { src: string; title: string };
  /** `to`: a path within the portal or, with `away`, below the base URL. */
  links?: readonly { text: string; to: string; away?: boolean }[];
  /** The path of the next page of the list. */
  next?: string | undefined;
}

export interface View {
  title: string;
  sections: readonly Section[];
  /** Seconds after which the browser reloads the page. With scripts, it does not while the member is at a link or a field. */
  refresh?: number | undefined;
  /** What the page says instead of `done` to the member whose action led to it. `bad`: what was asked for has failed. */
  done?: Pick<Cell, 'text' | 'tone'> | undefined;
  /** The HTTP status, if it is not 200. */
  status?: number;
}

export type Api = ReturnType<AdminRouter['createCaller']>;

/** The values of a form or a query, whose fields are given once each. */
export type Given = Readonly<Record<string, string>>;

/** The context in which a page is rendered, and its actions run. */
export interface PageContext extends Pick<PortalDependencies, 'about' | 'previewConsent'> {
  /** The procedures of the admin API. Members may call only those of `scope.ts`, for their own partner. */
  api: Api;
  /** The same procedures, whose changes are only checked: one that passes throws `DryRunEnd`. */
  dryRunApi: Api;
  /** The messages in the member's language. */
  m: Messages;
  language: Language;
  role: MemberRole;
  memberId: string;
  partnerId: string;
  signedIn: SignedIn;
  request: FastifyRequest;
  /** The path of the page below the root of the portal. */
  path: string;
  /** The parameters of the route. */
  params: Given;
  /** The search, without surrounding space. A field that was left empty is absent. */
  query: Given;
  /** Milliseconds since 1970. */
  now: number;
}

/**
 * The result of an action. A secret, a text and sections are shown once, in the answer to the form, above the page. Without them,
 * the browser is sent to another page, or to the same one again.
 */
export interface ActionResult {
  secret?: { label: string; value: string; note?: string };
  text?: { label: string; value: string };
  sections?: readonly Section[];
  /** The path of the page to show next, if it is not the same one. */
  to?: string;
  /** Whether nothing was changed. The next page then does not say that the change was made. */
  isUnchanged?: boolean;
}

/** A response that is not a page of the portal. */
export interface Document {
  type: string;
  /** The content, or its parts, which are made while they are sent. */
  content: string | AsyncIterable<string>;
  /** The name under which a browser saves the document. Without a name, the browser shows it. */
  fileName?: string;
}

export type Action = (context: PageContext, given: Given) => Promise<ActionResult | undefined>;

/** What a member reads before something live ends: the consequence, what is concerned, and a gentler way. */
export interface Question extends Pick<Section, 'facts' | 'table'> {
  text: string;
  /** Whether it is about no mode, such as a member. */
  isOfCompany?: boolean;
  /** Other values of the form, or another action of the page, which do not end it yet. */
  gentle?: { given?: Given; act?: string; submit: string };
}

/** An action that asks first. It runs when the member has answered the question, or where there is none. */
export interface AskingAction {
  /** The procedure that the action calls. If it has a dry run, the action does nothing before the call. */
  needs: string;
  ask: (context: PageContext, given: Given) => Promise<Question | undefined>;
  run: Action;
}

/** A page: its address, who may see it, its content, and the actions of its forms. */
export interface PageRow {
  /** The path below `/portal`, with route parameters. */
  path: string;
  /** The page's entry in the navigation; absent if only other pages link to it. */
  nav?: MenuItem;
  /** Whether the page has a switch between the modes: with both at once (`any`), or with one of them (`one`, by default live). */
  modes?: 'any' | 'one';
  /** The procedure that the page needs, such as `clients.list`. Roles that may not call it do not see the page. */
  needs: string;
  /** The procedure that the page's forms need, if it is another one. Roles that may not call it do not see the forms. */
  changes?: string;
  /** The most bytes of a form of the page, if they are more than those of other requests. */
  largestForm?: number;
  view: (context: PageContext) => Promise<View>;
  actions?: Readonly<Record<string, Action | AskingAction>>;
}

/** A document of the portal, with its address and who may see it. */
export interface DocumentRow extends Pick<PageRow, 'path' | 'needs'> {
  document: (context: PageContext) => Promise<Document>;
}
