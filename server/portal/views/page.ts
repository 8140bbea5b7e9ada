import type { FastifyRequest } from 'fastify';
import type { MemberRole } from '../../../contracts/admin/members.ts';
import type { ClaimName } from '../../../contracts/claims.ts';
import type { Mode } from '../../../contracts/identifiers.ts';
import type { AdminRouter } from '../../wiring/admin-router.ts';
import type { Messages } from '../messages/en.ts';
import type { Language } from '../messages/languages.ts';
import type { SignedIn } from '../sign-in.ts';

/** A text of a page, which may lead to another page of the portal. */
export interface Cell {
  text: string;
  /** The path of another page of the portal. */
  to?: string | undefined;
  note?: string | undefined;
  tone?: 'good' | 'bad' | undefined;
  /** Whether the text must not be broken into lines. */
  isWhole?: boolean;
}

export interface Field {
  name: string;
  label: string;
  kind?: 'text' | 'hidden' | 'select' | 'lines' | 'check';
  value?: string | undefined;
  options?: readonly { value: string; text: string }[];
  placeholder?: string;
}

/** A form that posts to its own page. `act`: the name of its action. `other`: the action of a second button. */
export interface Form {
  act: string;
  fields: readonly Field[];
  submit: string;
  danger?: boolean;
  other?: { act: string; submit: string };
  note?: string;
  /** The procedure that the form needs, if it differs from that of the page's other forms. */
  needs?: string;
}

/** A search form. Its result is the page that has the form. */
export interface Search {
  fields: readonly Field[];
  submit: string;
}

interface Bar {
  x: number;
  y: number;
  width: number;
  height: number;
  label: string;
}

export interface Section {
  title: string;
  note?: string;
  facts?: readonly (readonly [name: string, cell: Cell])[];
  table?: { headings: readonly string[]; rows: readonly (readonly Cell[])[] };
  search?: Search;
  forms?: readonly Form[];
  /** Text that is shown unchanged, line by line. */
  raw?: string;
  chart?: { bars: readonly Bar[]; width: number; height: number; title: string };
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
  /** Seconds after which the browser reloads the page. */
  refresh?: number;
}

/** Renders the consent page of a client with these settings. */
export type PreviewConsent = (
  wanted: {
    name: string;
    logo: string | null;
    brandName: string | null;
    brandColor: string | null;
    purpose: string | null;
    privacyUrl: string | null;
    claims: readonly ClaimName[];
    redirectUri: string;
    mode: Mode;
  },
  language: Language,
) => string;

export interface About {
  version: string;
  /** Version of the interface that partners integrate against. */
  contract: string;
  environment: string;
  baseUrl: string;
}

export type Api = ReturnType<AdminRouter['createCaller']>;

/** The context in which a page is rendered. */
export interface PageContext {
  api: Api;
  m: Messages;
  language: Language;
  role: MemberRole;
  memberId: string;
  partnerId: string;
  signedIn: SignedIn;
  request: FastifyRequest;
  about: About;
  previewConsent: PreviewConsent;
  params: Readonly<Record<string, string>>;
  query: Readonly<Record<string, string>>;
  now: number;
}

/** The values of a form. Of a repeated field, the last value counts. */
export type Given = Readonly<Record<string, string>>;

/** The result of an action. A secret or a result is shown once, on the page itself. `to`: the page to show next. */
export interface Done {
  secret?: { label: string; value: string; note?: string };
  result?: { label: string; value: string };
  to?: string;
  /** Sections to show above those of the page. They are part of the response, so that no address leads to them. */
  sections?: readonly Section[];
  /** Whether the page shows no message, because nothing was changed. */
  quiet?: boolean;
}

/** A response that is not a page of the portal. */
export interface Document {
  type: string;
  content: string;
  /** The name under which a browser saves the document. Without a name, the browser shows it. */
  fileName?: string;
}

export type Action = (context: PageContext, given: Given) => Promise<Done | undefined>;

export interface PageRow {
  /** The path below `/portal`, with route parameters. */
  path: string;
  /** The page's entry in the navigation; absent if only other pages link to it. */
  nav?: keyof Messages;
  /** The procedure that the page needs. Roles that may not call it do not see the page. */
  needs: string;
  /** The procedure that the page's forms need. Roles that may not call it do not see the forms. */
  changes?: string;
  view: (context: PageContext) => Promise<View>;
  actions?: Readonly<Record<string, Action>>;
}

export interface DocumentRow extends Pick<PageRow, 'path' | 'needs'> {
  document: (context: PageContext) => Promise<Document>;
}
