import { createServer, request as send } from 'node:http';
import { type CryptoKey, decodeJwt, exportJWK, generateKeyPair, SignJWT } from 'jose';

/** How an ID token is wrong. `right` is a right one of another key that is published too. */
export type Forgery = 'right' | 'nonce' | 'audience' | 'expiry' | 'key';

const hour = 3600;
/** Claims that are wrong in one way. */
const wrongClaims: Record<Forgery, (exp: number) => Record<string, unknown>> = {
  right: () => ({}),
  key: () => ({}),
  nonce: () => ({ nonce: 'of-another-visit-0000' }),
  audience: () => ({ aud: 'cli_0000000000000000000000' }),
  expiry: (exp) => ({ exp: exp - 3 * hour, iat: exp - 4 * hour }),
};

async function newKey() {
  const { privateKey, publicKey } = await generateKeyPair('RS256', { extractable: true });
  return { privateKey, jwk: { ...(await exportJWK(publicKey)), kid: 'forged', alg: 'RS256', use: 'sig' } };
}

/**
 * Starts a proxy before the service that replaces ID tokens by forged ones. Its key set has a key of its own too, so that only one
 * thing is wrong.
 * @param port where it listens. The service has its address as the base URL
 */
export async function startForger(port: number, target: () => number) {
  const [published, unknown] = [await newKey(), await newKey()];
  let forgery: Forgery | undefined;

  function sign(idToken: string, key: CryptoKey): Promise<string> {
    const { exp = 0, ...claims } = decodeJwt(idToken);
    const wrong = forgery ? wrongClaims[forgery](exp) : {};
    return new SignJWT({ exp, ...claims, ...wrong })
      .setProtectedHeader({ alg: 'RS256', typ: 'JWT', kid: 'forged' })
      .sign(key);
  }

  async function changed(path: string, text: string): Promise<string> {
    const body = JSON.parse(text) as { keys?: object[]; id_token?: string };
    if (path === '/.well-known/jwks.json') body.keys?.push(published.jwk);
    const { privateKey } = forgery === 'key' ? unknown : published;
    if (forgery && body.id_token !== undefined) body.id_token = await sign(body.id_token, privateKey);
    return JSON.stringify(body);
  }

  const proxy = createServer((incoming, outgoing) => {
    const { method, url: path = '/', headers } = incoming;
    const forwarded = send({ host: '127.0.0.1', port: target(), method, path, headers }, (answer) => {
      const isChanged = path === '/.well-known/jwks.json' || path === '/api/oauth/token';
      if (!isChanged || answer.statusCode !== 200) {
        outgoing.writeHead(answer.statusCode ?? 500, answer.headers);
        answer.pipe(outgoing);
        return;
      }
      let text = '';
      answer.setEncoding('utf8').on('data', (part: string) => (text += part));
      answer.on('end', () => {
        const { 'content-length': _length, ...others } = answer.headers;
        void changed(path, text).then((body) => outgoing.writeHead(200, others).end(body));
      });
    });
    incoming.pipe(forwarded);
  });
  await new Promise<void>((resolve) => proxy.listen(port, resolve));

  return {
    forge(how: Forgery | undefined): void {
      forgery = how;
    },
    stop: () =>
      new Promise<void>((resolve) => {
        proxy.closeAllConnections();
        proxy.close(() => resolve());
      }),
  };
}
