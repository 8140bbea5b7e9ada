import { createHash, randomBytes } from 'node:crypto';

/** The credentials of a new partner, as environment variables. */
export interface Credentials {
  SVC_BASE_URL: string;
  SVC_CLIENT_ID: string;
  SVC_CLIENT_SECRET: string;
  SVC_API_KEY: string;
  SVC_REDIRECT_URI: string;
  SVC_WEBHOOK_SECRET?: string;
}

/** Quotes a value if necessary, with single quotes, which shells and dotenv libraries read alike. */
function quoted(value: string): string {
  return /^[\w:/.@-]+$/.test(value) ? value : `'${value.replaceAll("'", "'\\''")}'`;
}

/** Returns the lines of an `.env` file. */
export function renderEnv(credentials: Credentials): string[] {
  return Object.entries(credentials).map(([name, value]) => `${name}=${quoted(String(value))}`);
}

/** Returns example calls of each endpoint. They read secrets from the variables of the `.env` file. */
export function firstCalls(
  { baseUrl, scope }: { baseUrl: string; scope: string },
  credentials: Credentials,
): string[] {
  const verifier = randomBytes(32).toString('base64url');
  const query = new URLSearchParams({
    client_id: credentials.SVC_CLIENT_ID,
    redirect_uri: credentials.SVC_REDIRECT_URI,
    state: randomBytes(16).toString('base64url'),
    scope,
    code_challenge: createHash('sha256').update(verifier).digest('base64url'),
    code_challenge_method: 'S256',
  });
  return [
    'Open this in a browser; the redirect at its end brings the code:',
    `${baseUrl}/verify/start?${query}`,
    'Then, with that CODE, TOKEN from its answer, and SESSION from the address of the pages:',
    `curl -d grant_type=authorization_code -d code=CODE -d client_id=$SVC_CLIENT_ID -d client_secret=$SVC_CLIENT_SECRET --data-urlencode redirect_uri=$SVC_REDIRECT_URI -d code_verifier=${verifier} $SVC_BASE_URL/api/oauth/token`,
    'curl -H "Authorization: Bearer TOKEN" $SVC_BASE_URL/api/oauth/userinfo',
    'curl -d token=TOKEN -d client_id=$SVC_CLIENT_ID -d client_secret=$SVC_CLIENT_SECRET $SVC_BASE_URL/api/oauth/revoke',
    'curl -H "Authorization: Bearer $SVC_API_KEY" $SVC_BASE_URL/api/verify/hvf-session/SESSION',
  ];
}
