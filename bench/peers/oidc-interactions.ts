import type { IncomingMessage, ServerResponse } from 'node:http';
import type { InteractionResults, Provider } from 'oidc-provider';

/** The minimum for an operator of oidc-provider: a login page and a consent page with one form each. */
export const interactionPath = '/interaction/';

const pages = {
  login: '<label>Name <input name="login"></label><button>Log in</button>',
  consent: '<button name="decision" value="accept">Accept</button>',
};

async function formOf(request: IncomingMessage): Promise<URLSearchParams> {
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(chunk as Buffer);
  return new URLSearchParams(Buffer.concat(chunks).toString());
}

/** Answers the requests below `interactionPath`. */
export function createInteractions(provider: Provider) {
  type Details = Awaited<ReturnType<Provider['interactionDetails']>>;

  async function consent({ session, params, prompt, grantId }: Details): Promise<InteractionResults> {
    const known = grantId === undefined ? undefined : await provider.Grant.find(grantId);
    const grant =
      known ??
      new provider.Grant({ accountId: session?.accountId ?? '', clientId: String(params['client_id']) });
    const missing = prompt.details['missingOIDCScope'] as string[] | undefined;
    if (missing) grant.addOIDCScope(missing.join(' '));
    return { consent: { grantId: await grant.save() } };
  }

  return async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    const details = await provider.interactionDetails(request, response);
    const name = details.prompt.name as keyof typeof pages;
    if (request.method === 'GET') {
      const body = `<!doctype html><title>${name}</title><form method="post" action="${request.url}">${pages[name]}</form>`;
      response.writeHead(200, { 'content-type': 'text/html', 'content-length': body.length }).end(body);
      return;
    }
    const form = await formOf(request);
    const result =
      name === 'login' ? { login: { accountId: form.get('login') ?? '' } } : await consent(details);
    await provider.interactionFinished(request, response, result, {
      mergeWithLastSubmission: name === 'consent',
    });
  };
}
