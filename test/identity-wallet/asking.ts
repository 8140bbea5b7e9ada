import { decodeJwt } from 'jose';
import { sharedPartner, type TestPartner } from '../harness/partner.ts';
import { quickFetch } from '../harness/quick-fetch.ts';
import type { TestServer } from '../harness/server.ts';
import { openPages } from '../sessions/sources/oidc-site.ts';

/** The page's request for the Digital Credentials API. */
export interface DigitalRequest {
  protocol: string;
  data: Record<string, unknown> & { request?: string };
}

/** The data of a request in Annex C format (ISO/IEC TS 18013-7). */
export interface AnnexCData {
  deviceRequest: string;
  encryptionInfo: string;
}

/** The data of a request that is answered at a response URI. */
export interface AskedAtAddress {
  client_id: string;
  response_uri: string;
  nonce: string;
  dcql_query: { credentials: Record<string, unknown>[] };
  client_metadata: { jwks?: { keys: Record<string, string>[] } };
}

const plain = (text = '') => text.replaceAll('&quot;', '"').replaceAll('&amp;', '&');

export const digitalRequestsIn = (html: string) =>
  JSON.parse(plain(/data-requests="([^"]*)"/.exec(html)?.[1])) as DigitalRequest[];

function onlyRequest(requests: readonly DigitalRequest[], protocol: RegExp): DigitalRequest {
  const [request, ...more] = requests.filter((each) => protocol.test(each.protocol));
  if (!request || more.length > 0) throw new Error(`${protocol} is not asked for once`);
  return request;
}
/** The data of an OpenID4VP request. */
export const digitalRequestIn = (html: string) => onlyRequest(digitalRequestsIn(html), /^openid4vp-v1-/);
/** The data of a request in Annex C format (ISO/IEC TS 18013-7). */
export const annexCRequestIn = (html: string) =>
  onlyRequest(digitalRequestsIn(html), /^org-iso-mdoc$/) as DigitalRequest & { data: AnnexCData };
/** Returns the link that opens an identity wallet. */
export const linkIn = (html: string) => plain(/href="((?:av|openid4vp):\/\/[^"]*)"/.exec(html)?.[1]);

export const postFields = (url: string, fields: Record<string, string>) =>
  quickFetch(url, { method: 'POST', body: new URLSearchParams(fields) });

/** Reads the request of a link, which contains the request or its address. */
async function followed(link: string): Promise<AskedAtAddress> {
  const { searchParams } = new URL(link);
  const requestUri = searchParams.get('request_uri');
  if (requestUri !== null) return decodeJwt(await (await quickFetch(requestUri)).text());
  const given = Object.fromEntries(searchParams) as Record<'dcql_query' | 'client_metadata', string>;
  const [query, metadata] = [given.dcql_query, given.client_metadata].map((each) => JSON.parse(each));
  return { ...given, dcql_query: query, client_metadata: metadata } as never;
}

/** Opens the page that asks for an identity wallet of `source`, for the given partner or one that tests share. */
export async function askIdentityWallet(
  service: TestServer,
  source: string,
  { scope = 'age_18_plus country', partner }: { scope?: string; partner?: TestPartner } = {},
) {
  const client = partner ?? (await sharedPartner(service, { client: { sources: [source] } }));
  const pages = openPages(service);
  const { page, sessionId, codeVerifier } = await pages.start(client, scope);
  const { csrf = '', token = '' } = page.fields;
  const link = linkIn(page.html);
  return {
    page,
    pages,
    sessionId,
    codeVerifier,
    link,
    request: digitalRequestIn(page.html),
    annexC: () => annexCRequestIn(page.html).data,
    asked: () => followed(link),
    /** Sends the form with the answer from the browser's API. */
    post: (data: object | string, changes: Record<string, string> = {}, by = pages) =>
      by.open(`${page.at}/wallet`, {
        csrf,
        token,
        data: typeof data === 'string' ? data : JSON.stringify(data),
        ...changes,
      }),
    show: () => service.admin.sessions.show.query({ sessionId }),
  };
}
