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
  /** Path within the portal. */
  to?: string | undefined;
  note?: string | undefined;
  tone?: 'good' | 'bad' | undefined;
  /** Not broken into lines. */
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

/** A form that posts to its own page. `act`: which action it asks for; `other`: one of a second button. */
export interface Form {
  act: string;
  fields: readonly Field[];
  submit: string;
  danger?: boolean;
  other?: { act: string; submit: string };
  note?: string;
  /** The procedure that it needs, where that is not the one of the page's forms. */
  needs?: string;
}

/** A search, which asks for its own page. */
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
  /** Shown as it is, line by line. */
  raw?: string;
  chart?: { bars: readonly Bar[]; width: number; height: number; title: string };
  /** A document of the portal that is shown within the page. `src`: path within the portal. */
  frame?: { src: string; title: string };
  /** `to`: path within the portal, or where `away` is set below the base URL. */
  links?: readonly { text: string; to: string; away?: boolean }[];
  /** Path within the portal. */
  next?: string | undefined;
}

export interface View {
  title: string;
  sections: readonly Section[];
  /** Seconds after which the browser asks for the page again. */
  refresh?: number;
}

/** What the consent page of a client looks like with these settings. */
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

/** What a page is made from. */
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

/** What a form gave: a text for each field, the last one where it was repeated. */
export type Given = Readonly<Record<string, string>>;

/** What an action did. A secret or a result is shown on the page itself, once. `to`: the page that is shown after, within the portal. */
export interface Done {
  secret?: { label: string; value: string; note?: string };
  result?: { label: string; value: string };
  to?: string;
  /** Shown above those of the page, in the answer itself: the address of that page must not lead there. */
  sections?: readonly Section[];
  /** Nothing was changed, so nothing is said about it. */
  quiet?: boolean;
}

/** An answer that is not a page of the portal. */
export interface Document {
  type: string;
  content: string;
  /** The name under which a browser saves it; without one it is shown, also within a page of the portal. */
  fileName?: string;
}

export type Action = (context: PageContext, given: Given) => Promise<Done | undefined>;

export interface PageRow {
  /** Below `/portal`, with parameters as routes have them. */
  path: string;
  /** The entry of the navigation; a page without one is led to by others. */
  nav?: keyof Messages;
  /** The procedure that the page needs: where a role may not call it, the page is not offered. */
  needs: string;
  /** The procedure that its forms need; where a role may not call it, they are not shown. */
  changes?: string;
  view: (context: PageContext) => Promise<View>;
  actions?: Readonly<Record<string, Action>>;
}

export interface DocumentRow extends Pick<PageRow, 'path' | 'needs'> {
  document: (context: PageContext) => Promise<Document>;
}
