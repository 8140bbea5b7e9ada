import { createTRPCClient, httpLink } from '@trpc/client';
import type { MemberRole } from '../../../contracts/admin/members.ts';
import type { AdminRouter } from '../../../server/operations/admin-router.ts';
import { type Forgery, TestAuthenticator } from '../../harness/authenticator.ts';
import { quickFetch } from '../../harness/quick-fetch.ts';
import type { TestServer } from '../../harness/server.ts';

type Form = Record<string, string>;
type PortalServer = Pick<TestServer, 'admin' | 'baseUrl' | 'publicUrl'> & { db?: TestServer['db'] };

const unescaped = (text: string) =>
  text.replaceAll('&quot;', '"').replaceAll('&#39;', "'").replaceAll('&lt;', '<').replaceAll('&amp;', '&');

/** Returns the value of a page's field with this name. */
export const fieldIn = (html: string, name: string): string =>
  unescaped(new RegExp(`name="${name}" value="([^"]*)"`).exec(html)?.[1] ?? '');

const optionsIn = (html: string) => JSON.parse(unescaped(/data-passkey="([^"]*)"/.exec(html)?.[1] ?? '{}'));

/** Programs use this module too, so it has no `expect`. */
function requireStatus({ status, html }: { status: number; html: string }, wanted: number): void {
  if (status !== wanted) throw new Error(`the portal answered ${status}: ${html.slice(0, 500)}`);
}

/** Creates a browser with cookies for the pages of the portal. */
export function createPortalBrowser({ baseUrl, publicUrl }: Omit<PortalServer, 'admin' | 'db'>) {
  const cookies = new Map<string, string>();
  const cookie = () => [...cookies].map(([name, value]) => `${name}=${value}`).join('; ');

  async function send(path: string, init: Parameters<typeof quickFetch>[1] = {}) {
    const headers = { accept: 'text/html', cookie: cookie(), ...init.headers };
    const response = await quickFetch(`${publicUrl}/portal${path}`, { ...init, headers });
    for (const set of response.headers.getSetCookie()) {
      const [, name = '', value = ''] = /^([^=]+)=([^;]*)/.exec(set) ?? [];
      if (/Expires=Thu, 01 Jan 1970/i.test(set)) cookies.delete(name);
      else cookies.set(name, value);
    }
    return { response, status: response.status, html: await response.text() };
  }

  const open = (path: string, headers: Form = {}) => send(path, { headers });
  const tokens = new Map<string, string>();

  return {
    cookies,
    cookie,
    open,
    /** The token of forms, which is the same until the next sign-in. */
    async csrf(): Promise<string> {
      const session = cookies.get('svc_portal') ?? cookies.get('__Host-svc_portal') ?? '';
      const token = tokens.get(session) || fieldIn((await open('/devices')).html, 'csrf');
      tokens.set(session, token);
      return token;
    },
    post: (path: string, form: Form, headers: Form = {}) =>
      send(path, {
        method: 'POST',
        headers: { origin: new URL(baseUrl).origin, ...headers },
        body: new URLSearchParams(form),
      }),
  };
}
export type PortalBrowser = ReturnType<typeof createPortalBrowser>;

/** Opens an invitation link as a browser does: its script sends the fragment. */
export async function openInvitation(browser: PortalBrowser, link: string) {
  const { html } = await browser.open('/invitations');
  return browser.post('/invitations', { csrf: fieldIn(html, 'csrf'), code: new URL(link).hash.slice(1) });
}

/** Opens an invitation link, and accepts the invitation with a new passkey. */
export async function acceptInvitation(
  browser: PortalBrowser,
  link: string,
  authenticator: TestAuthenticator,
  forgery: Forgery = {},
) {
  const page = await openInvitation(browser, link);
  requireStatus(page, 200);
  const answer = authenticator.create(optionsIn(page.html), forgery);
  const code = fieldIn(page.html, 'code');
  return browser.post('/invitations', { csrf: fieldIn(page.html, 'csrf'), code, answer });
}

/** Signs in with an existing passkey. */
export async function signInBy(
  browser: PortalBrowser,
  authenticator: TestAuthenticator,
  forgery: Forgery = {},
) {
  const page = await browser.open('/sign-in');
  const answer = authenticator.get(optionsIn(page.html), forgery);
  return browser.post('/sign-in', { csrf: fieldIn(page.html, 'csrf'), answer });
}

/** Invites a member by support. If the invitation waits for an owner, it is released, as if an owner had confirmed it. */
export async function invite(
  { admin, db }: Pick<PortalServer, 'admin' | 'db'>,
  wanted: { partnerId: string; email: string; role: MemberRole },
) {
  const invited = await admin.members.invite.mutate(wanted);
  const release = { $unset: { 'invitation.heldUntil': '' as const } };
  await db?.collection<{ _id: string }>('members').updateOne({ _id: invited.id }, release);
  return invited;
}

/** Invites a member, who accepts. Returns the member with a browser and the scoped API. */
export async function signedIn(
  server: PortalServer,
  partnerId: string,
  role: MemberRole,
  name: string = role,
) {
  const email = `${name}@shop.example`;
  const { id, link } = await invite(server, { partnerId, email, role });
  const browser = createPortalBrowser(server);
  const authenticator = new TestAuthenticator(new URL(server.baseUrl).origin);
  const accepted = await acceptInvitation(browser, link, authenticator);
  requireStatus(accepted, 303);
  return { id, email, link, browser, authenticator, ...memberApi(server, browser) };
}
export type SignedInMember = Awaited<ReturnType<typeof signedIn>>;

/** Returns the scoped API with a browser's cookies, and the CSRF token for its mutations. */
export function memberApi({ publicUrl, baseUrl }: PortalServer, browser: PortalBrowser) {
  const { csrf } = browser;
  const api = createTRPCClient<AdminRouter>({
    links: [
      httpLink({
        url: `${publicUrl}/portal/trpc`,
        fetch: quickFetch as never,
        headers: async ({ op }) => ({
          cookie: browser.cookie(),
          ...(op.type === 'mutation'
            ? { origin: new URL(baseUrl).origin, 'x-csrf-token': await csrf() }
            : {}),
        }),
      }),
    ],
  });
  return { api, csrf };
}
